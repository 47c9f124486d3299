package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// extension is that of a session's file; its lock has the name with ".lock".
const extension = ".jsonl"

// formatVersion is the version of the file's format.
const formatVersion = 1

// Header is the first line of a session's file.
type Header struct {
	Kind    string    `json:"kind"` // "session"
	Version int       `json:"v"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Project string    `json:"project"`         // absolute path, "" without one
	Folder  string    `json:"folder,omitzero"` // absolute path of the one that a session without a project works in
	Model   string    `json:"model,omitzero"`
}

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

// Kind says what an [Entry] does to the session.
type Kind string

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

// decodeOptions read what models and tools wrote, which may be no UTF-8.
var decodeOptions = jsontext.AllowInvalidUTF8(true)

// decodeEntry reads a line after the first.
func decodeEntry(line []byte) (entry Entry, err error) {
	if err := json.Unmarshal(line, &entry, decodeOptions); err != nil {
		return entry, protocol.PlainError(err)
	}
	return entry, entry.check()
}

// ErrNewer means that a later version of hookd wrote a session. Nothing is wrong with it.
var ErrNewer = errors.New("a newer hookd wrote the file")

// decodeHeader reads the first line of the file of session id.
func decodeHeader(line []byte, id string) (header Header, err error) {
	if err := json.Unmarshal(line, &header); err != nil {
		return Header{}, protocol.PlainError(err)
	}
	switch {
	case header.Kind != "session":
		return Header{}, errors.New("this is not the header of a session")
	case header.Version < 1:
		return Header{}, errors.New("the header has no version")
	case header.Version > formatVersion:
		return Header{}, fmt.Errorf("%w: version %d, newer than %d", ErrNewer, header.Version, formatVersion)
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
