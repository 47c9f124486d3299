//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package state

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// lockFile is a file under flock(2).
type lockFile struct {
	path string
	fd   int // -1: not open
	info unix.Stat_t
}

func closedLockFile(path string) lockFile { return lockFile{path: path, fd: -1} }

// tryLock takes the lock if nobody holds it. Somebody may have cleared the folder
// away since the file was opened: a lock on what is no longer there locks nobody
// out, so that the file is then opened anew.
func (f *lockFile) tryLock() (bool, error) {
	for {
		if f.fd < 0 {
			if err := f.open(); err != nil {
				return false, err
			}
		}
		err := retry(func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		if err != nil {
			return false, &fs.PathError{Op: "lock", Path: f.path, Err: err}
		}
		var now unix.Stat_t
		if unix.Stat(f.path, &now) == nil && now.Dev == f.info.Dev && now.Ino == f.info.Ino {
			return true, nil
		}
		f.close()
	}
}

func (f *lockFile) open() error {
	err := retry(func() (err error) {
		f.fd, err = unix.Open(f.path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err == nil {
		err = unix.Fstat(f.fd, &f.info)
	}
	if err != nil {
		f.close()
		return &fs.PathError{Op: "open", Path: f.path, Err: err}
	}
	return nil
}

func (f *lockFile) unlock() {
	if f.fd >= 0 {
		retry(func() error { return unix.Flock(f.fd, unix.LOCK_UN) })
	}
}

func (f *lockFile) close() {
	if f.fd >= 0 {
		unix.Close(f.fd)
	}
	f.fd = -1
}

func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
