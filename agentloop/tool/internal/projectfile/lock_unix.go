//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package projectfile

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// noFolderLock is what systems say that do not lock a folder: NFS wants a file that
// is open for writing.
var noFolderLock = []error{unix.EBADF, unix.EINVAL, unix.ENOLCK, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS}

// lockOfFolder returns the lock of an open folder, which is not taken yet.
func lockOfFolder(dir *os.Root) (*folderLock, error) {
	handle, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	try := func() (bool, error) {
		for {
			err := unix.Flock(int(handle.Fd()), unix.LOCK_EX|unix.LOCK_NB)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EWOULDBLOCK):
				return false, nil
			case slices.Contains(noFolderLock, err):
				return false, errNoFolderLock
			}
			return err == nil, err
		}
	}
	release := func() {
		// A program that is just being started may hold a copy of the handle: closing it
		// would not be enough.
		_ = unix.Flock(int(handle.Fd()), unix.LOCK_UN)
		_ = handle.Close()
	}
	return &folderLock{try: try, release: release}, nil
}
