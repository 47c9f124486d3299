package daemon

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/hookd-dev/hookd/executor/bridge"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Caller is the program of an agent's hook settings that sends an event to the daemon
// in place of having hooks decide it itself.
type Caller struct {
	PID     int      // 0 if the system does not tell
	Environ []string // as os.Environ returns it
}

// Speaker is an [Engine] whose hooks see something of the caller.
type Speaker interface {
	// SpeaksFor reports whether the hooks see what they would see in the caller's own
	// process. If not, [Options.ResolveCaller] is to name another engine.
	SpeaksFor(Caller) bool
}

// Importer is an [Engine] among whose hooks are some that were read from the settings of
// other agents. An agent runs its own itself.
type Importer interface {
	ImportedFrom(agent string) []protocol.HookRef
}

// Introducer is an [Engine] of whose hooks the person should know something before they
// decide, as that some do not run because nobody allowed them.
type Introducer interface {
	// StartNotes returns what the caller would write to stderr once it has loaded the hooks.
	StartNotes() []byte
}

// bridgeParams are the params of bridge/event.
type bridgeParams struct {
	Version string   `json:"version"` // of the caller, "" if its build named none
	Agent   string   `json:"agent"`
	Event   string   `json:"event"`
	LeftMs  int64    `json:"leftMs"` // time until the answer is due
	Cwd     string   `json:"cwd"`
	Environ []string `json:"environ"`
	Input   []byte   `json:"input"` // base64
}

// planBridge answers the hook call of another agent, for the program that the agent has
// started. Calls run side by side, as they would in processes of their own. An error of
// this method means: do it yourself. So it never stands for a verdict.
func planBridge(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	received := time.Now()
	var p bridgeParams
	if failure := read(params, &p); failure != nil {
		return nil, failure
	}
	agent := hosts.Find(p.Agent)
	switch {
	case p.Version != "" && p.Version != c.server.opt.Version:
		return nil, rpc.Errorf(rpc.Different, "the daemon is version %s, not %s", quote(c.server.opt.Version), quote(p.Version))
	case agent == nil:
		return nil, badParam("/agent", "/agent: there is no agent "+quote(p.Agent))
	case !absolute(p.Cwd):
		return nil, badParam("/cwd", "/cwd: must be an absolute path")
	case p.LeftMs <= 0:
		return nil, badParam("/leftMs", "/leftMs: must be the time until the answer is due, in milliseconds")
	}
	r.run = func(ctx context.Context, _ *request) (protocol.RawMessage, *rpc.Error) {
		caller := Caller{c.caller.PID, p.Environ}
		token, answered := c.server.opt.Verifying(caller)
		call := bridge.Call{
			Agent: agent, Event: p.Event, Until: received.Add(time.Duration(p.LeftMs) * time.Millisecond), Input: p.Input,
			Cwd: p.Cwd, Environ: p.Environ, Depth: hookenv.ProcessDepth(), Marker: token, // the depth is that of the caller, too
		}
		var used *project
		var notes []byte
		var failure *rpc.Error
		reply := bridge.Answer(ctx, call, func(ctx context.Context, folders []string) (bridge.Hooks, error) {
			project, err := c.projectFor(ctx, folders, caller)
			switch {
			case err != nil && ctx.Err() != nil: // time is over, and the answer says so
				return nil, ctx.Err()
			case err != nil:
				failure = err
				return nil, err
			}
			used = project
			if introducer, introduces := project.engine.(Introducer); introduces {
				notes = introducer.StartNotes()
			}
			return bridgeHooks{project}, nil
		})
		if used != nil {
			defer c.server.projects.release(used)
		}
		switch {
		case ctx.Err() != nil:
			return nil, cancelled(ctx)
		case failure != nil:
			return nil, failure
		}
		answered(agent.Name, reply.Event)
		reply.Stderr = slices.Concat(notes, reply.Stderr)
		return encodeReply(reply), nil
	}
	return nil, nil
}

// resolveTries is more than it takes until an engine for a caller is named: its hooks, which
// say what they see, are known only when it is open.
const resolveTries = 3

// projectFor returns the project of several folders whose engine speaks for a caller. It is
// to be released.
func (c *conn) projectFor(ctx context.Context, folders []string, caller Caller) (*project, *rpc.Error) {
	var err error
	for range resolveTries {
		var key string
		if key, err = c.server.opt.ResolveCaller(folders, caller); err != nil {
			break
		}
		project, failure := c.server.projects.open(ctx, nil, key, folders[0])
		if failure != nil {
			return nil, failure
		}
		if speaker, asks := project.engine.(Speaker); !asks || speaker.SpeaksFor(caller) {
			return project, nil
		}
		c.server.projects.release(project)
		err = errors.New("the hooks that see the caller's variables change all the time")
	}
	c.caller.turnedAway.Store(true) // so that this daemon ends, and one that fits is started
	return nil, rpc.Errorf(rpc.Different, "%v", err)
}

// encodeReply writes a reply in the only form that the messenger reads: these members in
// this order, without blanks.
func encodeReply(r bridge.Reply) protocol.RawMessage {
	b := append([]byte(`{"exit":`), strconv.Itoa(r.Exit)...)
	b = base64.StdEncoding.AppendEncode(append(b, `,"stdout":"`...), r.Stdout)
	b = base64.StdEncoding.AppendEncode(append(b, `","stderr":"`...), r.Stderr)
	return append(b, `"}`...)
}

// bridgeHooks are the hooks of a project for a bridge.
type bridgeHooks struct{ project *project }

func (h bridgeHooks) Project() string { return h.project.root }

// ImportedFrom asks the engine, if hooks of agents can be among its hooks.
func (h bridgeHooks) ImportedFrom(agent string) []protocol.HookRef {
	if importer, imports := h.project.engine.(Importer); imports {
		return importer.ImportedFrom(agent)
	}
	return nil
}

func (h bridgeHooks) Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	outcome, err := h.project.engine.Fire(ctx, event, noProgress)
	if forgetter, forgets := h.project.engine.(Forgetter); forgets && event.Event == protocol.SessionEnd {
		forgetter.Forget(event.Session.ID)
	}
	return outcome, err
}

// noProgress tells nobody: an agent's hook call ends with its answer.
var noProgress = Progress{Started: func(string, protocol.Layer) {}, Finished: func(protocol.Run) {}}
