package agentloop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/internal/answer"
	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// modelAnswer is a model's accepted answer.
type modelAnswer struct {
	message protocol.Message
	finish  string           // stop tools length filtered error
	tools   []protocol.Tool  // what the model was offered: it may call no other
	badArgs map[string]error // by call id: why the call cannot run
	context protocol.Content // of hooks, for the next model call
}

// inference is the model call of one step.
type inference struct {
	agent    *agent
	events   *events
	subAgent bool
	message  string // id of the answer that streams
}

// run asks the model, again if it fails in a way that may pass. Nothing of an answer is
// kept before hooks have accepted it.
func (i *inference) run(ctx context.Context) (*modelAnswer, error) {
	var failure error // of the try before
	for attempt := 1; ; attempt++ {
		request, response, err := i.start(ctx, attempt)
		if err != nil {
			return nil, gaveUp(err, failure, attempt-1)
		}
		if failure != nil && response == nil {
			if err := i.waitToRetry(ctx, failure, attempt); err != nil {
				return nil, err
			}
		}
		answer, err := i.try(ctx, request, response)
		if err == nil || ctx.Err() != nil || !worthRetry(err, attempt) {
			return answer, err
		}
		failure = err
	}
}

// start lets hooks change the call, or answer in the model's place.
func (i *inference) start(ctx context.Context, attempt int) (*model.Request, *protocol.Response, error) {
	a := i.agent
	fired := protocol.InferenceStartData{
		Model: a.session.Model.Name(), System: a.history.System(), Messages: a.history.Messages(), Tools: a.tools.Offered(),
		Params: a.params, Attempt: attempt,
	}
	v, data, err := fireOrEnd(ctx, i.events, protocol.InferenceStart, fired)
	if err != nil {
		return nil, nil, err
	}
	request := &model.Request{
		Model: data.Model, System: data.System, Messages: data.Messages, Tools: data.Tools,
		Params: data.Params, Attempt: data.Attempt,
		Prefixes: []int{len(data.Messages)},
	}
	if v.changes("messages") {
		request.Prefixes = append(request.Prefixes, sharedPrefix(a.history.Messages(), data.Messages))
	}
	if len(v.Context) > 0 { // for this call only
		request.Messages = append(slices.Clip(request.Messages),
			protocol.Message{Role: protocol.RoleUser, Content: v.contextParts()})
	}
	if attempt == 1 {
		i.events.steps++ // further tries are of the same step
	}
	if v.Replaced == nil {
		return request, nil, nil
	}
	response := new(protocol.Response)
	if err := json.Unmarshal(v.Replaced, response, decodeOptions); err != nil {
		return nil, nil, internal(fmt.Errorf("response of %s: %w", v.ReplacedBy, err))
	}
	return request, response, nil
}

// sharedPrefix returns with how many messages two conversations begin alike. What a hook
// made of the conversation is for one call: the next may have only so much of it.
func sharedPrefix(stored, sent []protocol.Message) int {
	n := min(len(stored), len(sent))
	for i := range n {
		one, err := protocol.Marshal(stored[i])
		other, err2 := protocol.Marshal(sent[i])
		if err != nil || err2 != nil || !bytes.Equal(one, other) {
			return i
		}
	}
	return n
}

// try takes one answer, of the model or of a hook in its place.
func (i *inference) try(ctx context.Context, request *model.Request, response *protocol.Response) (*modelAnswer, error) {
	a := answer.New(i)
	i.message = a.Message.ID
	i.events.stream.flush(ctx) // the answer before was not the last
	if i.parentMayChange() || i.events.mayChange(protocol.InferenceEnd, nil) {
		i.events.stream.holdAnswer(i.message)
	}
	began := time.Now()
	var err error
	if response != nil {
		err = a.AddResponse(ctx, *response)
	} else {
		err = a.Stream(ctx, i.agent.session.Model.Generate(ctx, *request))
		// What a failed try has used counts. One that did not even begin to answer used
		// nothing.
		if err == nil || a.Usage != nil || a.Begun {
			i.events.usage.Add(a.Usage)
		}
	}
	if err != nil {
		if a.Begun { // else nothing of it was shown
			i.events.stream.drop(i.events.afterEnd(ctx), i.message)
		}
		var failure *answer.Failure
		if errors.As(err, &failure) {
			err = &runEnd{cause: "model", message: failure.Error(), err: failure.Unwrap()}
		}
		return nil, err
	}
	badArgs := conversation.MendCalls(i.agent.history.Messages(), &a.Message, a.Finish)
	return i.end(ctx, a, badArgs, request.Tools, time.Since(began), response != nil)
}

// parentMayChange reports whether a hook may still change the run's final answer, because
// it is a sub-agent's.
func (i *inference) parentMayChange() bool {
	return i.subAgent && i.events.parent.mayChange(protocol.SubagentStop, nil)
}

// BeginBlock fires message-start or thinking-start.
func (i *inference) BeginBlock(ctx context.Context, thinking bool) (open bool, err error) {
	name := protocol.MessageStart
	if thinking {
		name = protocol.ThinkingStart
	}
	_, err = i.events.fire(ctx, name, protocol.DeltaStartData{Role: "assistant", MessageID: i.message})
	return !errors.As(err, new(notFired)), err // hooks heard of the beginning, so they hear of the end
}

