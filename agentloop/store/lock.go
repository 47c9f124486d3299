package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// A list of sessions takes each lock for a moment. A session is in use only if its lock
// stays taken for longer than that.
const (
	lockWait  = 200 * time.Millisecond
	lockRetry = 5 * time.Millisecond
)

// acquireLock locks the session for this process.
func (s *Session) acquireLock(folder, id string) error {
	for until := time.Now().Add(lockWait); ; time.Sleep(lockRetry) {
		got, err := s.tryLock(folder, id)
		switch {
		case err != nil:
			return fmt.Errorf("lock session %s: %w", id, err)
		case got:
			return nil
		case time.Now().After(until):
			return fmt.Errorf("session %s: %w", id, ErrInUse)
		}
	}
}

// tryLock takes the lock if it is free. The lock is a file of its own: on some
// systems a lock keeps readers out, and hooks may read the transcript. A lock file that
// was removed between its opening and its locking locks nothing.
func (s *Session) tryLock(folder, id string) (bool, error) {
	path := filepath.Join(folder, id+lockExtension)
	lock := flock.New(path, flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return false, err
	}
	held, err := lock.Stat()
	named, namedErr := os.Stat(path)
	if err != nil || namedErr != nil || !os.SameFile(held, named) {
		return false, lock.Unlock()
	}
	s.lock = lock
	return true, nil
}

const lockExtension = ".lock"

// inUse reports whether a process has the session open at this moment.
func inUse(folder, id string) bool {
	path := filepath.Join(folder, id+lockExtension)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
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

// Remove deletes a session. It returns an error that is [ErrInUse] while a
// process has it open; a damaged session can be removed.
func Remove(folder, id string) error {
	s, err := open(folder, id, 0)
	if err != nil {
		return err
	}
	// The lock is removed last: until then nobody can open what is left. A system that
	// cannot remove an open file removes it when it is free: without its session it locks
	// nothing.
	lock := filepath.Join(folder, id+lockExtension)
	err = errors.Join(s.file.Close(), os.Remove(s.path))
	held := os.Remove(lock)
	if err = errors.Join(err, s.lock.Unlock()); err == nil && held != nil {
		err = os.Remove(lock)
	}
	if err != nil {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	return nil
}
