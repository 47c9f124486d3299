package bridgecmd

import (
	"os"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/guest"
)

// leaveMark tells hookd verify, if that has started the agent, that the call came.
func (cmd *Commands) leaveMark(agent, event string) {
	token := os.Getenv(guest.MarkerVar)
	if token == "" {
		return
	}
	dir, err := executor.StateDir()
	if err == nil {
		err = guest.LeaveMark(dir, token, guest.Mark{Agent: agent, Event: event, Program: places.Program()})
	}
	if err != nil {
		cmd.Console.Note("hookd verify does not hear of this call: "+err.Error(), "")
	}
}
