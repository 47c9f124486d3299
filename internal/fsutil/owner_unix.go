//go:build unix

package fsutil

import (
	"io/fs"
	"os"
	"syscall"
)

// KeepOwner gives a new file the owner and group of an old one, and reports whether it
// has them.
func KeepOwner(file *os.File, old fs.FileInfo) bool {
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

// MayKeepOwner reports whether this user can make a file with the owner of another one.
func MayKeepOwner(old fs.FileInfo) bool {
	was, known := old.Sys().(*syscall.Stat_t)
	return known && (os.Geteuid() == 0 || int(was.Uid) == os.Geteuid())
}
