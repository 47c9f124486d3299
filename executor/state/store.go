package state

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/internal/hookvalues"
)

// The values themselves, and the rule by which events side by side meet, are those of
// package hookvalues.
type (
	Key         = hookvalues.Key
	What        = hookvalues.What
	Snapshot    = hookvalues.Snapshot
	Write       = hookvalues.Write
	Overwritten = hookvalues.Overwritten
)

const (
	State    = hookvalues.State
	Metadata = hookvalues.Metadata
)

// fileName is the file of a session's folder in which its hooks' values are.
const fileName = "hooks.json"

// maxCached bounds the sessions whose values stay in memory.
const maxCached = 1024

// Store keeps the values of every session's hooks below one folder, one file per
// session. Its methods may be called from several goroutines, and several
// processes may have a Store on the same folder.
type Store struct {
	dir string

	mu    sync.Mutex
	cache map[string]*cached
	clock int64
}

// cached is one session's newest known snapshot.
type cached struct {
	mu       sync.Mutex
	base     Snapshot    // as the file has it
	file     fs.FileInfo // the file base was read from, nil if there was none
	pending  []Write     // what the disk has not taken, at most one for each value
	snapshot Snapshot    // base with pending
	used     int64
}

// enqueue keeps writes for the next time that the disk takes some.
func (c *cached) enqueue(writes []Write) {
	c.pending = slices.DeleteFunc(c.pending, func(old Write) bool {
		return slices.ContainsFunc(writes, func(w Write) bool { return w.Key == old.Key && w.What == old.What })
	})
	c.pending = append(c.pending, writes...)
}

// Open returns the Store on dir, normally sessions/ in [Dir]. With "" nothing is
// kept on disk: values live as long as the Store.
func Open(dir string) *Store { return &Store{dir: dir, cache: map[string]*cached{}} }

// Read returns what the session's hooks remember. With an error the snapshot is
// still usable: it is the newest that could be read.
func (s *Store) Read(session string) (Snapshot, error) {
	c := s.session(session)
	c.mu.Lock()
	defer c.mu.Unlock()
	err := s.refresh(session, c)
	return c.snapshot, err
}

// Write keeps values and returns those that are overwritten because events ran side by
// side.
// With an error the values live in memory and are written with the next.
func (s *Store) Write(session string, writes []Write) ([]Overwritten, error) {
	if len(writes) == 0 {
		return nil, nil
	}
	c := s.session(session)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.dir == "" {
		var overwritten []Overwritten
		c.snapshot, overwritten = c.snapshot.With(writes)
		return overwritten, nil
	}
	name := FileName(session)
	unlock, lockErr := Lock(s.dir, name)
	if lockErr == nil {
		defer unlock()
	}
	readErr := s.refresh(session, c)
	snapshot, overwritten := c.snapshot.With(writes)
	c.snapshot = snapshot
	err := lockErr
	if err == nil {
		err = s.save(name, c)
	}
	if err != nil {
		c.enqueue(writes)
		return overwritten, fmt.Errorf("state of session %s: %w", session, err)
	}
	return overwritten, readErr
}

func (s *Store) session(session string) *cached {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	c := s.cache[session]
	if c == nil {
		if s.dir != "" && len(s.cache) >= maxCached {
			s.evict()
		}
		c = &cached{}
		s.cache[session] = c
	}
	c.used = s.clock
	return c
}

// evict forgets the sessions that were used longest ago, except those whose
// values exist nowhere else.
func (s *Store) evict() {
	names := make([]string, 0, len(s.cache))
	for name := range s.cache {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(s.cache[a].used, s.cache[b].used) })
	for _, name := range names[:len(names)/4] {
		if c := s.cache[name]; c.mu.TryLock() {
			if len(c.pending) == 0 {
				delete(s.cache, name)
			}
			c.mu.Unlock()
		}
	}
}

// refresh reads the file again if another process has replaced it.
func (s *Store) refresh(session string, c *cached) error {
	if s.dir == "" {
		return nil
	}
	changed, err := s.readBase(filepath.Join(s.dir, FileName(session), fileName), c)
	if changed {
		c.snapshot = c.base
		if len(c.pending) > 0 {
			c.snapshot, _ = c.base.With(c.pending)
		}
	}
	return err
}

func (s *Store) readBase(path string, c *cached) (changed bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		changed = c.file != nil
		c.base, c.file = Snapshot{}, nil
		return changed, nil
	}
	if err != nil {
		return false, err
	}
	if c.file != nil && os.SameFile(c.file, info) && c.file.Size() == info.Size() && c.file.ModTime().Equal(info.ModTime()) {
		return false, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	c.base, err = hookvalues.Decode(raw)
	c.file = info
	if err != nil {
		return true, fmt.Errorf("%s is damaged, its values are lost: %w", path, err)
	}
	return true, nil
}

// save replaces the file whole, so that a reader never sees half of it. It is
// not synced: a crash of the process loses nothing, a power failure may.
func (s *Store) save(name string, c *cached) error {
	dir := filepath.Join(s.dir, name)
	path := filepath.Join(dir, fileName)
	encoded, err := c.snapshot.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// One name for the new file is enough: the caller holds the lock.
	fresh := path + ".new"
	if err := os.WriteFile(fresh, encoded, 0o600); err != nil {
		os.Remove(fresh)
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		os.Remove(fresh)
		return err
	}
	c.base, c.pending = c.snapshot, nil
	c.file, err = os.Stat(path)
	return err
}

// pruneEvery is how often old sessions are looked for.
const pruneEvery = time.Hour

// PruneIfDue is [Store.Prune] unless some process did so within the last hour.
// With keep 0 nothing is ever removed.
func (s *Store) PruneIfDue(keep time.Duration) error {
	if s.dir == "" || keep <= 0 {
		return nil
	}
	stamp := filepath.Join(s.dir, ".pruned")
	info, err := os.Stat(stamp)
	if err == nil && time.Since(info.ModTime()) < pruneEvery {
		return nil
	}
	if _, err := os.Stat(s.dir); err != nil {
		return nil // no session was ever kept
	}
	return errors.Join(s.Prune(keep), os.WriteFile(stamp, []byte("\n"), 0o600))
}

// Prune removes the values of sessions that were not written for keep.
func (s *Store) Prune(keep time.Duration) error {
	if s.dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*", fileName))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range files {
		errs = append(errs, s.pruneFile(path, time.Now().Add(-keep)))
	}
	return errors.Join(errs...)
}

func (s *Store) pruneFile(path string, before time.Time) error {
	dir := filepath.Dir(path)
	unlock, err := Lock(s.dir, filepath.Base(dir))
	if err != nil {
		return err
	}
	defer unlock()
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Before(before) {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	os.Remove(dir) // only if nothing else of the session is left in it
	return nil
}

// Remove forgets what the hooks of a session remember, in the folder of a
// [Store]. A session of which nothing is kept is no error.
func Remove(dir, session string) error {
	name := FileName(session)
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	unlock, err := Lock(dir, name)
	if err == nil {
		defer unlock()
		err = os.RemoveAll(path)
	}
	if err != nil {
		return fmt.Errorf("state of session %s: %w", session, err)
	}
	return nil
}
