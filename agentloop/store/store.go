package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/flock"

	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol"
)

// ErrInUse means that another process, or another part of this one, has the session
// open.
var ErrInUse = errors.New("the session is in use")

var errNoHeader = errors.New("the file has no header")

// extension is that of a session's file; its lock has the name with ".lock".
const extension = ".jsonl"

// Version is the version of the file's format.
const Version = 1

// Header is the first line of a session's file.
type Header struct {
	Kind    string    `json:"kind"` // "session"
	Version int       `json:"v"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Project string    `json:"project"` // absolute path, "" without one
	Model   string    `json:"model,omitzero"`
}

// Kind says what an [Entry] does to the session.
type Kind string

const (
	Message      Kind = "message"      // Message joins the conversation
	Conversation Kind = "conversation" // Messages replace the conversation
	System       Kind = "system"       // Text replaces the system text
	Tools        Kind = "tools"        // Tools replace the list of tools
	Reserve      Kind = "reserve"      // of earlier versions, which went on with the numbers of events; it has no effect
	Closed       Kind = "closed"       // ended by reason Text; the last event number was Seq
	Model        Kind = "model"        // Text is the model from here on
	Args         Kind = "args"         // Args replace those of the call ToolCallID, which hooks changed before it ran
)

// Entry is one line of a session's file after the header.
type Entry struct {
	Kind     Kind               `json:"kind"`
	Time     time.Time          `json:"time"`
	Message  *protocol.Message  `json:"message,omitzero"`
	Messages []protocol.Message `json:"messages,omitempty"`
	Text     string             `json:"text,omitzero"`
	Tools    []protocol.Tool    `json:"tools,omitempty"`
	Seq      int64              `json:"seq,omitzero"`
	Turn     int                `json:"turn,omitzero"` // with a message that is a user's prompt: its number

	ToolCallID string              `json:"toolCallId,omitzero"`
	Args       protocol.RawMessage `json:"args,omitzero"`
}

// State is what the entries of a session add up to.
type State struct {
	Messages []protocol.Message
	Lines    []int           // of the file: on which each of Messages was read
	System   *string         // nil: there is none
	Tools    []protocol.Tool // nil: there is none
	Seq      int64           // the last event number that may be in use
	Turn     int             // user prompts so far
	Model    string          // the last model that was named, "" if there is none
}

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
	header.Kind, header.Version, header.ID = "session", Version, id
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
		if _, err := os.Stat(s.path); err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
	}
	if err := s.acquireLock(folder, id); err != nil {
		return nil, err
	}
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

// decodeOptions read what models and tools wrote, which may be no UTF-8.
var decodeOptions = jsontext.AllowInvalidUTF8(true)

// decodeEntry reads a line after the first.
func decodeEntry(line []byte) (entry Entry, err error) {
	if err := json.Unmarshal(line, &entry, decodeOptions); err != nil {
		return entry, err
	}
	return entry, entry.check()
}

func (s *Session) replayHeader(line []byte) error {
	header, err := decodeHeader(line, strings.TrimSuffix(filepath.Base(s.path), extension))
	if err != nil {
		return err
	}
	s.header, s.state.Model = header, header.Model
	return nil
}

// decodeHeader reads the first line of the file of session id.
func decodeHeader(line []byte, id string) (header Header, err error) {
	if err := json.Unmarshal(line, &header); err != nil {
		return Header{}, err
	}
	switch {
	case header.Kind != "session":
		return Header{}, errors.New("this is not the header of a session")
	case header.Version > Version:
		return Header{}, fmt.Errorf("the file has version %d, newer than %d", header.Version, Version)
	case header.ID != id:
		return Header{}, fmt.Errorf("the header names session %q", header.ID)
	}
	return header, nil
}

// apply adds the entry of a line. It ignores a kind that this version does not know.
func (s *State) apply(line int, entry Entry) {
	switch entry.Kind {
	case Message:
		s.Messages, s.Lines = append(s.Messages, *entry.Message), append(s.Lines, line)
	case Conversation:
		s.Messages, s.Lines = entry.Messages, slices.Repeat([]int{line}, len(entry.Messages))
	case System:
		s.System = &entry.Text
	case Tools:
		s.Tools = entry.Tools
		if s.Tools == nil {
			s.Tools = []protocol.Tool{}
		}
	case Reserve, Closed:
		s.Seq = entry.Seq
	case Model:
		s.Model = entry.Text
	case Args:
		ReplaceArgs(s.Messages, entry.ToolCallID, entry.Args)
	}
	s.Turn = max(s.Turn, entry.Turn)
}

// ReplaceArgs replaces the args of the last call of an id. The message gets new parts,
// since the old ones may be in use elsewhere.
func ReplaceArgs(messages []protocol.Message, id string, args protocol.RawMessage) {
	for i := len(messages) - 1; i >= 0; i-- {
		at := slices.IndexFunc(messages[i].Content, func(p protocol.Part) bool {
			return p.Type == protocol.PartToolCall && p.ToolCallID == id
		})
		if at >= 0 {
			messages[i].Content = slices.Clone(messages[i].Content)
			messages[i].Content[at].Args = args
			return
		}
	}
}
