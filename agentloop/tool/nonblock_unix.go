//go:build unix

package tool

import "golang.org/x/sys/unix"

const nonblock = unix.O_NONBLOCK
