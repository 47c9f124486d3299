package agentloop

import (
	"cmp"
	"errors"
	"time"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// ErrNoGate is returned by [New] without a gate: the limits of a run are hooks,
// so a loop that asks nobody would have none.
var ErrNoGate = errors.New("agent loop: a gate is needed; without hooks, pass one that has none")

// Options describe a loop. Gate and Model are needed; the zero value of all
// else is useful.
type Options struct {
	Gate  Gate
	Model model.Model
	Tools []tool.Tool

	// Providers are the features of the loop: their hooks join the gate,
	// which must take Go hooks then, their tools join Tools. nil: those of
	// [builtin.Defaults], which limit a run; empty: none, so that only the
	// ceilings bound it (1,000 steps, [maxAttempts] tries of a model call).
	Providers []provider.Provider

	// Sources have tools that are not there from the beginning, or not to the end;
	// see [tool.Source].
	Sources []tool.Source

	Session *store.Session // open and not used elsewhere; the caller closes it. nil: kept in memory only
	Source  string         // of session-start: startup resume fork; default by what Session holds
	System  string         // the system text; one kept in the session counts before it

	Project string         // absolute path of the project root, "" without one
	Cwd     string         // absolute path; default: Project
	Agent   protocol.Agent // default: main, depth 0, host hookd

	Params     protocol.Params // of every model call
	Compaction Compaction

	Consent         Consent       // which calls need a person's yes although no hook asks
	Approver        Approver      // nil: every question is answered no
	ApprovalTimeout time.Duration // after which a question is answered no; 0: none

	Recipes *recipe.Library // that hooks and people can ask for; nil: those that come with the program

	Limits      Limits
	OnToolBlock protocol.Rule // RuleStop: a refused tool call ends the run with agent-error

	answered []answerKeeper // of the providers
	floor    *floor         // of this loop and all that work for it
}

// Limits are those of the skeleton itself; how long a run may take, and how
// many steps, tokens and retries, is a matter of its providers. 0 is the default.
type Limits struct {
	ToolCalls   int // tool calls at once; default 4, negative: as many as the model asks for
	Forced      int // forced continuations in a row without a tool call; 0: 5, negative: none
	ForcedTotal int // forced continuations since the last user prompt; 0: 20, negative: none
	// ForcedOf are both caps for the hooks of one origin, which are counted by
	// themselves: 0 is none. nil: Forced and ForcedTotal for each.
	ForcedOf func(origin protocol.Origin) (row, total int)
	Depth    int // how deep sub-agents may start sub-agents; default 3, negative: none at all
}

func (l *Limits) depth() int { return max(l.Depth, 0) }

// ceiling is the number of steps that no run exceeds, whatever hooks and
// settings say.
const ceiling = 1000

func (o *Options) complete() error {
	if o.Gate == nil {
		return ErrNoGate
	}
	if o.Model == nil {
		return errors.New("agent loop: a model is needed")
	}
	if o.Providers == nil {
		o.Providers = builtin.Defaults()
	}
	o.Approver, o.floor = oneByOne(o.Approver), &floor{}
	o.Cwd = cmp.Or(o.Cwd, o.Project)
	o.Agent.ID = cmp.Or(o.Agent.ID, "main")
	o.Agent.Host = cmp.Or(o.Agent.Host, "hookd")
	if o.Recipes == nil {
		o.Recipes, _ = recipe.New() // a test holds our own to be without fault
	}
	l := &o.Limits
	l.ToolCalls = cmp.Or(l.ToolCalls, 4)
	l.Forced = cmp.Or(l.Forced, 5)
	l.ForcedTotal = cmp.Or(l.ForcedTotal, 20)
	l.Depth = cmp.Or(l.Depth, 3)
	return nil
}
