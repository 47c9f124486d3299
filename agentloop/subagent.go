package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// spawn runs a sub-agent; see [provider.RunContext]. It may be called by several tools
// side by side.
func (r *Run) spawn(ctx context.Context, sub provider.SubAgent) (provider.SubResult, error) {
	l := r.loop
	if l.isLast() {
		return provider.SubResult{}, refuse(protocol.CallBlocked, "%s", l.tooDeep())
	}
	names, err := l.handedOn(sub.Tools)
	if err != nil {
		return provider.SubResult{}, err
	}
	c := l.child()
	c.messages = nil
	c.restrict(names)
	if sub.System != "" {
		c.system = sub.System
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !c.tools.allows(name) })
	s := &subAgent{run: r, loop: c, SubAgent: sub}
	if s.ToolCallID == "" {
		s.ToolCallID = tool.CallID(ctx)
	}
	prompt, err := s.start(ctx, names)
	if err != nil {
		return provider.SubResult{}, err
	}
	return s.work(ctx, prompt)
}

// tooDeep is what is said where an agent may start no other.
func (l *Loop) tooDeep() string {
	return fmt.Sprintf("no sub-agent was started: sub-agents may be %d deep and this agent is %d deep already; do the work yourself", l.options.Limits.depth(), l.depth)
}

// handedOn are the names of the tools that a sub-agent gets: those asked for, or
// all that this agent has.
func (l *Loop) handedOn(wanted []string) ([]string, error) {
	var has []string
	for _, t := range l.tools.offered() {
		has = append(has, t.Name)
	}
	if wanted == nil {
		return has, nil
	}
	for _, name := range wanted {
		if !slices.Contains(has, name) {
			return nil, refuse(protocol.CallBadArgs, "no sub-agent was started: there is no tool named %.80q to give it; there are: %s", name, strings.Join(has, ", "))
		}
	}
	return slices.Clone(wanted), nil
}

func refuse(kind protocol.CallErrorKind, format string, args ...any) error {
	return &tool.Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// subAgent is a sub-agent on its way: run is that of the agent it works for,
// loop its own.
type subAgent struct {
	provider.SubAgent
	run   *Run
	loop  *Loop
	usage tally // of all its runs
}

func (s *subAgent) id() string { return s.loop.options.Agent.ID }

// start asks whether the sub-agent may start, and returns its prompt as it was
// decided.
func (s *subAgent) start(ctx context.Context, tools []string) (Prompt, error) {
	if tools == nil {
		tools = []string{}
	}
	fired := protocol.SubagentStartData{AgentID: s.id(), Name: s.Name, Prompt: s.Prompt, Tools: tools, ToolCallID: s.ToolCallID}
	v, err := s.run.fire(ctx, protocol.SubagentStart, fired)
	if err != nil {
		return Prompt{}, err
	}
	if !v.passed() {
		s.run.endBehindStep(v)
		return Prompt{}, refuse(protocol.CallBlocked, "%s", v.told())
	}
	data, err := decided(v, fired)
	if err == nil && strings.TrimSpace(data.Prompt) == "" {
		err = refuse(protocol.CallBadArgs, "no sub-agent was started: its prompt is empty")
	}
	return Prompt{Text: data.Prompt, Source: "sub-agent", behind: v.contextParts()}, err
}

// endBehindStep ends the run of this agent, if the verdict on a sub-agent says
// so: what was begun in the step is finished before.
func (r *Run) endBehindStep(v *verdict) {
	if v.Action != protocol.Stop {
		return
	}
	if b := r.batch.Load(); b != nil {
		b.stop(v.refusal(), v.by())
		return
	}
	r.bounds.endNow(v.refusal()) // a hook started it, between the steps' calls
}

// work runs the sub-agent until hooks at subagent-stop let it end.
func (s *subAgent) work(ctx context.Context, prompt Prompt) (provider.SubResult, error) {
	s.usage.parent = &s.run.usage
	run := s.run.child(ctx, s.loop)
	defer run.endFarewell()
	run.delegated = true
	run.usage.parent = &s.usage
	for next := &prompt; ; {
		run.rounds(*next)
		result := s.result(run)
		var err error
		next, err = s.stop(ctx, run, &result)
		if err != nil || next == nil {
			return result, err
		}
	}
}

func (s *subAgent) result(run *Run) provider.SubResult {
	result := provider.SubResult{AgentID: s.id(), Response: run.result.Response, StopReason: run.result.StopReason, Usage: s.usage.sum()}
	result.Usage.ContextTokens, result.Usage.ContextMax = run.result.Usage.ContextTokens, run.result.Usage.ContextMax
	var failed *Error
	if errors.As(run.err, &failed) {
		result.StopReason, result.Response = "error", failed.Message
	}
	return result
}

// stop fires subagent-stop and writes what hooks said into the result. It
// returns what the sub-agent is to go on with, nil if it has ended. Nothing is
// decided any more when the work was aborted, but hooks hear of the end.
func (s *subAgent) stop(ctx context.Context, run *Run, result *provider.SubResult) (*Prompt, error) {
	parent := s.run
	fired := protocol.SubagentStopData{
		AgentID: s.id(), Response: result.Response, StopReason: result.StopReason,
		Continued: s.loop.forced.total, Usage: callUsage(result.Usage), ToolCallID: s.ToolCallID,
	}
	after := parent.after(ctx)
	v, err := parent.decide(after, protocol.SubagentStop, fired)
	data := fired
	if err == nil {
		data, err = decided(v, fired)
	}
	unjudged := err != nil || v.Failure != "" && !v.passed() // so not shown
	switch {
	case unjudged:
		run.changeWords(after, "")
	case v.changes("response"):
		run.changeWords(after, data.Response)
	default:
		run.sayWords(after)
	}
	if err == nil {
		parent.tell(after, v)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case unjudged:
		parent.endBehindStep(v)
		return nil, refuse(protocol.CallBlocked, "%s", v.told())
	}
	result.Response, result.Context = data.Response, v.contextParts()
	parent.endBehindStep(v)
	messages := v.continuation()
	if len(messages) == 0 {
		return nil, nil
	}
	if result.StopReason != "done" && result.StopReason != "length" {
		parent.notify(ctx, "hook", fmt.Sprintf("%s wants sub-agent %s to go on; it does not after %s", v.by(), s.label(), result.StopReason))
		return nil, nil
	}
	if !run.mayForce(ctx, v) {
		return nil, nil
	}
	next := furtherPrompt(messages)
	next.behind = result.Context
	return next, nil
}

func (s *subAgent) label() string {
	if s.Name != "" {
		return s.Name
	}
	return s.id()
}

func callUsage(u protocol.RunUsage) protocol.CallUsage {
	return protocol.CallUsage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		ContextTokens: u.ContextTokens, ContextMax: u.ContextMax, CostUSD: u.CostUSD,
	}
}
