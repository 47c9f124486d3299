//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Duplicate returns the same stream under another descriptor. Left to itself, a broken pipe
// at descriptor 1 or 2 is a signal that ends the process on the spot: hooks still
// at work would be cut off, and no record would say so. At any other one it is an
// error.
func Duplicate(stream *os.File) *os.File {
	const first = 3
	fd, err := unix.FcntlInt(stream.Fd(), unix.F_DUPFD_CLOEXEC, first)
	if err != nil {
		return stream
	}
	return os.NewFile(uintptr(fd), stream.Name())
}

// IsClosed reports whether a stream was closed when this program began: Go then has
// /dev/null in its place, open for reading and writing, and what is written is lost
// without an error.
func IsClosed(stream *os.File) bool {
	flags, err := unix.FcntlInt(stream.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return err != nil
	}
	is, err := stream.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err != nil || nullErr == nil && os.SameFile(is, null)
}
