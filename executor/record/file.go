package record

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/fsutil"
)

// file is the newest part of one session's record. Its user holds mu.
type file struct {
	dir, name string
	used      int64

	mu      sync.Mutex
	lock    *state.FileLock
	open    openFile
	end     chainEnd
	queue   queue
	missing missing
}

// openFile is the file on disk as the last write of this process left it.
type openFile struct {
	*os.File             // nil: it is not open
	info     fs.FileInfo // which file it is
	size     int64
}

// isCurrent reports whether info is of the open file, and nobody has written to it.
func (o *openFile) isCurrent(info fs.FileInfo) bool {
	return o.File != nil && os.SameFile(info, o.info) && info.Size() == o.size
}

// queue holds the entries that are not on disk yet, the oldest first.
type queue struct {
	entries []pendingEntry
	bytes   int
}

const (
	maxWaiting    = 1024    // entries kept in memory while the disk takes none
	maxWaitingLen = 8 << 20 // and their bytes
)

// enqueue adds an entry to those that the disk has not taken yet.
func (f *file) enqueue(e pendingEntry) {
	if len(f.queue.entries) >= maxWaiting || f.queue.bytes > maxWaitingLen {
		f.missing.dropped.add(e.event)
		return
	}
	f.queue.entries = append(f.queue.entries, e)
	f.queue.bytes += len(e.body)
}

// flush writes every entry of the queue, and reports whether it had to begin a new
// file for that.
func (f *file) flush(segment int64) (rotated bool, err error) {
	if f.lock == nil {
		f.lock = state.NewFileLock(f.dir, f.name)
	}
	if err := f.lock.Lock(); err != nil { // creates the folder
		return false, err
	}
	defer f.lock.Unlock()
	if err := f.refresh(); err != nil {
		return false, err
	}
	if segment > 0 && f.open.size >= segment {
		if err := f.rotate(); err != nil {
			return false, err
		}
		rotated = true
	}
	return rotated, f.write()
}

// refresh opens the file and finds the end of its chain, unless the file is as
// the last write of this process left it.
func (f *file) refresh() error {
	info, err := os.Stat(path(f.dir, f.name))
	if err == nil && f.open.isCurrent(info) {
		return nil
	}
	f.close()
	opened, err := os.OpenFile(path(f.dir, f.name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err = opened.Stat()
	if err != nil {
		opened.Close()
		return err
	}
	end, err := endOf(f.dir, f.name, opened, info.Size())
	if err != nil {
		opened.Close()
		return err
	}
	// A file that ends before what this process wrote into it was cut or removed. The
	// chain goes on all the same, so that the gap shows.
	if end.n < f.end.n {
		end.n, end.hash = f.end.n, f.end.hash
	}
	f.open, f.end = openFile{opened, info, info.Size()}, end
	return nil
}

// write writes the queue in one write. A write that the disk cuts short is taken back
// whole.
func (f *file) write() error {
	earlier := f.missedBefore()
	end, missing := f.end, f.missing.dropped.with(earlier)
	out := make([]byte, 0, f.queue.bytes+len(f.queue.entries)*headerSize)
	if end.open {
		out = append(out, '\n')
	}
	for i := range f.queue.entries {
		e := &f.queue.entries[i]
		if e.set != "" && e.set != end.set {
			body, err := encode(e.describe())
			if err != nil {
				return err
			}
			set := pendingEntry{kind: KindSet, at: e.at, session: e.session, body: body, set: e.set}
			out, end = appendEntry(out, &set, end, missing)
			missing = missed{}
		}
		out, end = appendEntry(out, e, end, missing)
		missing = missed{}
	}
	if _, err := f.open.Write(out); err != nil {
		return errors.Join(err, f.open.Truncate(f.open.size))
	}
	f.open.size += int64(len(out))
	f.end = end
	f.queue, f.missing.dropped = queue{}, missed{}
	if earlier.Count > 0 || f.missing.left {
		os.Remove(missedPath(f.dir, f.name))
		f.missing.before, f.missing.left = missed{}, false
	}
	return nil
}

// rotate renames the file, so that a new one continues the chain.
func (f *file) rotate() error {
	if f.end.n == 0 {
		return nil
	}
	end := f.end
	f.close()
	if err := os.Rename(path(f.dir, f.name), segmentPath(f.dir, f.name, end.n)); err != nil {
		return err
	}
	f.end = end
	return f.refresh()
}

// close closes the record, but keeps the lock's file open.
func (f *file) close() {
	if f.open.File != nil {
		f.open.Close()
		f.open.File = nil
	}
}

// closeAll closes every descriptor. The file may be used again.
func (f *file) closeAll() {
	f.close()
	if f.lock != nil {
		f.lock.Close()
	}
}

// missedBefore returns what earlier processes left. The first line that is written
// tells it.
func (f *file) missedBefore() missed {
	if !f.missing.looked {
		f.missing.looked, f.missing.before = true, readMissed(f.dir, f.name)
	}
	return f.missing.before
}

// leaveMissed writes down what this process could not record, for the next one that
// can. If not even that can be written, nothing tells of it.
func (f *file) leaveMissed() {
	all := f.missing.dropped
	for i := range f.queue.entries {
		all.add(f.queue.entries[i].event)
	}
	all = all.with(f.missedBefore())
	text, err := json.Marshal(all)
	if err != nil {
		return
	}
	path := missedPath(f.dir, f.name)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f.missing.left = fsutil.ReplaceFile(path, text, fsutil.Unsynced) == nil
}
