package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// responseReader puts the events of a streamed answer together. Each block has a
// beginning, pieces and an end; most servers send one after the other.
type responseReader struct {
	model      *Model
	contextMax *int64
	blocks     map[int64]*block // begun, without their end so far
	tools      bool
	reason     string
	usage      protocol.CallUsage
	input      inputTokens
	begun      bool // some event came
	done       bool // message_stop came
}

// damaged is an answer of which something is missing. What is left of it may
// look whole and is not: another try is worth more.
func damaged(format string, args ...any) error {
	return &model.Error{Retryable: true, Err: fmt.Errorf("anthropic: the answer is damaged: "+format, args...)}
}

type block struct {
	kind      string
	id, name  string
	raw       protocol.RawMessage // as it began
	text      strings.Builder
	signature strings.Builder
	json      strings.Builder
}

// inputTokens are the tokens of the input: new, read from the cache, and
// written to it. None of them is counted in another.
type inputTokens struct{ fresh, read, written int64 }

// read reads the stream to its end, which message_stop is. What comes after it
// says nothing more.
func (r *responseReader) read(body io.Reader, yield func(model.Chunk, error) bool) error {
	for event, err := range wire.Events(body) {
		if err != nil {
			return err
		}
		goOn, err := r.take(event, yield)
		if err != nil || !goOn || r.done {
			return err
		}
	}
	if !r.begun {
		return &model.Error{Retryable: true, Err: errors.New("anthropic: the server answered with no event at all; is agent.baseUrl right?")}
	}
	return &model.Error{Retryable: true, Err: errors.New("anthropic: the answer was cut off: the stream ended without message_stop")}
}

// take takes one event. Its data says what it is, and some servers leave the
// name away. It reports whether anybody reads on.
func (r *responseReader) take(raw wire.Event, yield func(model.Chunk, error) bool) (bool, error) {
	body := bytes.TrimSpace(raw.Data)
	if len(body) == 0 || string(body) == "[DONE]" {
		return true, nil
	}
	r.begun = true
	var said struct {
		Type  string              `json:"type"`
		Error protocol.RawMessage `json:"error"`
	}
	err := wire.Decode(body, &said)
	kind := cmp.Or(said.Type, raw.Name)
	if kind == "error" || kind == "" && said.Error != nil {
		return false, r.model.client.Refusal(http.StatusOK, http.Header{}, "", body)
	}
	if err != nil {
		return false, wire.Unreadable(Provider, err)
	}
	switch kind {
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta":
	case "message_stop":
		return r.end(yield)
	case "":
		return false, damaged("an event does not say what it is: %s", text.Shorten(string(body), 200))
	default:
		return true, nil // ping, and what later versions add
	}
	var event sdk.MessageStreamEventUnion
	if err := json.Unmarshal(bytes.Clone(body), &event); err != nil {
		return false, wire.Unreadable(Provider, err)
	}
	switch kind {
	case "message_start":
		u := event.Message.Usage
		if u.JSON.InputTokens.Valid() {
			return r.count(inputTokens{u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens}, u.OutputTokens, yield), nil
		}
		return true, nil
	case "message_delta":
		r.reason = cmp.Or(string(event.Delta.StopReason), r.reason)
		return r.recount(event.Usage, yield), nil
	case "content_block_start":
		return r.startBlock(event, yield)
	}
	b := r.blocks[event.Index]
	switch {
	case b == nil:
		return false, damaged("a %s is of a block that has not begun", kind)
	case kind == "content_block_delta":
		return b.piece(event.Delta, yield), nil
	default:
		delete(r.blocks, event.Index)
		return r.endBlock(b, yield), nil
	}
}

func (r *responseReader) startBlock(event sdk.MessageStreamEventUnion, yield func(model.Chunk, error) bool) (bool, error) {
	if open := r.blocks[event.Index]; open != nil {
		return false, damaged("a block of type %s has no end", open.kind)
	}
	if r.blocks == nil {
		r.blocks = map[int64]*block{}
	}
	start := event.ContentBlock
	b := &block{kind: start.Type, id: start.ID, name: start.Name, raw: slices.Clone(protocol.RawMessage(start.RawJSON()))}
	r.blocks[event.Index] = b
	switch b.kind {
	case "text":
		return start.Text == "" || yield(model.Chunk{Type: model.Text, Text: start.Text}, nil), nil
	case "thinking":
		b.signature.WriteString(start.Signature)
		return b.think(start.Thinking, yield), nil
	case "tool_use":
		if b.name == "" {
			return false, damaged("a tool call has no name")
		}
	}
	return true, nil
}

