package daemon

import "golang.org/x/sys/unix"

// duplicate makes the descriptor to the same as from.
func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
