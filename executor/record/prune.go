package record

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/state"
)

// pruneStamp is the file whose time says when old files were last looked for.
const pruneStamp = ".pruned"

// Prune removes the files that are older than the Log keeps, and the oldest as
// long as all of them are larger than the Log's limit together.
func (l *Log) Prune() error {
	l.mu.Lock()
	keep, maxSize := l.keep, l.maxSize
	l.mu.Unlock()
	paths, err := filepath.Glob(filepath.Join(l.dir, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		return err
	}
	type aged struct {
		path string
		info fs.FileInfo
	}
	var files []aged
	var total int64
	for _, p := range paths {
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() {
			files = append(files, aged{p, info})
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b aged) int {
		return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), cmp.Compare(a.path, b.path))
	})
	var errs []error
	for _, f := range files {
		tooOld := keep > 0 && time.Since(f.info.ModTime()) > keep
		if !tooOld && (maxSize <= 0 || total <= maxSize) {
			break
		}
		removed, err := l.remove(f.path, f.info)
		if removed {
			total -= f.info.Size()
		}
		errs = append(errs, err)
	}
	errs = append(errs, touch(filepath.Join(l.dir, pruneStamp)))
	return errors.Join(errs...)
}

// remove removes a file unless somebody wrote to it meanwhile, and reports whether it is
// gone: another process may have removed it.
func (l *Log) remove(path string, seen fs.FileInfo) (bool, error) {
	name, _ := nameOf(path)
	unlock, err := state.Lock(l.dir, name)
	if err != nil {
		return false, err
	}
	defer unlock()
	info, err := os.Lstat(path)
	if err != nil || !os.SameFile(info, seen) || info.Size() != seen.Size() {
		return errors.Is(err, fs.ErrNotExist), nil
	}
	err = os.Remove(path)
	return err == nil, err
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Chtimes(path, time.Now(), time.Now()))
}

// pruneInBackground looks for old files once an hour and after a rotation,
// without the event having to wait for it.
func (l *Log) pruneInBackground(rotated bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !rotated && now.Before(l.nextPrune) {
		return
	}
	l.nextPrune = now.Add(pruneEvery)
	l.pruning.Go(func() { l.Prune() })
}

// pruneIfDue prunes unless some process did so within the last hour. Commands
// that live for one event come here often.
func (l *Log) pruneIfDue() error {
	info, err := os.Stat(filepath.Join(l.dir, pruneStamp))
	if err == nil && time.Since(info.ModTime()) < pruneEvery {
		return nil
	}
	return l.Prune()
}
