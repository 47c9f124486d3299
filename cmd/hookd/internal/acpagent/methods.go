package acpagent

import (
	"errors"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// method is a row of the table of methods. obey returns soon; what takes time goes on in a
// goroutine of the agent's.
type method struct {
	name string
	obey func(*Agent, *peer.Request)
}

func methodByName(name string) *method {
	for i := range methods {
		if methods[i].name == name {
			return &methods[i]
		}
	}
	return nil
}

var methods []method

func init() { // the table names functions that read it
	methods = []method{
		{acp.Initialize, reads((*Agent).initialize)},
		{acp.Authenticate, reads((*Agent).authenticate)},
		{acp.SessionNew, reads((*Agent).newSession)},
		{acp.SessionLoad, reads((*Agent).loadSession)},
		{acp.SessionResume, reads((*Agent).resumeSession)},
		{acp.SessionList, reads((*Agent).listSessions)},
		{acp.SessionClose, reads((*Agent).closeSession)},
		{acp.SessionDelete, reads((*Agent).deleteSession)},
		{acp.SessionSetMode, reads((*Agent).setMode)},
		{acp.SessionSetConfigOption, reads((*Agent).setConfigOption)},
		{acp.SessionPrompt, reads((*Agent).prompt)},
		{acp.SessionCancel, reads((*Agent).cancel)},
		{acp.HooksList, reads((*Agent).listHooks)},
		{acp.HooksRegister, readsStrictly((*Agent).registerHooks)},
	}
}

// reads returns what reads the params of a method before it is obeyed. Members that hookd does not
// know are of a newer protocol.
func reads[P any](obey func(*Agent, *peer.Request, *P)) func(*Agent, *peer.Request) {
	return decodes(peer.Decode, obey)
}

// readsStrictly is reads for methods of hookd's own, in which a misspelt member must not make a
// hook weaker than was meant.
func readsStrictly[P any](obey func(*Agent, *peer.Request, *P)) func(*Agent, *peer.Request) {
	return decodes(peer.DecodeStrictly, obey)
}

func decodes[P any](decode func([]byte, any) *rpc.Error, obey func(*Agent, *peer.Request, *P)) func(*Agent, *peer.Request) {
	return func(a *Agent, r *peer.Request) {
		params := new(P)
		if failure := decode(r.Params, params); failure != nil {
			r.Fail(failure)
			return
		}
		obey(a, r, params)
	}
}

// failureOf returns the error that tells a client of a fault: what is wrong and what to do about
// it in the message, since clients show nothing else.
func failureOf(err error) *rpc.Error {
	if failure, is := errors.AsType[*rpc.Error](err); is {
		return failure
	}
	fault, is := errors.AsType[*cli.Fault](err)
	if !is {
		return rpc.Errorf(rpc.InternalError, "%s", show.Visible(err.Error()))
	}
	code, message := rpc.InternalError, fault.Message
	switch fault.Code {
	case "no-key":
		code = acp.AuthRequired
	case "no-session":
		code = acp.ResourceNotFound
	}
	if fault.Hint != "" {
		message += " (" + fault.Hint + ")"
	}
	return rpc.Errorf(code, "%s", show.Visible(message)).With("code", fault.Code)
}
