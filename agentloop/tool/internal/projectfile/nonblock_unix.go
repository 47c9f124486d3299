//go:build unix

package projectfile

import "golang.org/x/sys/unix"

// nonblock keeps an open of a FIFO from waiting for its other end.
const nonblock = unix.O_NONBLOCK
