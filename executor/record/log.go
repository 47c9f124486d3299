package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/state"
)

const (
	maxOpen    = 64        // session files held open at once
	pruneEvery = time.Hour // how often old files are looked for
)

// Log writes records below one folder. Its methods may be called from several
// goroutines, and several processes may have a Log on the same folder: the lines
// of a session form one chain all the same.
//
// A full or unwritable disk never changes a decision. Append returns the error,
// keeps the line in memory and writes it before the next one; what exceeds that
// memory is counted in the next line's member lost.
type Log struct {
	dir string

	mu        sync.Mutex
	files     map[string]*file
	clock     int64
	keep      time.Duration
	maxSize   int64
	nextPrune time.Time
	pruning   sync.WaitGroup
}

// Open returns the Log on dir, normally records/ in [state.Dir]. The folder is
// created with the first line. Files older than keep are removed, and the oldest
// when all are larger than maxSize bytes together; 0 means no limit.
func Open(dir string, keep time.Duration, maxSize int64) *Log {
	return &Log{
		dir: dir, files: map[string]*file{}, keep: keep, maxSize: maxSize,
		nextPrune: time.Now().Add(pruneEvery),
	}
}

// SetLimits changes what [Open] was told.
func (l *Log) SetLimits(keep time.Duration, maxSize int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep, l.maxSize = keep, maxSize
}

// Append writes one entry to the session's file, or to the day's file without a
// session, and returns when the line is out of this process.
func (l *Log) Append(session string, at time.Time, entry Entry) error {
	return l.append(session, at, entry, "", nil)
}

// AppendUnder is [Log.Append] of an entry that the set of hooks with this hash ruled.
// If the entry before was ruled by another set, describe's entry is written first.
func (l *Log) AppendUnder(session string, at time.Time, entry Entry, set string, describe func() *Set) error {
	return l.append(session, at, entry, set, describe)
}

func (l *Log) append(session string, at time.Time, entry Entry, set string, describe func() *Set) error {
	body, err := encode(entry)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	f := l.file(baseName(session, at))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.enqueue(pendingEntry{kind: entry.kind(), at: at, session: session, body: body, event: entry.event(), set: set, describe: describe})
	rotated, err := f.flush(l.segmentSize())
	l.pruneInBackground(rotated)
	if err != nil {
		return fmt.Errorf("record of %s: %w", f.name, err)
	}
	return nil
}

// Close writes what is still queued and closes the files. What it cannot write stays
// queued: the Log may be used, and closed, again.
func (l *Log) Close() error {
	l.mu.Lock()
	files := l.files
	l.files = map[string]*file{}
	l.mu.Unlock()
	var errs []error
	for name, f := range files {
		if err := l.closeFile(f); err != nil {
			errs = append(errs, fmt.Errorf("record of %s: %w", name, err))
			l.mu.Lock()
			l.files[name] = f
			l.mu.Unlock()
		}
	}
	l.pruning.Wait()
	return errors.Join(append(errs, l.pruneIfDue())...)
}

func (l *Log) closeFile(f *file) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.closeAll()
	if len(f.queue.entries) == 0 {
		return nil
	}
	_, err := f.flush(l.segmentSize())
	if err != nil {
		f.leaveMissed()
	}
	return err
}

// baseName returns the name of a session's file, without its extension.
func baseName(session string, at time.Time) string {
	if session == "" {
		return at.UTC().Format(time.DateOnly)
	}
	return state.FileName(session)
}

// segmentSize is the size at which a file is closed and the next one begun, so that
// the oldest part of one long session can go.
func (l *Log) segmentSize() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.maxSize / 4
}

func (l *Log) file(name string) *file {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	f := l.files[name]
	if f == nil {
		if len(l.files) >= maxOpen {
			l.closeOldest()
		}
		f = &file{dir: l.dir, name: name}
		l.files[name] = f
	}
	f.used = l.clock
	return f
}

// closeOldest closes the files used longest ago that nobody uses now and that have
// nothing left to write.
func (l *Log) closeOldest() {
	all := make([]*file, 0, len(l.files))
	for _, f := range l.files {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *file) int { return cmp.Compare(a.used, b.used) })
	for _, f := range all[:len(all)/4] {
		if f.mu.TryLock() {
			if len(f.queue.entries) == 0 {
				f.closeAll()
				delete(l.files, f.name)
			}
			f.mu.Unlock()
		}
	}
}
