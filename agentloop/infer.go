package agentloop

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// answer is a model's accepted answer.
type answer struct {
	message protocol.Message
	finish  string           // stop tools length filtered error
	tools   []protocol.Tool  // what the model was offered: it may call no other
	badArgs map[string]error // by call id: the model's args are no JSON object
}

func (a *answer) kind() string { return kindOf(a.message) }

func kindOf(message protocol.Message) string {
	if len(calls(message)) > 0 {
		return "tools"
	}
	return "final"
}

// inference asks the model, again if it fails in a way that may pass. Nothing of
// an answer is kept before hooks have accepted it.
func (r *Run) inference(ctx context.Context) (*answer, error) {
	var failure error // of the try before
	for attempt := 1; ; attempt++ {
		request, response, err := r.inferenceStart(ctx, attempt)
		if err != nil {
			return nil, gaveUp(err, failure, attempt-1)
		}
		if failure != nil && response == nil {
			if err := r.waitToRetry(ctx, failure, attempt); err != nil {
				return nil, err
			}
		}
		answer, err := r.try(ctx, request, response)
		if err == nil || ctx.Err() != nil || !worthRetry(err, attempt) {
			return answer, err
		}
		failure = err
	}
}

// try takes one answer, of the model or of a hook in its place.
func (r *Run) try(ctx context.Context, request *model.Request, response *protocol.Response) (*answer, error) {
	r.sayWords(ctx) // the answer before was not the last
	if r.holds() {
		r.held = &heldBack{}
	}
	began := time.Now()
	a := &assembly{run: r, ctx: ctx, message: protocol.Message{ID: protocol.NewID(), Role: protocol.RoleAssistant}}
	var err error
	if response != nil {
		err = a.take(*response)
	} else {
		err = a.stream(r.loop.options.Model.Generate(ctx, *request))
		// What a failed try has used counts. One that did not even begin to answer
		// used nothing.
		if err == nil || a.usage != nil || a.begun {
			r.usage.add(a.usage)
		}
	}
	if err != nil {
		if a.begun { // else nothing was told of it
			r.dropAnswer(r.after(ctx), a.message.ID)
		}
		return nil, err
	}
	a.badArgs = r.loop.mendAnswer(&a.message, a.finish)
	return r.inferenceEnd(ctx, a, request.Tools, time.Since(began), response != nil)
}

// inferenceStart lets hooks change the call, or answer in the model's place.
func (r *Run) inferenceStart(ctx context.Context, attempt int) (*model.Request, *protocol.Response, error) {
	l := r.loop
	fired := protocol.InferenceStartData{
		Model: l.options.Model.Name(), System: l.system, Messages: l.messages, Tools: l.tools.offered(),
		Params: l.options.Params, Attempt: attempt,
	}
	v, data, err := pass(ctx, r, protocol.InferenceStart, fired)
	if err != nil {
		return nil, nil, err
	}
	request := &model.Request{
		Model: data.Model, System: data.System, Messages: data.Messages, Tools: data.Tools,
		Params: data.Params, Attempt: data.Attempt,
		Prefixes: []int{len(data.Messages)},
	}
	if v.changes("messages") {
		request.Prefixes = append(request.Prefixes, shared(l.messages, data.Messages))
	}
	if len(v.Context) > 0 { // for this call only
		request.Messages = append(slices.Clip(request.Messages),
			protocol.Message{Role: protocol.RoleUser, Content: v.contextParts()})
	}
	if attempt == 1 {
		r.steps++ // further tries are of the same step
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

// shared is with how many messages two conversations begin alike. What a hook
// made of the conversation is for one call: the next may have so much only.
func shared(stored, sent []protocol.Message) int {
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

// inferenceEnd lets hooks judge the answer, then shows what they left of it.
func (r *Run) inferenceEnd(ctx context.Context, a *assembly, tools []protocol.Tool, took time.Duration, synthetic bool) (*answer, error) {
	fired := protocol.InferenceEndData{
		Message: a.message, FinishReason: a.finish, Type: kindOf(a.message),
		DurationMs: milliseconds(took), Synthetic: synthetic,
	}
	if fired.Message.Content == nil {
		fired.Message.Content = protocol.Content{}
	}
	switch {
	case a.usage != nil:
		fired.Usage = *a.usage
	case synthetic: // no model was called, so this is known
		fired.Usage.InputTokens, fired.Usage.OutputTokens = new(int64), new(int64)
	}
	v, err := r.decide(ctx, protocol.InferenceEnd, fired)
	data := fired
	if err == nil {
		data, err = decided(v, fired)
	}
	if err != nil {
		r.dropAnswer(r.after(ctx), a.message.ID)
		return nil, err
	}
	if v.passed() && kindOf(data.Message) == "final" && r.holdsWords() {
		r.words = &lastWords{}
	}
	r.show(ctx, v, data.Message)
	if err := v.refusal(); err != nil {
		return nil, err
	}
	r.pending = append(r.pending, v.contextParts()...)
	if data.FinishReason == "error" {
		return nil, &ending{cause: "model", message: "the model ended its answer with an error"}
	}
	data.Message.ID = a.message.ID
	if v.changes("message") {
		a.badArgs = r.loop.mendAnswer(&data.Message, a.finish)
	}
	return &answer{message: data.Message, finish: data.FinishReason, tools: tools, badArgs: a.badArgs}, nil
}
