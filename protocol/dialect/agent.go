package dialect

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// Agent is the hook protocol of one agent, as its host.
type Agent struct {
	Name  string // as in hookd bridge NAME
	Title string
	Rows  []Row

	// FolderVariables are the variables of its hook programs that hold the folder of the
	// project, or the working directory of the session.
	FolderVariables []string

	// MergesArgs says that the agent merges changed args into the old ones, so that no
	// member can be taken away.
	MergesArgs bool

	ReadInput   func(a *Agent, in *Input, row *Row) (Reading, error)
	WriteAnswer func(c *Call, v *Verdict) Answer

	// WriteChange writes what hooks changed at a model call, nil if the agent has no such event.
	WriteChange func(c *Call, data protocol.RawMessage, members []string) (protocol.RawMessage, error)
	// WriteOutput writes the text of a tool's result in the form of that tool's results, nil
	// where the agent takes a text.
	WriteOutput func(c *Call, text protocol.RawMessage) protocol.RawMessage
	// WriteRefusal refuses an event that nobody can name, nil where exit code 2 does.
	WriteRefusal func(reason string) Answer
}

// Row returns the row of an event by the agent's own name of it, nil if there is none.
func (a *Agent) Row(name string) *Row {
	i := slices.IndexFunc(a.Rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Rows[i]
}

// Call is what an agent sent for one event, read.
type Call struct {
	Agent *Agent
	Row   *Row

	// Event is ready to be fired. Its data has our names and forms, and the agent's
	// own bytes as the member host.
	Event protocol.Event

	// Folders are those that are open in the agent, as far as the input says so.
	Folders []string

	their TheirCall // of a tool's event
}

// Verdict is an outcome in the parts that an agent can be told, of which each is
// something that this agent can do at this event.
type Verdict struct {
	Refuse   bool
	Ask      bool
	Allow    bool
	Stop     bool                // end the run; Refuse is set too where the event can be refused
	Continue bool                // go on with a run that would end, Reason is what the model reads
	Reason   string              // of Refuse, Ask, Stop or Continue; never empty there
	Changed  protocol.RawMessage // the agent's own form of what hooks changed, nil if nothing
	Response protocol.RawMessage // our form of what a hook gave in place of the work itself, nil if nothing
	Context  string
	Notice   string
}

// Answer is what the program that an agent has started writes, and how it ends.
type Answer struct {
	Stdout []byte
	Stderr string
	Exit   int

	// Lost are the parts of the outcome that the agent cannot carry out, each a sentence
	// for the person.
	Lost []string
}
