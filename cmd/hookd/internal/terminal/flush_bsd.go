//go:build unix && !linux

package terminal

import "golang.org/x/sys/unix"

// flushTerminal: 1 is FREAD, the queue of input.
func flushTerminal(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) }
