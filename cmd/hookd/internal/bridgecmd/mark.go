package bridgecmd

import (
	"os"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/guest"
)

// takeMarker returns the marker of hookd verify, if that has started the agent and this is
// the first call.
func takeMarker() *guest.TakenMarker {
	if os.Getenv(guest.MarkerVar) == "" {
		return nil
	}
	dir, err := executor.StateDir()
	if err != nil {
		return nil
	}
	return guest.TakeMarker(dir, os.Environ())
}

// leaveMark tells hookd verify that the call came and was answered.
func (cmd *Commands) leaveMark(marker *guest.TakenMarker, agent, event string) {
	if err := marker.Leave(guest.Mark{Agent: agent, Event: event, Program: places.Program()}); err != nil {
		cmd.Console.Note("hookd verify does not hear of this call: "+err.Error(), "")
	}
}
