package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// DamageError says that no run writes such a session's file, and what is wrong on which
// line.
type DamageError struct {
	Session string
	Path    string // of the file
	Line    int    // from 1, the header; 0 if the file as a whole is meant
	Err     error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("session %s is damaged: %s: line %d: %v", e.Session, e.Path, e.Line, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// damaged returns an error about a line, unless the file could not be read at all.
func damaged(folder, id string, line int, err error) error {
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return fmt.Errorf("session %s: %w", id, err)
	}
	path := filepath.Join(folder, id+extension)
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return &DamageError{Session: id, Path: path, Line: line, Err: err}
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

// maxNumber is the highest number of an event or a turn: JSON readers lose digits of a
// higher one.
const maxNumber = 1<<53 - 1

// check refuses an entry that no run writes. What goes to the model must be what
// the loop put there: a system text among the messages, say, is somebody else's.
// A kind that this version does not know is ignored.
func (e *Entry) check() error {
	switch {
	case e.Kind == "":
		return errors.New("the entry has no kind")
	case e.Seq < 0 || e.Seq > maxNumber:
		return fmt.Errorf("%d is no number of an event", e.Seq)
	case e.Turn < 0 || e.Turn > maxNumber:
		return fmt.Errorf("%d is no number of a turn", e.Turn)
	case e.Kind == Args && (e.ToolCallID == "" || jsonspan.Kind(e.Args) != '{'):
		return errors.New("the entry of kind args does not say of which call, or what")
	case e.Kind == Message && e.Message == nil:
		return errors.New("the entry of kind message has no message")
	case e.Kind == Message:
		return checkMessage(e.Message)
	case e.Kind == Conversation:
		for i := range e.Messages {
			if err := checkMessage(&e.Messages[i]); err != nil {
				return fmt.Errorf("message %d: %w", i+1, err)
			}
		}
	}
	return nil
}

func checkMessage(m *protocol.Message) error {
	switch m.Role {
	case protocol.RoleUser, protocol.RoleAssistant, protocol.RoleTool:
	default:
		return fmt.Errorf("there is no role %.40q in a conversation", m.Role)
	}
	if len(m.Content) == 0 {
		return errors.New("the message is empty")
	}
	for _, part := range m.Content {
		switch part.Type {
		case protocol.PartText, protocol.PartThinking, protocol.PartImage, protocol.PartOpaque:
		case protocol.PartToolCall:
			if m.Role != protocol.RoleAssistant {
				return fmt.Errorf("a tool call is in a message of role %s", m.Role)
			}
		case protocol.PartToolResult:
			if m.Role == protocol.RoleAssistant {
				return errors.New("a tool result is in a message of role assistant")
			}
		default:
			return fmt.Errorf("there is no part of type %.40q", part.Type)
		}
	}
	return nil
}
