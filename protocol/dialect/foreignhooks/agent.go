package foreignhooks

import (
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Agent is the hook protocol of one agent from the other side: hookd stands in the
// agent's place, and asks hooks that were written for it.
type Agent struct {
	Name   string // as the field dialect of a hook says it
	Title  string
	Events []HookEvent

	// Unit is what a bare number of a time-out means there, and Limit how long a hook may
	// take that states nothing.
	Unit  time.Duration
	Limit time.Duration

	// Arg is the word that the hook's program gets after its own arguments, "" for none.
	arg string

	// ProjectVariables are the variables in which the agent names the project's folder, where
	// a hook starts.
	ProjectVariables []string

	// claudeNames says that it has events by Claude Code's names besides its own, and asks
	// hooks of those in Claude Code's way.
	claudeNames bool

	// FailsOpen says in words what goes on although a hook failed, for the person who
	// relies on the hook. "" if nothing does.
	FailsOpen string

	env     func(a *Asking) []string
	envFile string // see [Asking.EnvFile]
	input   func(a *Asking) object.Object
	reply   func(a *Asking, end *Ending) said
	matcher func(matcher string) (fits, error)

	// What the rest of the table is about, nil for most agents.
	subject  func(a *Asking) []string                                                               // what a matcher is compared with; nil: the tool's names
	patch    func(tool string, args protocol.RawMessage) (names []string, text protocol.RawMessage) // a text that tools take where ours takes args
	describe func(f *Agent, answer string) (description, bool)                                      // reads the answer of a program that was asked for its events
	closed   func(e *HookEvent, kind protocol.FailureKind) bool                                     // whether such a failure refuses there; nil: it passes
}

// HookEvent is one event that an agent asks its hooks about.
type HookEvent struct {
	Name  string             // the agent's own name of it
	Event protocol.EventName // ours, "" if hookd has none like it

	// Refuses says that a hook can refuse there what the event announces. A hook that
	// cannot be asked refuses it.
	Refuses bool

	// Only are the kinds or names of tools that the event is about, empty for all.
	Only []string
}

// nowhere returns events of an agent that hookd has nothing like.
func nowhere(names ...string) (list []HookEvent) {
	for _, name := range names {
		list = append(list, HookEvent{Name: name})
	}
	return list
}

// Asking is one event as one foreign hook is asked about it.
type Asking struct {
	agent *Agent
	event *HookEvent

	ev      *protocol.Event
	project string // folder
	file    string // of a call that names several, "" where the hook is asked about the whole event
	call    foreignCall
	data    object.Reader // of the event, ours
	host    protocol.RawMessage
}

// foreignCall is the tool call of an event in the words of the agent whose hook is asked.
type foreignCall struct {
	agent string
	id    string
	name  string // ours
	kind  protocol.ToolKind
	ours  protocol.RawMessage // args

	names []string            // theirs, of which the first is told to the hook
	files []string            // that the call names, where the agent has no tool for several
	as    string              // their tool whose forms the input has; names[0], or one like it
	input protocol.RawMessage // args, theirs
	patch bool                // input is a text that says the same as the args, and does not come back
}

// Ending is how the program of a foreign hook ended, and what it wrote.
type Ending struct {
	Stdout, Stderr []byte
	Exit           int
	Signal         string // SIGSEGV, if a signal ended it that hookd did not send

	// Failure is why there is no trustworthy end: timeout, spawn, output and the like.
	Failure *protocol.Failure

	// Program are the names by which an interpreter says where the program is wrong.
	Program []string
}

// whole reports whether the program came to its own end.
func (e *Ending) whole() bool { return e.Failure == nil && e.Signal == "" }

// said is what a hook said, in its own agent's meaning.
type said struct {
	reply    protocol.Reply
	failure  *protocol.Failure // in place of a reply
	byExit   bool
	warnings []string
}

func (s *said) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

func (s *said) refuses() bool {
	return s.failure == nil && (s.reply.Action == protocol.Block || s.reply.Action == protocol.Stop)
}

// description is what a program of another agent says of itself, in our words.
type description struct {
	Events      []string `json:"events"`
	Dialect     string   `json:"dialect"`
	Can         string   `json:"can,omitzero"`
	Description string   `json:"description,omitzero"`
}
