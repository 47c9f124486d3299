//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package state

import "github.com/gofrs/flock"

// lockFile is a file under the system's own lock, opened each time.
type lockFile struct{ lock *flock.Flock }

func closedLockFile(path string) lockFile {
	return lockFile{flock.New(path, flock.SetPermissions(0o600))}
}

func (f *lockFile) tryLock() (bool, error) { return f.lock.TryLock() }
func (f *lockFile) unlock()                { f.lock.Unlock() }
func (f *lockFile) close()                 {}
