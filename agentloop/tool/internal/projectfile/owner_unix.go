//go:build unix

package projectfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps an open of a FIFO from waiting for its other end.
const nonblock = unix.O_NONBLOCK

// keepOwner gives a new file the owner and group of an old one.
func keepOwner(file *os.File, old fs.FileInfo) bool {
	was, known := old.Sys().(*syscall.Stat_t)
	info, err := file.Stat()
	if err != nil || !known {
		return false
	}
	is, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return false
	}
	if is.Uid == was.Uid && is.Gid == was.Gid {
		return true
	}
	if file.Chown(int(was.Uid), int(was.Gid)) == nil {
		return true
	}
	_ = file.Chown(-1, int(was.Gid)) // a group of the user's, at least
	return false
}
