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

	// mergesArgs says that the agent merges changed args into the old ones, so that no
	// member can be taken away.
	mergesArgs bool

	read  func(in *input, row *Row) (reading, error)
	write func(c *Call, v *Verdict) Answer
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
}

// Can is what an agent does with the parts of an outcome at one event.
type Can struct {
	Block    Means // refuse what the event announces
	Change   Means // take over the changed args, prompt, result or text
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

var carried = Means{Way: Carried}

func translated(note string) Means { return Means{Way: Translated, Note: note} }

// Agents are all agents that hookd can be called by, by name.
var Agents = []*Agent{claude, cline, codex, copilot, crush, cursor, factory, gemini, goose, hermes, kiro, openhands, qwen, windsurf}

// Find returns the agent of a name, nil if there is none.
func Find(name string) *Agent {
	i := slices.IndexFunc(Agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return Agents[i]
}

// Row returns the row of an event by the agent's own name of it, nil if there is none.
func (a *Agent) Row(name string) *Row {
	i := slices.IndexFunc(a.Rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Rows[i]
}
