package agentloop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/protocol"
)

// Prompt is what begins a run.
type Prompt struct {
	Text        string
	Source      string // user follow-up recipe hook sub-agent; default user
	Attachments []protocol.Part

	before  []protocol.Message // added before the prompt: a further run's other messages
	context protocol.Content   // of hooks, that belongs to the prompt
	byHand  bool               // of a recipe: a person runs it, so it is a prompt of theirs
}

func (p *Prompt) byUser() bool {
	return p.byHand || p.Source == "" || p.Source == "user" || p.Source == "follow-up"
}

// Run is the work on one prompt: a run, and the further runs that hooks at agent-end ask
// for.
type Run struct {
	events chan Update
	done   chan struct{}
	work   *agentRun
}

// Result is the result of a run.
type Result struct {
	Response   string // the text of the last answer
	StopReason string // done length steps tokens time budget hook aborted; "" after agent-error
	Continued  int    // forced continuations
	Usage      protocol.RunUsage
}

// Error is the error of a run that ended with agent-error.
type Error struct {
	Cause   string // blocked failure model tool limit internal
	By      string // the hook that refused, "" if none did
	Message string
	err     error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.err }

// newRun returns a run of the session's own agent.
func newRun(ctx context.Context, a *agent) *Run {
	watcher := make(chan Update, 64)
	return &Run{events: watcher, done: make(chan struct{}), work: newAgentRun(ctx, a, nil, watcher)}
}

// Events returns the channel of what happens, in order. It is closed once, when the run has
// ended and nothing of it is left.
func (r *Run) Events() <-chan Update { return r.events }

// Wait returns when the run has ended: nil if it ended regularly (which a stop by a hook
// and a limit are too), an [*Error] after agent-error, the context's cause after an abort.
// Somebody must read the events meanwhile.
func (r *Run) Wait() error {
	<-r.done
	return r.work.err
}

// Result returns the result. It is valid once Wait has returned.
func (r *Run) Result() Result { return r.work.result }

// agentRun is the run of one agent. The skeleton of its stages is [agentRun.stages]; each
// stage fires its events through the run's events and obeys the verdicts.
type agentRun struct {
	agent  *agent
	events *events
	limits *limits.Run
	usage  *limits.Usage

	subAgent   bool
	stepNumber int // of a sub-agent: how many sub-agents' steps had begun when its step began, itself included

	// Of the run that goes on; only its goroutine writes them, and only while no tool
	// runs.
	began          time.Time
	pendingContext protocol.Content // context of hooks, for the next model call
	calls          atomic.Pointer[toolCalls]
	result         Result
	err            error
}

// newAgentRun returns a run that works for parent, nil for none: what happens in it is
// shown to the same watcher, and what it uses counts there too.
func newAgentRun(ctx context.Context, a *agent, parent *agentRun, watcher chan<- Update) *agentRun {
	r := &agentRun{agent: a}
	e := &events{agent: a, caller: ctx, run: runContext{r}, stream: &stream{watcher: watcher, agent: a.id.ID}}
	if parent == nil {
		r.limits, r.usage = limits.NewRun(nil), limits.NewUsage(nil)
	} else {
		r.limits, r.usage = limits.NewRun(parent.limits), limits.NewUsage(parent.usage)
		e.parent, e.stream.watcher = parent.events, parent.events.stream.watcher
	}
	e.usage = r.usage
	e.person = &person{
		approver: a.session.Approver, timeout: a.session.ApprovalTimeout, exclusion: &a.session.exclusion,
		limits: r.limits, notify: e.notify,
	}
	r.events = e
	return r
}

// runAll runs a prompt, then the further runs that hooks at agent-end ask for.
func (r *agentRun) runAll(prompt Prompt) {
	for next := &prompt; next != nil; {
		next = r.runOnce(*next)
	}
}

// runOnce makes one run: from its prompt to agent-end or agent-error.
func (r *agentRun) runOnce(prompt Prompt) (further *Prompt) {
	r.result, r.pendingContext, r.began = Result{}, nil, time.Now()
	r.events.steps = 0
	r.usage.Reset()
	ctx, end := context.WithCancelCause(r.events.caller)
	r.limits.Begin(r.began, end)
	defer end(nil)
	defer r.limits.End()

	reason, err := r.stages(ctx, prompt)
	return r.finish(ctx, reason, err)
}

