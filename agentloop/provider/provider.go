package provider

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// Provider is one feature: hooks and tools that belong together, switched on and
// off by name.
type Provider struct {
	Name  string // as the setting agent.providers names it
	Hooks []protocol.GoHook
	Tools []tool.Tool

	// Answered, if set, is called with what a person answered to a permission-request
	// of a session, before the call goes on or is refused. The answers with "always"
	// (allow-always, reject-always) are offered only if a provider keeps them. Answered
	// must return at once and may be called from several goroutines.
	OnAnswer func(session string, request protocol.PermissionRequestData, option protocol.PermissionOption)
}

// RunContext is the run in which a Go hook or a tool is at work: what a feature needs
// of the loop beyond the answer to an event. Its methods may be called from several
// goroutines.
type RunContext interface {
	// EndAfter ends the run with a stop reason of agent-end (time budget …) when d has
	// passed since it began; what is under way then is aborted. Of several calls the
	// earliest end counts.
	EndAfter(d time.Duration, reason string)

	// LimitSteps sets how many steps step-start shows as left. It ends nothing: a hook
	// does.
	LimitSteps(n int)

	// TreeUsage returns what the prompt's run and all runs that work for it have used so
	// far, whichever of them this run is.
	TreeUsage() TreeUsage

	// Spawn runs a sub-agent in the session of this run and returns when it has ended.
	// The loop fires subagent-start before and subagent-stop after its work. The error
	// is a [tool.Error] if the sub-agent was refused.
	Spawn(ctx context.Context, sub SubAgent) (SubResult, error)
}

// TreeUsage is what the agents that work for one prompt have used together. It is
// counted as it happens: agents that work at the same time see each other's use. A
// model call is counted when it has ended.
type TreeUsage struct {
	// Usage has the figures of all model calls: 0 before the first, nil if a call did
	// not report them. The figures of the context are always nil, since they have no sum.
	Usage protocol.RunUsage

	// Steps is how many steps sub-agents had begun together, within the current step of
	// the prompt's agent, when this run began its own; 0 for a run that is no sub-agent's.
	Steps int
}

// TreeUsageOf returns [RunContext.TreeUsage] of the run that a hook is at work in; known
// is false outside of a run.
func TreeUsageOf(ctx context.Context) (usage TreeUsage, known bool) {
	if run := RunContextOf(ctx); run != nil {
		return run.TreeUsage(), true
	}
	return TreeUsage{}, false
}

// SubAgent is an agent that works for another one.
type SubAgent struct {
	Name       string // may be empty
	System     string // default: the parent's
	Prompt     string
	Tools      []string // of the parent's tools; nil: all of them
	ToolCallID string   // the call that asks for it
}

// SubResult is the result of a sub-agent.
type SubResult struct {
	AgentID    string
	Response   string
	StopReason string // as at agent-end; error after agent-error
	Usage      protocol.RunUsage
	Context    protocol.Content // of hooks at subagent-stop; it follows the response
}

type runContextKey struct{}

// WithRunContext returns a context under which [RunContextOf] returns run.
func WithRunContext(ctx context.Context, run RunContext) context.Context {
	return context.WithValue(ctx, runContextKey{}, run)
}

// RunContextOf returns the run that a hook or a tool is at work in. It returns nil
// outside of one: an event may come from another agent.
func RunContextOf(ctx context.Context) RunContext {
	run, _ := ctx.Value(runContextKey{}).(RunContext)
	return run
}
