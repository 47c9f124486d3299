package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// runContext is a run as its Go hooks and tools see it.
type runContext struct{ run *agentRun }

func (c runContext) EndAfter(d time.Duration, reason string) { c.run.limits.EndAfter(d, reason) }

func (c runContext) LimitSteps(n int) { c.run.limits.LimitSteps(n) }

func (c runContext) TreeUsage() provider.TreeUsage {
	return provider.TreeUsage{Usage: c.run.usage.Root().Total(), Steps: c.run.stepNumber}
}

func (c runContext) Spawn(ctx context.Context, sub provider.SubAgent) (result provider.SubResult, err error) {
	c.run.agent.session.exclusion.WaitForAgent(ctx, func(ctx context.Context) { result, err = spawn(ctx, c.run, sub) })
	return result, err
}

// spawn runs a sub-agent that works for r; see [provider.RunContext]. Several tools may call
// it at the same time.
func spawn(ctx context.Context, r *agentRun, sub provider.SubAgent) (provider.SubResult, error) {
	if r.agent.isDeepest() {
		return provider.SubResult{}, refuse(protocol.CallBlocked, "%s", r.agent.tooDeep())
	}
	names := r.agent.tools.Names()
	if sub.Tools != nil {
		for _, name := range sub.Tools {
			if !slices.Contains(names, name) {
				return provider.SubResult{}, refuse(protocol.CallBadArgs, "no sub-agent was started: there is no tool named %.80q to give it; there are: %s", name, strings.Join(names, ", "))
			}
		}
		names = slices.Clone(sub.Tools)
	}
	system := sub.System
	if system == "" {
		system = r.agent.history.System()
	}
	a := r.agent.child(conversation.New(system, r.agent.history.Turn()))
	a.restrict(names)
	s := &subAgent{SubAgent: sub, parent: r, agent: a, usage: limits.NewUsage(r.usage)}
	if s.ToolCallID == "" {
		s.ToolCallID = tool.CallID(ctx)
	}
	prompt, err := s.start(ctx, slices.DeleteFunc(names, func(name string) bool { return !a.tools.Allows(name) }))
	if err != nil {
		return provider.SubResult{}, err
	}
	return s.work(ctx, prompt)
}

func refuse(kind protocol.CallErrorKind, format string, args ...any) error {
	return &tool.Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// subAgent is a sub-agent that works for a run.
type subAgent struct {
	provider.SubAgent
	parent *agentRun
	agent  *agent        // its own
	usage  *limits.Usage // of all its runs
}

// start asks whether the sub-agent may start, and returns its prompt as it was decided.
func (s *subAgent) start(ctx context.Context, tools []string) (Prompt, error) {
	fired := protocol.SubagentStartData{AgentID: s.agent.id.ID, Name: s.Name, Prompt: s.Prompt, Tools: tools, ToolCallID: s.ToolCallID}
	v, err := s.parent.events.fire(ctx, protocol.SubagentStart, fired)
	if err != nil {
		return Prompt{}, err
	}
	if !v.passed() {
		s.endParent(v)
		return Prompt{}, refuse(protocol.CallBlocked, "%s", v.RefusalText())
	}
	data, err := decided(v, fired)
	if err == nil && strings.TrimSpace(data.Prompt) == "" {
		err = refuse(protocol.CallBadArgs, "no sub-agent was started: its prompt is empty")
	}
	return Prompt{Text: data.Prompt, Source: "sub-agent", context: v.contextParts()}, err
}

// endParent ends the run of the parent, if the verdict on the sub-agent says so: what was
// begun in its step is finished before.
func (s *subAgent) endParent(v *verdict) {
	if v.Action != protocol.Stop {
		return
	}
	if calls := s.parent.calls.Load(); calls != nil {
		calls.end.set(v.refusal(), v.by())
		return
	}
	s.parent.limits.EndNow(v.refusal()) // a hook started it, between the steps' calls
}

// work runs the sub-agent until hooks at subagent-stop let it end.
func (s *subAgent) work(ctx context.Context, prompt Prompt) (provider.SubResult, error) {
	run := newAgentRun(ctx, s.agent, s.parent, nil)
	run.subAgent = true
	run.usage = limits.NewUsage(s.usage)
	run.events.usage = run.usage
	for next := &prompt; ; {
		run.runAll(*next)
		result := s.result(run)
		var err error
		next, err = s.stop(ctx, run, &result)
		if err != nil || next == nil {
			return result, err
		}
	}
}

func (s *subAgent) result(run *agentRun) provider.SubResult {
	result := provider.SubResult{AgentID: s.agent.id.ID, Response: run.result.Response, StopReason: run.result.StopReason, Usage: s.usage.Sum()}
	result.Usage.ContextTokens, result.Usage.ContextMax = run.result.Usage.ContextTokens, run.result.Usage.ContextMax
	var failed *Error
	if errors.As(run.err, &failed) {
		result.StopReason, result.Response = "error", failed.Message
	}
	return result
}

// stop fires subagent-stop and writes what hooks said into the result. It returns what the
// sub-agent is to go on with, nil if it has ended. Nothing is decided any more when the work
// was aborted, but hooks hear of the end.
func (s *subAgent) stop(ctx context.Context, run *agentRun, result *provider.SubResult) (*Prompt, error) {
	events := s.parent.events
	fired := protocol.SubagentStopData{
		AgentID: result.AgentID, Response: result.Response, StopReason: result.StopReason,
		Continued: s.agent.forced.All.Total, Usage: callUsage(result.Usage), ToolCallID: s.ToolCallID,
	}
	after := events.afterEnd(ctx)
	v, err := events.decide(after, protocol.SubagentStop, fired)
	data := fired
	if err == nil {
		data, err = decided(v, fired)
	}
	unjudged := err != nil || v.Failure != "" && !v.passed()
	switch { // what hooks left of the answer is shown now
	case unjudged:
		run.events.stream.replace("")
	case v.changes("response"):
		run.events.stream.replace(data.Response)
	}
	run.events.stream.flush(after)
	if err == nil {
		events.show(after, v)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case unjudged:
		s.endParent(v)
		return nil, refuse(protocol.CallBlocked, "%s", v.RefusalText())
	}
	result.Response, result.Context = data.Response, v.contextParts()
	s.endParent(v)
	messages := v.continuation()
	if len(messages) == 0 {
		return nil, nil
	}
	if result.StopReason != "done" && result.StopReason != "length" {
		events.notify(ctx, "hook", fmt.Sprintf("%s wants sub-agent %s to go on; it does not after %s", v.by(), s.label(), result.StopReason))
		return nil, nil
	}
	if !run.countForced(ctx, v) {
		return nil, nil
	}
	next := furtherPrompt(messages)
	next.context = result.Context
	return next, nil
}

func (s *subAgent) label() string {
	if s.Name != "" {
		return s.Name
	}
	return s.agent.id.ID
}

func callUsage(u protocol.RunUsage) protocol.CallUsage {
	return protocol.CallUsage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		ContextTokens: u.ContextTokens, ContextMax: u.ContextMax, CostUSD: u.CostUSD,
	}
}
