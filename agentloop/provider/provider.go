// Package provider is what an extension of the agent loop is made of: hooks, and
// tools that go with them. Everything the loop does beyond its stages comes from
// providers (package builtin) or from hooks outside the program.
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

	// Answered, if set, is told what a person answered to a permission-request, in
	// the session of that id, before the call goes on or is refused. The answers
	// with "always" (allow-always, reject-always) are offered only where a provider
	// keeps them. It must return at once, and may be called side by side.
	Answered func(session string, request protocol.PermissionRequestData, option protocol.PermissionOption)
}

// Host is the run in which a Go hook or a tool is at work: what a feature needs
// of the loop beyond the answer to an event. Its methods may be called side by
// side.
type Host interface {
	// EndAfter ends the run with a stop reason of agent-end (time budget …) when
	// d has passed since it began; what goes on then is aborted. Of several calls
	// the earliest end counts.
	EndAfter(d time.Duration, reason string)

	// LimitSteps tells the run how many steps it has, so that step-start shows
	// those that are left. It ends nothing: a hook does.
	LimitSteps(n int)

	// Family is what the run of the prompt and all that works for it have used so
	// far, whichever of them this run is.
	Family() Family

	// Spawn runs a sub-agent in the session of this run and returns when it has
	// ended. subagent-start and subagent-stop fire around it. An error is a
	// [tool.Error] if the sub-agent was refused.
	Spawn(ctx context.Context, sub SubAgent) (SubResult, error)
}

// Family is what agents that work for one prompt have used together. It is counted
// as it happens: agents side by side see each other's use. Model calls under way
// are in it when they have ended.
type Family struct {
	// Usage are figures of all model calls: 0 before the first, nil if a call did
	// not tell. Those of the context are not summed up, and nil.
	Usage protocol.RunUsage

	// Steps are those that sub-agents had begun together, in the step of the
	// prompt's agent that goes on, when this run began its own; 0 for a run that is
	// no sub-agent's.
	Steps int
}

// FamilyOf is [Host.Family] of the run that a hook is at work in; known is false
// outside of one.
func FamilyOf(ctx context.Context) (family Family, known bool) {
	if host := HostOf(ctx); host != nil {
		return host.Family(), true
	}
	return Family{}, false
}

// SubAgent is an agent that works for another one.
type SubAgent struct {
	Name       string // may be empty
	System     string // default: the parent's
	Prompt     string
	Tools      []string // of the parent's tools; nil: all of them
	ToolCallID string   // the call that asks for it
}

// SubResult is what a sub-agent came to.
type SubResult struct {
	AgentID    string
	Response   string
	StopReason string // as at agent-end; error after agent-error
	Usage      protocol.RunUsage
	Context    protocol.Content // of hooks at subagent-stop, behind the response
}

type hostKey struct{}

// WithHost returns a context under which [HostOf] finds a run.
func WithHost(ctx context.Context, host Host) context.Context {
	return context.WithValue(ctx, hostKey{}, host)
}

// HostOf is the run that a hook or a tool is at work in, nil outside of one: an
// event may come from another host.
func HostOf(ctx context.Context) Host {
	host, _ := ctx.Value(hostKey{}).(Host)
	return host
}
