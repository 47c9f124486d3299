package match

import (
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/hookmatch"
)

// Input is what matching may look at in one version of an event: what the keys compare,
// and what conditions see. An Input belongs to one goroutine.
type Input struct {
	hookmatch.Input
	event    *protocol.Event
	metadata func() protocol.RawMessage // what hooks published so far; may be nil

	line    *lineOf        // the command that the call runs; see command
	files   *filesOf       // the files that the call is about; see paths
	env     map[string]any // what conditions see; see environment
	meter   *meter         // of the condition that is being evaluated
	missing string         // the member that this condition read and that is not there
}

// NewInput returns the input of one version of an event. metadata, which may be nil,
// returns what hooks have published so far.
func NewInput(ev *protocol.Event, metadata func() protocol.RawMessage) *Input {
	return &Input{Input: hookmatch.NewInput(ev), event: ev, metadata: metadata}
}
