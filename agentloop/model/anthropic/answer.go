package anthropic

import (
	"cmp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
	"github.com/hookd-dev/hookd/protocol"
)

// answer puts the events of a streamed answer together. Blocks come one after
// the other, each with a beginning, pieces and an end.
type answer struct {
	contextMax *int64
	block      block
	tools      bool
	reason     string
	usage      protocol.CallUsage
	input      inputTokens
	begun      bool // some event came
	done       bool // message_stop came
}

type block struct {
	kind      string
	id, name  string
	raw       jsontext.Value // as it began
	text      strings.Builder
	signature strings.Builder
	json      strings.Builder
}

// inputTokens are the tokens of the input: new, read from the cache, and
// written to it. None of them is counted in another.
type inputTokens struct{ fresh, read, written int64 }

// take takes one event. It reports whether anybody reads on.
func (a *answer) take(event sdk.MessageStreamEventUnion, yield func(model.Chunk, error) bool) bool {
	a.begun = true
	switch event.Type {
	case "message_start":
		u := event.Message.Usage
		if u.JSON.InputTokens.Valid() {
			return a.count(inputTokens{u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens}, u.OutputTokens, yield)
		}
	case "content_block_start":
		b := event.ContentBlock
		a.block = block{kind: b.Type, id: b.ID, name: b.Name, raw: jsontext.Value(b.RawJSON()).Clone()}
		switch b.Type {
		case "text":
			return b.Text == "" || yield(model.Chunk{Type: model.Text, Text: b.Text}, nil)
		case "thinking":
			a.block.signature.WriteString(b.Signature)
			return a.think(b.Thinking, yield)
		}
	case "content_block_delta":
		return a.piece(event.Delta, yield)
	case "content_block_stop":
		return a.endBlock(yield)
	case "message_delta":
		a.reason = cmp.Or(string(event.Delta.StopReason), a.reason)
		return a.recount(event.Usage, yield)
	case "message_stop":
		a.done = true
		return yield(model.Chunk{Type: model.Finish, Reason: a.finishReason()}, nil)
	}
	return true // ping, and what later versions add
}

func (a *answer) piece(d sdk.MessageStreamEventUnionDelta, yield func(model.Chunk, error) bool) bool {
	switch d.Type {
	case "text_delta":
		return d.Text == "" || yield(model.Chunk{Type: model.Text, Text: d.Text}, nil)
	case "thinking_delta":
		return a.think(d.Thinking, yield)
	case "signature_delta":
		a.block.signature.WriteString(d.Signature)
	case "input_json_delta":
		a.block.json.WriteString(d.PartialJSON)
	}
	return true
}

func (a *answer) think(text string, yield func(model.Chunk, error) bool) bool {
	a.block.text.WriteString(text)
	return text == "" || yield(model.Chunk{Type: model.Thinking, Text: text}, nil)
}

// endBlock yields the block as a part where it is one. Reasoning is sent back
// whole or not at all, since its signature covers its text: so its part holds
// both, beside the text that was streamed.
func (a *answer) endBlock(yield func(model.Chunk, error) bool) bool {
	b := &a.block
	defer func() { a.block = block{} }()
	part := protocol.Part{Type: protocol.PartOpaque, Provider: Provider}
	switch b.kind {
	case "", "text":
		return true
	case "tool_use":
		a.tools = true
		part = protocol.Part{Type: protocol.PartToolCall, ToolCallID: b.id, Name: b.name, Args: b.args()}
	case "thinking":
		if b.signature.Len() == 0 {
			return true
		}
		part.Data, _ = protocol.Marshal(map[string]string{"type": "thinking", "thinking": b.text.String(), "signature": b.signature.String()}) // text always has a JSON form
	default: // redacted_thinking, tools that the server runs, and what later versions add
		var o wire.Object
		o.Merge(b.raw)
		if args := jsontext.Value(b.json.String()); args.IsValid() {
			o.Merge(jsontext.Value(`{"input":` + string(args) + `}`))
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
func (b *block) args() jsontext.Value {
	if text := strings.TrimSpace(b.json.String()); text != "" {
		return jsontext.Value(text)
	}
	var began struct {
		Input jsontext.Value `json:"input"`
	}
	if wire.Decode(b.raw, &began) == nil && began.Input.Kind() == '{' {
		return began.Input
	}
	return jsontext.Value("{}")
}

// recount takes the figures behind an answer. They repeat those before it where
// they are given at all; 0 is no news.
func (a *answer) recount(u sdk.MessageDeltaUsage, yield func(model.Chunk, error) bool) bool {
	in := inputTokens{
		cmp.Or(u.InputTokens, a.input.fresh), cmp.Or(u.CacheReadInputTokens, a.input.read), cmp.Or(u.CacheCreationInputTokens, a.input.written),
	}
	if !u.JSON.OutputTokens.Valid() {
		return true
	}
	return a.count(in, u.OutputTokens, yield)
}

// count yields the usage. Input is all that the model read, from the cache or
// not.
func (a *answer) count(in inputTokens, output int64, yield func(model.Chunk, error) bool) bool {
	a.input = in
	input := in.fresh + in.read + in.written
	context, cached := input+output, in.read
	a.usage = protocol.CallUsage{InputTokens: &input, OutputTokens: &output, CachedTokens: &cached, ContextTokens: &context, ContextMax: a.contextMax}
	u := a.usage
	return yield(model.Chunk{Type: model.Usage, Usage: &u}, nil)
}

func (a *answer) finishReason() string {
	switch a.reason {
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "refusal":
		return "filtered"
	}
	if a.tools {
		return "tools"
	}
	return "stop" // end_turn stop_sequence pause_turn
}
