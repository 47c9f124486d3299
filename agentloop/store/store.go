package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/flock"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol"
)

var errNoHeader = errors.New("the file has no header")

// Session is an open session. Its methods may be called from several goroutines.
type Session struct {
	header Header
	path   string
	state  State // at the time of opening

	mu       sync.Mutex
	file     *os.File
	size     int64 // of the whole lines
	lock     *flock.Flock
	broken   error // a write failed: the file may end in half a line
	inMemory bool  // nothing is written; see [InMemory] and [Session.OnWriteError]
	lost     func(error)
}

// Create begins a session in a folder, which is created (0700) if it does not exist. An
// empty id makes a new one.
func Create(folder, id string, header Header) (*Session, error) {
	if id == "" {
		id = protocol.NewID()
	}
	header.Kind, header.Version, header.ID = "session", formatVersion, id
	if header.Created.IsZero() {
		header.Created = time.Now().UTC()
	}
	s, err := open(folder, id, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	s.header = header
	if err := s.write(header); err != nil {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, err), s.Close())
	}
	return s, nil
}

// Open resumes a session. It returns an error that is [ErrInUse] if another
// process has it open, and a [DamageError] if the file is damaged anywhere but at
// its very end.
func Open(folder, id string) (*Session, error) {
	s, err := open(folder, id, 0)
	if err != nil {
		return nil, err
	}
	if err := s.replay(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func open(folder, id string, flags int) (*Session, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("sessions folder: %w", err)
	}
	s := &Session{path: filepath.Join(folder, id+extension)}
	if flags == 0 {
		info, err := os.Stat(s.path)
		if err == nil {
			err = fsutil.CheckRegular(info)
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
	}
	lock, err := acquireLock(folder, id)
	if err != nil {
		return nil, err
	}
	s.lock = lock
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_APPEND|flags, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, err), s.lock.Unlock())
	}
	s.file = file
	return s, nil
}

// checkID refuses an id that leads out of the folder.
func checkID(id string) error {
	good := len(id) > 0 && len(id) <= 128 && id[0] != '.' && strings.Trim(id, idCharacters) == ""
	if !good {
		return fmt.Errorf("session id %q: only letters, digits, dot, dash and underscore, and no dot first", id)
	}
	return nil
}

const idCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// ID returns the session's id.
func (s *Session) ID() string { return s.header.ID }

// Path returns the absolute path of the session's file, "" if there is none.
func (s *Session) Path() string {
	if s.path == "" {
		return ""
	}
	absolute, err := filepath.Abs(s.path)
	if err != nil {
		return s.path
	}
	return absolute
}

// Header returns the session's first line.
func (s *Session) Header() Header { return s.header }

// State returns what the session held when it was opened.
func (s *Session) State() State { return s.state }

// Append writes one entry. After a failure it writes nothing more: half a line in the
// middle would make the file unreadable.
func (s *Session) Append(entry Entry) error {
	if entry.Time.IsZero() {
		entry.Time = time.Now().UTC()
	}
	if err := s.write(entry); err != nil {
		return fmt.Errorf("session %s: %w", s.header.ID, err)
	}
	return nil
}

func (s *Session) write(value any) error {
	line, err := json.Marshal(value, jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inMemory {
		return nil
	}
	if s.broken != nil {
		return s.broken
	}
	if s.file == nil {
		return os.ErrClosed
	}
	line = append(line, '\n')
	if _, err := s.file.Write(line); err != nil {
		s.broken = fmt.Errorf("a write failed before: %w", err)
		err = errors.Join(err, s.file.Truncate(s.size))
		if s.giveUp(err) {
			return nil
		}
		return err
	}
	s.size += int64(len(line))
	return nil
}

// Close releases the session. Closing twice is no error.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), s.lock.Unlock())
	s.file = nil
	return err
}

// replay reads the file from its beginning, and truncates a last line that has no end.
func (s *Session) replay() error {
	folder, id := filepath.Dir(s.path), strings.TrimSuffix(filepath.Base(s.path), extension)
	in := lines.NewReader(s.file, lines.Options{Reuse: true})
	for number := 1; ; number++ {
		line, ended, err := in.Next()
		cut := err == nil && !ended // by a crash
		switch {
		case number == 1 && (cut || errors.Is(err, io.EOF)):
			return damaged(folder, id, number, errNoHeader)
		case errors.Is(err, io.EOF):
			return nil
		case cut:
			err = s.file.Truncate(s.size)
		}
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		if cut {
			return nil
		}
		if err := s.replayLine(number, bytes.TrimRight(line, "\r")); err != nil {
			return damaged(folder, id, number, err)
		}
		s.size += int64(len(line)) + 1
	}
}

func (s *Session) replayLine(number int, line []byte) error {
	if number == 1 {
		return s.replayHeader(line)
	}
	entry, err := decodeEntry(line)
	if err == nil {
		s.state.apply(number, entry)
	}
	return err
}

func (s *Session) replayHeader(line []byte) error {
	header, err := decodeHeader(line, strings.TrimSuffix(filepath.Base(s.path), extension))
	if err != nil {
		return err
	}
	s.header, s.state.Model = header, header.Model
	return nil
}

// Damage returns the [DamageError] for message number i of the session as it was opened,
// which a caller found to be one that no model can read.
func (s *Session) Damage(i int, err error) error {
	line := 0
	if i >= 0 && i < len(s.state.Lines) {
		line = s.state.Lines[i]
	}
	return &DamageError{Session: s.ID(), Path: s.Path(), Line: line, Err: err}
}

// InMemory returns a session that is written to no file, for when there is no place for
// one. Its entries are lost when it is closed.
func InMemory(header Header) *Session {
	header.Kind, header.Version = "session", formatVersion
	if header.ID == "" {
		header.ID = protocol.NewID()
	}
	return &Session{header: header, inMemory: true}
}

// IsWritten reports whether all entries so far are in the session's file.
func (s *Session) IsWritten() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.inMemory
}

// OnWriteError lets the session's work go on when a write fails: lost is called once with
// the error, and nothing more is written. Without it [Session.Append] fails from then on.
func (s *Session) OnWriteError(lost func(error)) { s.lost = lost }

// giveUp keeps the session in memory only after a write failed, and reports whether it may
// go on so.
func (s *Session) giveUp(err error) bool {
	if s.lost == nil {
		return false
	}
	s.inMemory = true
	s.lost(err)
	return true
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
