//go:build unix

package fsutil

import "syscall"

// nonblock lets the opening of a named pipe return without a writer.
const nonblock = syscall.O_NONBLOCK
