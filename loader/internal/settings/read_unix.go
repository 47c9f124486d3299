//go:build unix

package settings

import "syscall"

// openNonblock lets the opening of a FIFO return without a writer.
const openNonblock = syscall.O_NONBLOCK
