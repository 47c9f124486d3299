package agentloop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// continuation is what a hook's continue (or a block where that means the same)
// adds to the conversation; none means that nobody asked to go on.
func (v *verdict) continuation() []protocol.Message {
	spec := protocol.Lookup(v.name)
	switch {
	case v.Action == protocol.Stop || v.Failure != "":
		return nil
	case len(v.Messages) > 0:
		return v.Messages
	case v.Action == protocol.Continue && v.Reason != "",
		v.Action == protocol.Block && spec.Block == protocol.BlockContinues:
		return []protocol.Message{textMessage(protocol.RoleUser, "["+v.by()+"] "+v.told())}
	}
	return nil
}

// agentStop asks whether the agent may stop, which it is about to do by itself.
func (r *Run) agentStop(ctx context.Context, reason string) (goOn bool, err error) {
	l := r.loop
	fired := protocol.AgentStopData{
		Reason: reason, Response: r.answer, Messages: l.messages,
		Continued: l.forced.row, ContinuedTotal: l.forced.total,
	}
	v, err := r.fire(ctx, protocol.AgentStop, fired)
	if err != nil {
		return false, err
	}
	if v.Action == protocol.Stop || v.Failure != "" {
		return false, v.refusal()
	}
	if v.changes("messages") {
		data, err := decided(v, fired)
		if err == nil {
			err = l.replace(data.Messages)
		}
		if err != nil {
			return false, err
		}
	}
	if err := r.carryOut(ctx); err != nil {
		return false, err
	}
	goOn, err = r.force(ctx, v)
	if err == nil && goOn {
		err = l.addContext(v.contextParts())
	} else if err == nil {
		r.dropped(ctx, v.contextParts())
	}
	return goOn, err
}

// finish fires the run's last event, exactly one of agent-end and agent-error,
// and returns the further run that hooks at agent-end ask for.
func (r *Run) finish(ctx context.Context, reason string, err error) *Prompt {
	end := r.classify(ctx, err)
	r.dropped(r.after(ctx), r.pending)
	r.pending = nil
	r.callbacksLost(r.after(ctx))
	last, over := r.last()
	defer over()
	r.result = Result{Response: r.answer, StopReason: reason, Continued: r.loop.forced.total, Usage: r.usage.sum()}
	if end == nil {
		return r.agentEnd(last, reason, true)
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
	r.agentEnd(last, end.stopReason, false)
	return nil
}

// agentEnd fires agent-end. Only behind a natural end a hook may have a further
// run: behind a stop or a limit it would undo them.
func (r *Run) agentEnd(ctx context.Context, reason string, natural bool) *Prompt {
	v, err := r.fire(ctx, protocol.AgentEnd, protocol.AgentEndData{
		Response: r.answer, StopReason: reason, DurationMs: milliseconds(time.Since(r.began)), Continued: r.loop.forced.total,
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
		r.notify(ctx, "hook", fmt.Sprintf("%s asked for a further run; there is none after %s", v.by(), reason))
		return nil
	case !r.mayForce(ctx, v):
		return nil
	}
	return furtherPrompt(messages)
}

// furtherPrompt makes the prompt of a further run: the last user message, with
// the others before it.
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

func (r *Run) agentError(ctx context.Context, end *ending) {
	data := protocol.AgentErrorData{Message: end.message, Cause: end.cause}
	if end.by != "" {
		data.By = &end.by
	}
	// Nothing follows it, so there is nobody left to tell that it was cut short.
	r.fire(ctx, protocol.AgentError, data)
}

// dropped tells the person of context that found no place.
func (r *Run) dropped(ctx context.Context, context protocol.Content) {
	for _, c := range context {
		r.notify(ctx, "hook", fmt.Sprintf("context of %s was dropped: no model call follows", c.Hook))
	}
}
