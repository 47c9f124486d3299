package agentloop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// assembly puts a streamed answer together. Each stretch of text and of
// reasoning is a block, with a notice at its beginning and its end; the pieces
// between go to the channel only.
type assembly struct {
	run     *Run
	ctx     context.Context
	message protocol.Message
	block   model.ChunkType // open block: model.Text, model.Thinking or ""
	text    strings.Builder // of the open block
	usage   *protocol.CallUsage
	finish  string
	begun   bool // the model has answered something
	size    int  // bytes of the answer so far
	badArgs map[string]error
}

// stream takes a model's answer. A block that a failure cuts is closed.
func (a *assembly) stream(chunks iter.Seq2[model.Chunk, error]) error {
	for chunk, err := range chunks {
		if err == nil {
			err = a.add(chunk)
		} else if a.ctx.Err() == nil {
			err = &ending{cause: "model", message: fmt.Sprintf("the model failed: %v", err), err: err}
		}
		if err != nil {
			a.closeBlock()
			return cmp.Or(context.Cause(a.ctx), err)
		}
	}
	a.closeBlock()
	switch {
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case a.finish == "":
		return &ending{cause: "model", message: "the model's answer was cut off", err: errors.New("no finish reason")}
	}
	return nil
}

// take takes the answer of a hook in the model's place, as if it had streamed.
func (a *assembly) take(response protocol.Response) error {
	for _, part := range response.Message.Content {
		chunk := model.Chunk{Type: model.PartDone, Part: part}
		switch part.Type {
		case protocol.PartText:
			chunk = model.Chunk{Type: model.Text, Text: part.Text}
		case protocol.PartThinking:
			chunk = model.Chunk{Type: model.Thinking, Text: part.Text}
		}
		if err := a.add(chunk); err != nil {
			return err
		}
	}
	a.closeBlock()
	a.finish = response.FinishReason
	if a.finish == "" {
		a.finish = "stop"
		if kindOf(a.message) == "tools" {
			a.finish = "tools"
		}
	}
	return context.Cause(a.ctx)
}

func (a *assembly) add(chunk model.Chunk) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	a.begun = true
	if err := a.count(&chunk); err != nil {
		return err
	}
	switch chunk.Type {
	case model.Text, model.Thinking:
		if chunk.Text == "" {
			return nil
		}
		if a.block != chunk.Type {
			a.closeBlock()
			if err := a.openBlock(chunk.Type); err != nil {
				return err
			}
		}
		a.text.WriteString(chunk.Text)
		a.run.yield(a.ctx, Yield{Kind: YieldDelta, Delta: Delta{
			MessageID: a.message.ID, Thinking: chunk.Type == model.Thinking, Text: chunk.Text,
		}})
	case model.PartDone:
		a.closeBlock()
		a.message.Content = append(a.message.Content, chunk.Part)
	case model.Usage:
		a.usage = chunk.Usage
	case model.Finish:
		a.finish = chunk.Reason
	}
	return nil
}

// Bounds of one answer. The largest that models give is below a tenth of it.
const (
	maxAnswer = 16 << 20 // bytes
	maxParts  = 4096     // stretches of text and calls
)

// count holds an answer within its bounds: a server that never ends is no reason
// to run out of memory.
func (a *assembly) count(chunk *model.Chunk) error {
	a.size += len(chunk.Text) + len(chunk.Part.Text) + len(chunk.Part.Args) + len(chunk.Part.Data) + len(chunk.Part.Name) + len(chunk.Part.ToolCallID)
	switch {
	case a.size > maxAnswer:
		return &ending{cause: "model", message: fmt.Sprintf("the model's answer is larger than %d MiB and was not read to its end", maxAnswer>>20), err: errTooMuch}
	case len(a.message.Content) >= maxParts:
		return &ending{cause: "model", message: fmt.Sprintf("the model's answer has more than %d parts and was not read to its end", maxParts), err: errTooMuch}
	}
	return nil
}

var errTooMuch = errors.New("the answer is too large")

func (a *assembly) openBlock(kind model.ChunkType) error {
	name := protocol.MessageStart
	if kind == model.Thinking {
		name = protocol.ThinkingStart
	}
	_, err := a.run.fire(a.ctx, name, protocol.DeltaStartData{Role: "assistant", MessageID: a.message.ID})
	if !errors.As(err, new(unfired)) {
		a.block = kind // hooks heard of the beginning, so they hear of the end
	}
	return err
}

func (a *assembly) closeBlock() {
	if a.block == "" {
		return
	}
	name, part := protocol.MessageEnd, protocol.Part{Type: protocol.PartText, Text: a.text.String()}
	if a.block == model.Thinking {
		name, part.Type = protocol.ThinkingEnd, protocol.PartThinking
	}
	a.block = ""
	a.text.Reset()
	a.message.Content = append(a.message.Content, part)
	a.run.fire(a.run.after(a.ctx), name, protocol.DeltaEndData{Role: "assistant", MessageID: a.message.ID, Content: part.Text})
}

// mendAnswer mends the calls of an answer, and tells which of them cannot run. An answer
// that ended early may have lost the args of its last call: an empty object is then not
// what the model asked for, and many a tool takes it for everything.
func (l *Loop) mendAnswer(message *protocol.Message, finish string) map[string]error {
	bad := l.mendCalls(message)
	if finish != "length" && finish != "filtered" || len(message.Content) == 0 {
		return bad
	}
	last := message.Content[len(message.Content)-1]
	if last.Type == protocol.PartToolCall && isEmpty(last.Args) {
		bad[last.ToolCallID] = errors.New("the answer ended before the args of this call: call again, with all of its args")
	}
	return bad
}

func isEmpty(object protocol.RawMessage) bool {
	empty := true
	return protocol.Members(object, func(string, protocol.RawMessage) { empty = false }) && empty
}

// mendCalls gives each tool call of a message an id of its own in the
// conversation, by which its result is paired with it, and args that are a JSON
// object. It returns, by id, what was wrong with the args of those that were
// none: hooks see the text, and may repair it.
func (l *Loop) mendCalls(message *protocol.Message) map[string]error {
	taken := map[string]bool{}
	for _, earlier := range l.messages {
		for _, call := range calls(earlier) {
			taken[call.ToolCallID] = true
		}
	}
	bad := map[string]error{}
	next := map[string]int{} // of calls with one id
	for i := range message.Content {
		part := &message.Content[i]
		if part.Type != protocol.PartToolCall {
			continue
		}
		given := cmp.Or(part.ToolCallID, "call")
		id := given
		for n := max(2, next[given]); taken[id]; n++ {
			id, next[given] = fmt.Sprintf("%s-%d", given, n), n+1
		}
		part.ToolCallID = id
		taken[id] = true
		if err := mendArgs(part); err != nil {
			bad[id] = err
		}
	}
	return bad
}

func mendArgs(part *protocol.Part) (err error) {
	if len(part.Args) == 0 {
		part.Args = protocol.RawMessage("{}")
	}
	args := slices.Clone(part.Args)
	// Half a surrogate pair becomes U+FFFD; anything else must be right.
	if jsonspan.IsValid(args) || (*jsontext.Value)(&args).Format(jsontext.AllowInvalidUTF8(true)) == nil {
		if jsonspan.Kind(args) == '{' {
			part.Args = args
			return nil
		}
	}
	err = fmt.Errorf("the args are not a JSON object: %.200s", part.Args)
	part.Args, _ = protocol.Marshal(map[string]string{"invalid": string(part.Args)}) // text always has a JSON form
	return err
}