func (b *block) piece(d sdk.MessageStreamEventUnionDelta, yield func(model.Chunk, error) bool) bool {
	switch d.Type {
	case "text_delta":
		return d.Text == "" || yield(model.Chunk{Type: model.Text, Text: d.Text}, nil)
	case "thinking_delta":
		return b.think(d.Thinking, yield)
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	case "input_json_delta":
		b.json.WriteString(d.PartialJSON)
	}
	return true
}

// end is the end of the answer, unless something of it is missing.
func (r *responseReader) end(yield func(model.Chunk, error) bool) (bool, error) {
	for _, open := range r.blocks {
		return false, damaged("a block of type %s has no end", open.kind)
	}
	switch {
	case r.reason == "":
		return false, damaged("it does not say why it ended")
	case r.reason == "tool_use" && !r.tools:
		return false, damaged("it ends in a tool call, and there is none")
	}
	r.done = true
	return yield(model.Chunk{Type: model.Finish, Reason: r.finishReason()}, nil), nil
}

func (b *block) think(text string, yield func(model.Chunk, error) bool) bool {
	b.text.WriteString(text)
	return text == "" || yield(model.Chunk{Type: model.Thinking, Text: text}, nil)
}

// endBlock yields the block as a part where it is one. Reasoning is sent back
// whole or not at all, since its signature covers its text: so its part holds both, in
// addition to the text that was streamed.
func (r *responseReader) endBlock(b *block, yield func(model.Chunk, error) bool) bool {
	part := protocol.Part{Type: protocol.PartOpaque, Provider: Provider}
	switch b.kind {
	case "", "text":
		return true
	case "tool_use":
		r.tools = true
		part = protocol.Part{Type: protocol.PartToolCall, ToolCallID: b.id, Name: b.name, Args: b.args()}
	case "thinking":
		if b.signature.Len() == 0 {
			return true
		}
		part.Data, _ = protocol.Marshal(map[string]string{"type": "thinking", "thinking": b.text.String(), "signature": b.signature.String()}) // text always has a JSON form
	default: // redacted_thinking, tools that the server runs, and what later versions add
		var o wire.Object
		o.Merge(b.raw)
		if args := protocol.RawMessage(b.json.String()); jsonspan.Valid(args) {
			o.Merge(protocol.RawMessage(`{"input":` + string(args) + `}`))
		}
		whole, err := protocol.Marshal(&o)
		if err != nil {
			return true // no JSON object: nothing that could be sent back
		}
		part.Data = whole
	}
	return yield(model.Chunk{Type: model.PartDone, Part: part}, nil)
}

// args are the args of a call, also where they are no JSON: the loop says so to
// the model.
func (b *block) args() protocol.RawMessage {
	if text := strings.TrimSpace(b.json.String()); text != "" {
		return protocol.RawMessage(text)
	}
	var began struct {
		Input protocol.RawMessage `json:"input"`
	}
	if wire.Decode(b.raw, &began) == nil && jsonspan.Kind(began.Input) == '{' {
		return began.Input
	}
	return protocol.RawMessage("{}")
}

// recount takes the figures after an answer. They repeat the earlier ones if they are
// given at all; 0 is no news.
func (r *responseReader) recount(u sdk.MessageDeltaUsage, yield func(model.Chunk, error) bool) bool {
	in := inputTokens{
		cmp.Or(u.InputTokens, r.input.fresh), cmp.Or(u.CacheReadInputTokens, r.input.read), cmp.Or(u.CacheCreationInputTokens, r.input.written),
	}
	if !u.JSON.OutputTokens.Valid() {
		return true
	}
	return r.count(in, u.OutputTokens, yield)
}

// count yields the usage. Input is all that the model read, from the cache or
// not.
func (r *responseReader) count(in inputTokens, output int64, yield func(model.Chunk, error) bool) bool {
	r.input = in
	input := in.fresh + in.read + in.written
	context, cached := input+output, in.read
	r.usage = protocol.CallUsage{InputTokens: &input, OutputTokens: &output, CachedTokens: &cached, ContextTokens: &context, ContextMax: r.contextMax}
	u := r.usage
	return yield(model.Chunk{Type: model.Usage, Usage: &u}, nil)
}

func (r *responseReader) finishReason() string {
	switch r.reason {
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "refusal":
		return "filtered"
	}
	if r.tools {
		return "tools"
	}
	return "stop" // end_turn stop_sequence pause_turn
}
