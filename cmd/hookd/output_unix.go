//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// apart is the same stream under another descriptor. Left to itself, a broken pipe
// at descriptor 1 or 2 is a signal that ends the process on the spot: hooks still
// at work would be cut off, and no record would say so. At any other one it is an
// error.
func apart(stream *os.File) *os.File {
	const first = 3
	fd, err := unix.FcntlInt(stream.Fd(), unix.F_DUPFD_CLOEXEC, first)
	if err != nil {
		return stream
	}
	return os.NewFile(uintptr(fd), stream.Name())
}
