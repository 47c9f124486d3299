package projectfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// A file is changed under the lock of its folder. The lock is on the open folder
// itself (flock), so it is the same by whatever name the folder was found, for all
// calls, runs and users, leaves no file in the project, and ends with its holder.
// Where the system cannot lock a folder (Windows, NFS), a file in [Folder.Locks]
// stands for it.

// lockTimeout bounds the wait where the call's context does not. A lock is held while
// one file is written: a holder that takes longer is stopped, or is another program.
const lockTimeout = time.Minute

// lockFiles is how many files stand for folders that cannot be locked. They are
// never removed: a lock file removed while another process waits locks nothing.
const lockFiles = 64

// AbortedError says that the context of a call ended while it waited for a lock.
type AbortedError struct{ Text string }

func (e *AbortedError) Error() string { return e.Text }

// errNoFolderLock says that the system cannot lock a folder.
var errNoFolderLock = errors.New("folders cannot be locked here")

// folderLock is the lock of one folder, held or not.
type folderLock struct {
	try     func() (bool, error)
	release func()
	onFile  bool // a file stands for the folder: another machine, or state folder, may have another
}

// lock takes the lock of an open folder whose real path is path. waited is true if
// another holder came first, so that what was looked at before may have changed.
func (f *Folder) lock(ctx context.Context, dir *os.Root, path string) (held *folderLock, waited bool, err error) {
	lock, err := lockOfFolder(dir)
	if err != nil {
		return nil, false, fsutil.WithoutPath(err)
	}
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		taken, err := lock.try()
		if errors.Is(err, errNoFolderLock) {
			lock.release()
			if lock, err = f.lockFile(path); err == nil {
				continue
			}
		}
		switch {
		case err != nil:
			lock.release()
			return nil, false, fmt.Errorf("the lock of its folder: %w", fsutil.WithoutPath(err))
		case taken:
			return lock, waited, nil
		}
		waited = true
		select {
		case <-ctx.Done():
			lock.release()
			return nil, true, &AbortedError{lockWait(path, time.Since(began))}
		case <-time.After(pause/2 + rand.N(pause)):
		}
		if waiting := time.Since(began); waiting > lockTimeout {
			lock.release()
			return nil, true, errors.New(lockWait(path, waiting))
		}
	}
}

func lockWait(path string, waited time.Duration) string {
	return fmt.Sprintf("nothing was changed: for %s another call, run or program has held the lock of the folder %s", waited.Round(time.Millisecond), path)
}

// lockFile is the lock for a folder that cannot be locked itself.
func (f *Folder) lockFile(path string) (*folderLock, error) {
	none := &folderLock{release: func() {}}
	where := f.Locks
	if where == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return none, err
		}
		where = filepath.Join(cache, "hookd", "locks")
	}
	if err := os.MkdirAll(where, 0o700); err != nil {
		return none, err
	}
	sum := sha256.Sum256([]byte(path))
	lock := flock.New(filepath.Join(where, fmt.Sprintf("%02x", sum[0]%lockFiles)), flock.SetPermissions(0o600))
	return &folderLock{try: lock.TryLock, release: func() { _ = lock.Close() }, onFile: true}, nil
}
