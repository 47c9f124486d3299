package acpagent

import (
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// mode is what the person lets run without the loop's own question, as with --allow. Hooks decide
// in every mode, and what the machine's settings leave to a person is asked in every mode.
type mode struct {
	acp.Mode
	allows []toolname.Allowed
}

var modes = []mode{
	{acp.Mode{ID: "ask", Name: "Ask", Description: "Commands, changes of files and tools of servers ask before they run, as your settings say"}, nil},
	{acp.Mode{ID: "edit", Name: "Edit without asking", Description: "Files of the project are changed without asking; all else asks. Hooks still decide"}, allowed("write")},
	{acp.Mode{ID: "run", Name: "Run without asking", Description: "Everything runs without asking. Hooks still decide, and ask"}, allowed("shell", "write", "mcp", "net", "other")},
}

func allowed(words ...string) (list []toolname.Allowed) {
	for _, word := range words {
		a, err := toolname.ParseAllowed(word)
		if err != nil {
			panic(err) // a test makes all modes
		}
		list = append(list, a)
	}
	return list
}

// modeState is what a client is told of the modes.
func (s *session) modeState() *acp.ModeState {
	state := &acp.ModeState{CurrentModeID: s.mode.Load().ID}
	for i := range modes {
		state.AvailableModes = append(state.AvailableModes, modes[i].Mode)
	}
	return state
}

func (a *Agent) setMode(r *peer.Request, params *acp.SetModeParams) {
	s := a.sessions.find(params.SessionID)
	if s == nil {
		r.Fail(noSession(params.SessionID))
		return
	}
	for i := range modes {
		if modes[i].ID == params.ModeID {
			s.mode.Store(&modes[i])
			r.Answer(acp.Empty{})
			return
		}
	}
	r.Fail(rpc.Errorf(rpc.InvalidParams, "hookd has no mode %.100q", params.ModeID))
}
