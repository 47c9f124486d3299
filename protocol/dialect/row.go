package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
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
