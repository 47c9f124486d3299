//go:build unix

package fsutil

import (
	"os"

	"golang.org/x/sys/unix"
)

// hold marks an open file as one whose maker is alive. It reports whether the file must stay
// open for that until it has its name.
func hold(f *os.File) bool {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return true
}

// removeUnheld removes a file that nobody holds.
func removeUnheld(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.Remove(path)
	}
}