// stages is the skeleton of a run. It returns the reason of a natural end, or why the run ends
// otherwise.
func (r *agentRun) stages(ctx context.Context, prompt Prompt) (reason string, err error) {
	if err := r.begin(ctx, prompt); err != nil {
		return "", err
	}
	for {
		reason, err := r.step(ctx)
		if err != nil {
			return "", err
		}
		if reason == "" {
			continue
		}
		goOn, err := r.agentStop(ctx, reason)
		if err != nil || !goOn {
			return reason, err
		}
	}
}

// endOf returns the end of a run that err ended; nil is the natural end.
func (r *agentRun) endOf(ctx context.Context, err error) *runEnd {
	var end *runEnd
	var limit *limits.Reached
	switch {
	case err == nil:
		return nil
	case errors.As(err, &end):
		return end
	case errors.As(err, &limit) && r.events.caller.Err() == nil:
		return &runEnd{stopReason: limit.Reason, message: limit.Error(), err: limit}
	case ctx.Err() != nil:
		return &runEnd{stopReason: "aborted", message: context.Cause(ctx).Error(), err: context.Cause(ctx)}
	}
	return &runEnd{cause: "internal", message: err.Error(), err: err}
}

// finish fires the run's last event, exactly one of agent-end and agent-error, and returns
// the further run that hooks at agent-end ask for.
func (r *agentRun) finish(ctx context.Context, reason string, err error) *Prompt {
	end := r.endOf(ctx, err)
	after := r.events.afterEnd(ctx)
	r.events.contextDropped(after, r.pendingContext)
	r.pendingContext = nil
	for call, is := r.events.calls.next(); is; call, is = r.events.calls.next() {
		r.events.recipeDropped(after, &call, "the run ended before")
	}
	last := r.events.afterEnd(r.events.caller)
	r.result.StopReason, r.result.Continued, r.result.Usage = reason, r.agent.forced.All.Total, r.usage.Sum()
	if end == nil {
		return r.agentEnd(last, true)
	}
	r.result.StopReason = end.stopReason
	if end.stopReason == "" {
		r.err = &Error{Cause: end.cause, By: end.by, Message: end.message, err: end.err}
		r.agentError(last, end)
		return nil
	}
	if end.stopReason == "aborted" {
		r.err = end.err
	}
	r.agentEnd(last, false)
	return nil
}

// agentEnd fires agent-end. A hook may have a further run only after a natural end: after a
// stop or a limit it would undo them.
func (r *agentRun) agentEnd(ctx context.Context, natural bool) *Prompt {
	v, err := r.events.fire(ctx, protocol.AgentEnd, protocol.AgentEndData{
		Response: r.result.Response, StopReason: r.result.StopReason, DurationMs: protocol.Milliseconds(time.Since(r.began)), Continued: r.agent.forced.All.Total,
	})
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return nil
	}
	messages := v.continuation()
	switch {
	case len(messages) == 0:
		return nil
	case !natural:
		r.events.notify(ctx, "hook", fmt.Sprintf("%s asked for a further run; there is none after %s", v.by(), r.result.StopReason))
		return nil
	case !r.countForced(ctx, v):
		return nil
	}
	return furtherPrompt(messages)
}

// agentError fires agent-error. Nothing follows it, so an error of it is not
// reported.
func (r *agentRun) agentError(ctx context.Context, end *runEnd) {
	data := protocol.AgentErrorData{Message: end.message, Cause: end.cause}
	if end.by != "" {
		data.By = &end.by
	}
	r.events.fire(ctx, protocol.AgentError, data)
}

// furtherPrompt makes the prompt of a further run: the last user message, with the others
// before it.
func furtherPrompt(messages []protocol.Message) *Prompt {
	last := len(messages) - 1
	prompt := &Prompt{Source: "hook", Text: "continue", before: messages}
	if messages[last].Role == protocol.RoleUser {
		prompt.before = messages[:last]
		prompt.Text = strings.TrimSpace(messages[last].Content.Text())
		for _, part := range messages[last].Content {
			if part.Type != protocol.PartText {
				prompt.Attachments = append(prompt.Attachments, part)
			}
		}
	}
	return prompt
}
