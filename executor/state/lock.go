package state

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockWait bounds the wait for a lock that another process holds. Locks are held
// for the time of one small write; a longer wait means that the holder is
// stopped or its disk hangs, and an event must not be late for that.
const lockWait = 150 * time.Millisecond

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
	sum := fnv.New32a()
	sum.Write([]byte(name))
	path := filepath.Join(dir, ".locks", fmt.Sprintf("%02x", sum.Sum32()%lockShards))
	lock := flock.New(path, flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		taken, err = lock.TryLock()
	}
	if err != nil {
		return nil, err
	}
	if !taken {
		if err := waitForLock(lock); err != nil {
			return nil, err
		}
	}
	return func() { lock.Unlock() }, nil
}

func waitForLock(lock *flock.Flock) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	taken, err := lock.TryLockContext(ctx, 500*time.Microsecond)
	if errors.Is(err, context.DeadlineExceeded) || (err == nil && !taken) {
		return ErrLocked
	}
	return err
}
