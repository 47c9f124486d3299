package agentloop

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/oklog/ulid/v2"
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

// inference asks the model once. Nothing of the answer is kept before hooks have
// accepted it.
func (r *Run) inference(ctx context.Context) (*answer, error) {
	request, response, err := r.inferenceStart(ctx)
	if err != nil {
		return nil, err
	}
	if r.holds() {
		r.held = &heldBack{}
	}
	// What is held back is shown by inference-end only; any other way out of here
	// means that the answer was not accepted.
	defer func() { r.held = nil }()

	began := time.Now()
	a := &assembly{run: r, ctx: ctx, message: protocol.Message{ID: ulid.Make().String(), Role: protocol.RoleAssistant}}
	if response != nil {
		err = a.take(*response)
	} else {
		err = a.stream(r.loop.options.Model.Generate(ctx, *request))
	}
	if err != nil {
		return nil, err
	}
	if response == nil {
		r.usage.add(a.usage)
	}
	a.badArgs = r.loop.mendCalls(&a.message)
	return r.inferenceEnd(ctx, a, request.Tools, time.Since(began), response != nil)
}

// inferenceStart lets hooks change the call, or answer in the model's place.
func (r *Run) inferenceStart(ctx context.Context) (*model.Request, *protocol.Response, error) {
	l := r.loop
	fired := protocol.InferenceStartData{
		Model: l.options.Model.Name(), System: l.system, Messages: l.messages, Tools: l.listed,
		Params: l.options.Params, Attempt: 1,
	}
	v, data, err := pass(ctx, r, protocol.InferenceStart, fired)
	if err != nil {
		return nil, nil, err
	}
	request := &model.Request{
		Model: data.Model, System: data.System, Messages: data.Messages, Tools: data.Tools,
		Params: data.Params, Attempt: data.Attempt,
	}
	if len(v.Context) > 0 { // for this call only
		request.Messages = append(slices.Clip(request.Messages),
			protocol.Message{Role: protocol.RoleUser, Content: v.contextParts()})
	}
	r.steps++
	if v.Replaced == nil {
		return request, nil, nil
	}
	response := new(protocol.Response)
	if err := json.Unmarshal(v.Replaced, response, decodeOptions); err != nil {
		return nil, nil, internal(fmt.Errorf("response of %s: %w", v.ReplacedBy, err))
	}
	return request, response, nil
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
	if err != nil {
		return nil, err
	}
	data, err := decided(v, fired)
	if err != nil {
		return nil, err
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
		a.badArgs = r.loop.mendCalls(&data.Message)
	}
	return &answer{message: data.Message, finish: data.FinishReason, tools: tools, badArgs: a.badArgs}, nil
}

// show lets go what was held back: as it was streamed if hooks left it so, in
// one piece if they changed it, not at all if they refused it.
func (r *Run) show(ctx context.Context, v *verdict, message protocol.Message) {
	held := r.held
	r.held = nil
	switch {
	case held == nil || !v.passed():
	case !v.changes("message"):
		for _, y := range held.kept {
			r.send(ctx, y)
		}
	default:
		if text := message.Content.Text(); text != "" {
			r.send(ctx, Yield{Kind: YieldDelta, Delta: Delta{MessageID: message.ID, Text: text}})
		}
	}
	r.tell(ctx, v)
}

// holds reports whether the answer is to be held back while it streams.
func (r *Run) holds() bool {
	holder, can := r.loop.options.Gate.(Holder)
	return !can || holder.Holds(protocol.InferenceEnd, r.envelope(protocol.InferenceEnd, nil))
}
