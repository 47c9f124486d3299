package dialect

import (
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// Agent is the hook protocol of one agent, as its host.
type Agent struct {
	Name  string // as in hookd bridge NAME
	Title string
	Tier  Tier
	Rows  []Row

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

// Tier says where the knowledge of an agent's protocol comes from.
type Tier string

const (
	Captured      Tier = "captured"       // payloads and effects of replies were taken from the running agent
	FromDocuments Tier = "from documents" // its documents and sources were read
)

// Row is one event of an agent: which of our events it is, and what the agent can do
// with each thing that a hook may answer there.
type Row struct {
	Name  string // the agent's own name of the event
	Event protocol.EventName
	Can   Can

	// Limit is how long the agent waits for a hook that states no limit of its own.
	Limit time.Duration
	// FailsOpen says that the agent goes on when its own limit ends the hook.
	FailsOpen bool

	// Same names the row that the agent fires for the same thing, too. Who installs hookd
	// takes that one and leaves this one out, so that no hook is asked twice.
	Same string
	// Pieces says that the event comes with each piece of a stream. Who installs hookd
	// leaves it out unless it is asked for: a program starts for every few words.
	Pieces bool
}

// Can is what an agent does with the parts of an outcome at one event.
type Can struct {
	Block    Means // refuse what the event announces
	Change   Means // take over the changed args, prompt, result or text
	Replace  Means // take a result in place of the tool, or a response in place of the model
	Context  Means // give text to the model
	Ask      Means // let the person decide
	Allow    Means // run without the agent's own question; at permission-request only
	Stop     Means // end the run
	Continue Means // go on with a run that would end
	Notice   Means // show text to the person
}

// Means is how an agent carries out one part of an outcome. The zero value is: it
// cannot.
type Means struct {
	Way  Way
	Note string // what is different, for the table and for the person
}

// Way is how well an agent can carry out a part of an outcome.
type Way uint8

const (
	Impossible Way = iota
	Translated     // by something near, which the note names
	Carried        // as hookd's own loop does
)

func (w Way) String() string {
	switch w {
	case Carried:
		return "carried out"
	case Translated:
		return "translated"
	}
	return "impossible"
}

// Possible reports whether the agent can do it at all.
func (m Means) Possible() bool { return m.Way != Impossible }

// Row returns the row of an event by the agent's own name of it, nil if there is none.
func (a *Agent) Row(name string) *Row {
	i := slices.IndexFunc(a.Rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Rows[i]
}