// Delta shows a piece of the answer.
func (i *inference) Delta(ctx context.Context, thinking bool, text string) {
	i.events.stream.show(ctx, Update{Kind: UpdateDelta, Delta: Delta{MessageID: i.message, Thinking: thinking, Text: text}})
}

// EndBlock fires message-end or thinking-end.
func (i *inference) EndBlock(ctx context.Context, thinking bool, text string) {
	name := protocol.MessageEnd
	if thinking {
		name = protocol.ThinkingEnd
	}
	i.events.fire(i.events.afterEnd(ctx), name, protocol.DeltaEndData{Role: "assistant", MessageID: i.message, Content: text})
}

// end lets hooks judge the answer, then shows what they left of it.
func (i *inference) end(ctx context.Context, a *answer.Answer, badArgs map[string]error, tools []protocol.Tool, took time.Duration, synthetic bool) (*modelAnswer, error) {
	fired := protocol.InferenceEndData{
		Message: a.Message, FinishReason: a.Finish, Type: answer.Kind(a.Message),
		DurationMs: protocol.Milliseconds(took), Synthetic: synthetic,
	}
	if fired.Message.Content == nil {
		fired.Message.Content = protocol.Content{}
	}
	switch {
	case a.Usage != nil:
		fired.Usage = *a.Usage
	case synthetic: // no model was called, so this is known
		fired.Usage.InputTokens, fired.Usage.OutputTokens = new(int64), new(int64)
	}
	v, err := i.events.decide(ctx, protocol.InferenceEnd, fired)
	data := fired
	if err == nil {
		data, err = decided(v, fired)
	}
	if err != nil {
		i.events.stream.drop(i.events.afterEnd(ctx), i.message)
		return nil, err
	}
	i.show(ctx, v, data.Message)
	if err := v.refusal(); err != nil {
		return nil, err
	}
	if data.FinishReason == "error" {
		i.events.contextDropped(ctx, v.contextParts())
		return nil, &runEnd{cause: "model", message: "the model ended its answer with an error"}
	}
	data.Message.ID = i.message
	if v.changes("message") {
		badArgs = conversation.MendCalls(i.agent.history.Messages(), &data.Message, a.Finish)
	}
	return &modelAnswer{message: data.Message, finish: data.FinishReason, tools: tools, badArgs: badArgs, context: v.contextParts()}, nil
}

// show shows a decided answer: as it was streamed if hooks left it so, in one piece if they
// changed it, not at all if they refused it. A sub-agent's final answer waits further if
// hooks of its parent may still change it.
func (i *inference) show(ctx context.Context, v *verdict, message protocol.Message) {
	stream := i.events.stream
	if !v.passed() {
		stream.drop(ctx, i.message)
		i.events.show(ctx, v)
		return
	}
	if v.changes("message") {
		stream.replace(message.Content.Text())
	}
	if answer.Kind(message) == "final" && i.parentMayChange() {
		stream.holdAll(i.message)
	} else {
		stream.flush(ctx)
	}
	i.events.show(ctx, v)
}

// How a failed model call is tried again. The waits between tries grow from firstWait by
// the factor 2 up to longestWait, each shortened by up to a half at random, so that many
// agents do not come back at the same moment. A server that asks for a longer wait gets it,
// up to longestAsked: if it asks for more, the call has failed.
const (
	firstWait    = 500 * time.Millisecond
	longestWait  = 30 * time.Second
	longestAsked = 2 * time.Minute

	// maxAttempts is the ceiling of tries of one call. How many there are below it, the
	// provider retries says.
	maxAttempts = 101
)

// worthRetry reports whether a failed try is to be followed by another, if hooks let it.
func worthRetry(err error, attempt int) bool {
	var failure *model.Error
	return errors.As(err, &failure) && failure.Retryable && failure.RetryAfter <= longestAsked && attempt < maxAttempts
}

// gaveUp is the end of a call of which no further try passes: if the limit of retries said
// so, the model's failure ends the run.
func gaveUp(err, failure error, tries int) error {
	var last *runEnd
	if failure == nil || !errors.Is(err, errNoMoreTries) || !errors.As(failure, &last) {
		return err
	}
	if tries > 1 {
		return &runEnd{cause: last.cause, message: fmt.Sprintf("%s (tried %d times)", last.message, tries), err: last.err}
	}
	return last
}

// waitToRetry tells the person of the failure and waits before the next try.
func (i *inference) waitToRetry(ctx context.Context, failure error, attempt int) error {
	asked := time.Duration(0)
	var e *model.Error
	if errors.As(failure, &e) {
		asked = e.RetryAfter
	}
	pause := max(asked, backoff(attempt-1))
	i.events.notify(ctx, "info", fmt.Sprintf("%v; try %d follows in %s", failure, attempt, pause.Round(100*time.Millisecond)))
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// backoff returns how long to wait after so many failed tries.
func backoff(failed int) time.Duration {
	wait := longestWait
	if doublings := failed - 1; doublings < 6 { // 500 ms · 2⁶ is over longestWait
		wait = firstWait << doublings
	}
	return wait - rand.N(wait/2)
}
