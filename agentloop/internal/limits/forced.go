package limits

import (
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
)

// Forced counts how often hooks made the agent go on when it was done.
type Forced struct {
	Continuations
	// of are the counts of each layer, and of each of several projects: hooks of a
	// project that force the agent on and on do not use up what those of the machine
	// have.
	of map[protocol.Origin]Continuations
}

// Continuations are forced continuations, or how many there may be.
type Continuations struct {
	Row   int // in a row, without a tool call
	Total int // since the last user prompt
}

// ToolCalled is called when the model calls a tool: the row ends.
func (f *Forced) ToolCalled() {
	f.Row = 0
	for origin, count := range f.of {
		count.Row = 0
		f.of[origin] = count
	}
}

// Count counts one more forced continuation, or returns why there is none. It is charged
// to each of the origins whose hooks want it and have not used theirs up; one such origin
// is enough.
func (f *Forced) Count(wantedBy []protocol.Origin, most func(protocol.Origin) Continuations) (refused string) {
	var by []protocol.Origin
	for _, origin := range wantedBy {
		used, most := f.of[origin], most(origin)
		switch {
		case used.Row >= most.Row:
			refused = fmt.Sprintf("it was forced on %d times in a row without a tool call", used.Row)
		case used.Total >= most.Total:
			refused = fmt.Sprintf("it was forced on %d times since the last prompt", used.Total)
		default:
			by = append(by, origin)
		}
	}
	if len(by) == 0 {
		return refused
	}
	if f.of == nil {
		f.of = map[protocol.Origin]Continuations{}
	}
	for _, origin := range by {
		f.of[origin] = Continuations{f.of[origin].Row + 1, f.of[origin].Total + 1}
	}
	f.Row++
	f.Total++
	return ""
}
