package state

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"
)

// lockWait bounds the wait for a lock that another process holds. Locks are held
// for the time of one small write; a longer wait means that the holder is
// stopped or its disk hangs, and an event must not be late for that.
const (
	lockWait  = 150 * time.Millisecond
	lockRetry = 500 * time.Microsecond
)

// lockShards is the number of lock files of one folder. They are never removed:
// a lock file that is removed while someone waits for it locks nothing. Sharing
// them keeps their number bounded.
const lockShards = 64

// ErrLocked says that another process held the lock for longer than anything
// here takes.
var ErrLocked = errors.New("locked by another process for more than " + lockWait.String())

// Lock takes the lock between processes for one name in a folder, and returns
// the function that gives it back. It creates the folder.
func Lock(dir, name string) (unlock func(), err error) {
	l := NewFileLock(dir, name)
	if err := l.Lock(); err != nil {
		l.Close()
		return nil, err
	}
	return func() {
		l.Unlock()
		l.Close()
	}, nil
}

// FileLock is a lock between processes that is taken often: its file stays open
// in between. It is not safe for concurrent use.
type FileLock struct {
	path string
	file lockFile
}

// NewFileLock returns the lock for one name in a folder. Close it.
func NewFileLock(dir, name string) *FileLock {
	sum := fnv.New32a()
	sum.Write([]byte(name))
	path := filepath.Join(dir, ".locks", fmt.Sprintf("%02x", sum.Sum32()%lockShards))
	return &FileLock{path, closedLockFile(path)}
}

// Lock takes the lock and creates its folder. The error is [ErrLocked] or what
// the system says.
func (l *FileLock) Lock() error {
	for deadline := time.Now().Add(lockWait); ; time.Sleep(lockRetry) {
		taken, err := l.file.tryLock()
		if errors.Is(err, os.ErrNotExist) {
			if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
				return err
			}
			taken, err = l.file.tryLock()
		}
		if taken || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return ErrLocked
		}
	}
}

// Unlock gives the lock back.
func (l *FileLock) Unlock() { l.file.unlock() }

// Close closes the lock's file. The lock may be taken again.
func (l *FileLock) Close() { l.file.close() }
