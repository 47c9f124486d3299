package agentloop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

// step is one model call and the tool calls it asks for. It returns the reason
// (done length) when the model is done, "" when another step follows, and an
// error when the run ends otherwise.
func (r *Run) step(ctx context.Context) (reason string, err error) {
	if err := r.withinLimits(); err != nil {
		return "", err
	}
	if err := r.flush(); err != nil {
		return "", err
	}
	switch {
	case r.parent == nil:
		r.together.Store(0)
	case r.delegated:
		r.claimed = r.root().together.Add(1)
	}
	r.lookForTools(ctx, false)
	if err := r.stepStart(ctx); err != nil {
		return "", err
	}
	began := time.Now()
	answer, err := r.inference(ctx)
	if err != nil {
		return "", err
	}
	r.answer = answer.message.Content.Text()
	if len(answer.message.Content) > 0 { // no model accepts an empty message
		if err := r.loop.add(answer.message); err != nil {
			return "", errors.Join(err, r.loop.repair()) // its calls are not run, and have a result all the same
		}
	}
	batch := r.runCalls(ctx, answer)
	if err := r.keepResults(batch); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		r.stepCut(ctx, answer, batch, time.Since(began))
		return "", context.Cause(ctx)
	}
	goOn, err := r.stepStop(ctx, answer, batch, time.Since(began))
	switch {
	case batch.end != nil: // a stop in the step counts before one behind it
		return "", batch.end
	case err != nil || goOn:
		return "", err
	case answer.finish == "length":
		return "length", nil
	default:
		return "done", nil
	}
}

// withinLimits keeps the ceiling. All other limits are hooks.
func (r *Run) withinLimits() error {
	if r.steps >= ceiling {
		return &ending{cause: "limit", message: fmt.Sprintf("the run took %d steps, more than any run may", ceiling)}
	}
	return nil
}

// flush adds the context that waited for the next call.
func (r *Run) flush() error {
	pending := r.pending
	r.pending = nil
	return r.loop.addContext(pending)
}

func (r *Run) stepStart(ctx context.Context) error {
	fired := protocol.StepStartData{Messages: r.loop.messages, StepsLeft: r.bounds.left(r.steps)}
	v, data, err := pass(ctx, r, protocol.StepStart, fired)
	if err != nil {
		return err
	}
	if err := r.obeyMessages(v, data.Messages); err != nil {
		return err
	}
	return r.carryOut(ctx)
}

// keepResults adds the results of a step's calls as one message, in the order of
// the calls.
func (r *Run) keepResults(b *batch) error {
	if len(b.calls) == 0 {
		return nil
	}
	var content protocol.Content
	for _, c := range b.calls {
		if c.kept {
			store.ReplaceArgs(r.loop.messages, c.ToolCallID, c.Args)
		}
		content = append(content, resultPart(c.ToolCallID, c.result, c.context))
	}
	return r.loop.add(protocol.Message{Role: protocol.RoleTool, Content: content})
}

// stepCut tells of a step in whose calls the run was ended. Nothing follows from
// what hooks say.
func (r *Run) stepCut(ctx context.Context, a *answer, b *batch, took time.Duration) {
	r.fire(r.after(ctx), protocol.StepStop, protocol.StepStopData{
		Messages: r.loop.messages, Type: a.kind(), Calls: b.stepCalls(), DurationMs: milliseconds(took),
	})
}

// stepStop ends a step. It reports whether another step follows.
func (r *Run) stepStop(ctx context.Context, a *answer, b *batch, took time.Duration) (goOn bool, err error) {
	fired := protocol.StepStopData{
		Messages: r.loop.messages, Type: a.kind(), Calls: b.stepCalls(), DurationMs: milliseconds(took),
	}
	v, err := r.fire(ctx, protocol.StepStop, fired)
	if err != nil {
		return false, err
	}
	r.pending = append(r.pending, v.contextParts()...)
	if v.changes("messages") {
		data, err := decided(v, fired)
		if err == nil {
			err = r.loop.replace(data.Messages)
		}
		if err != nil {
			return false, err
		}
	}
	if err := v.refusal(); err != nil || b.end != nil {
		return false, err
	}
	if err := r.carryOut(ctx); err != nil {
		return false, err
	}
	messages := v.continuation()
	if a.kind() == "tools" {
		return true, r.addAll(messages)
	}
	return r.force(ctx, v)
}

func (r *Run) addAll(messages []protocol.Message) error {
	for _, message := range messages {
		if err := r.loop.add(message); err != nil {
			return err
		}
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
