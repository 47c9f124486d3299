package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// A list of sessions takes each lock for a moment. A session is in use only if its lock
// stays taken for longer than that.
const (
	lockWait  = 200 * time.Millisecond
	lockRetry = 5 * time.Millisecond
)

// acquireLock locks a session for this process.
func acquireLock(folder, id string) (*flock.Flock, error) {
	for until := time.Now().Add(lockWait); ; time.Sleep(lockRetry) {
		lock, err := tryLock(folder, id)
		switch {
		case err != nil:
			return nil, fmt.Errorf("lock session %s: %w", id, err)
		case lock != nil:
			return lock, nil
		case time.Now().After(until):
			return nil, fmt.Errorf("session %s: %w", id, ErrInUse)
		}
	}
}

// tryLock takes the lock, or returns nil if it is not free. The lock is a file of its own: on some
// systems a lock keeps readers out, and hooks may read the transcript. A lock file that
// was removed between its opening and its locking locks nothing.
func tryLock(folder, id string) (*flock.Flock, error) {
	path := filepath.Join(folder, id+lockExtension)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to open it may wait without end
		return nil, fsutil.CheckRegular(info)
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return nil, err
	}
	held, err := lock.Stat()
	named, namedErr := os.Stat(path)
	if err != nil || namedErr != nil || !os.SameFile(held, named) {
		return nil, lock.Unlock()
	}
	return lock, nil
}

const lockExtension = ".lock"

// inUse reports whether a process has the session open at this moment.
func inUse(folder, id string) bool {
	path := filepath.Join(folder, id+lockExtension)
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	got, err := lock.TryRLock()
	if err != nil {
		return false // an unreadable lock is for Open to report
	}
	if got {
		lock.Unlock()
	}
	return !got
}

// ErrInUse means that another process, or another part of this one, has the session
// open.
var ErrInUse = errors.New("the session is in use")
