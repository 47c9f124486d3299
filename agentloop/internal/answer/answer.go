package answer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// Listener is told of the blocks of an answer while it streams.
type Listener interface {
	// BeginBlock reports whether the block is open, so that EndBlock follows. After an
	// error the answer is over.
	BeginBlock(ctx context.Context, thinking bool) (open bool, err error)
	Delta(ctx context.Context, thinking bool, text string)
	EndBlock(ctx context.Context, thinking bool, text string)
}

// Answer is an answer so far.
type Answer struct {
	Message protocol.Message
	Usage   *protocol.CallUsage // nil: not reported
	Finish  string              // stop tools length filtered error; "" before the end
	Begun   bool                // the model has answered something

	listener Listener
	block    model.ChunkType // open block: model.Text, model.Thinking or ""
	text     strings.Builder // of the open block
	size     int             // bytes so far
}

// New returns an empty answer.
func New(listener Listener) *Answer {
	return &Answer{Message: protocol.Message{ID: protocol.NewID(), Role: protocol.RoleAssistant}, listener: listener}
}

// Failure is the model's failure to answer.
type Failure struct {
	text string
	err  error
}

func (f *Failure) Error() string { return f.text }
func (f *Failure) Unwrap() error { return f.err }

// Stream reads a model's answer. A block that a failure cuts is closed. The error is the
// cause of ctx if that has ended, a [Failure] if the model failed, or the listener's.
func (a *Answer) Stream(ctx context.Context, chunks iter.Seq2[model.Chunk, error]) error {
	for chunk, err := range chunks {
		if err == nil {
			err = a.add(ctx, chunk)
		} else if ctx.Err() == nil {
			err = &Failure{fmt.Sprintf("the model failed: %v", err), err}
		}
		if err != nil {
			a.endBlock(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
	}
	a.endBlock(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case a.Finish == "":
		return &Failure{"the model's answer was cut off", errors.New("no finish reason")}
	}
	return nil
}

// AddResponse takes a whole answer, as if it had streamed.
func (a *Answer) AddResponse(ctx context.Context, response protocol.Response) error {
	for _, part := range response.Message.Content {
		chunk := model.Chunk{Type: model.PartDone, Part: part}
		switch part.Type {
		case protocol.PartText:
			chunk = model.Chunk{Type: model.Text, Text: part.Text}
		case protocol.PartThinking:
			chunk = model.Chunk{Type: model.Thinking, Text: part.Text}
		}
		if err := a.add(ctx, chunk); err != nil {
			return err
		}
	}
	a.endBlock(ctx)
	a.Finish = response.FinishReason
	if a.Finish == "" {
		a.Finish = "stop"
		if Kind(a.Message) == "tools" {
			a.Finish = "tools"
		}
	}
	return context.Cause(ctx)
}

// Kind returns what an answer is: "tools" if it calls any, else "final".
func Kind(message protocol.Message) string {
	for _, part := range message.Content {
		if part.Type == protocol.PartToolCall {
			return "tools"
		}
	}
	return "final"
}

func (a *Answer) add(ctx context.Context, chunk model.Chunk) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.Begun = true
	if err := a.checkSize(&chunk); err != nil {
		return err
	}
	switch chunk.Type {
	case model.Text, model.Thinking:
		if chunk.Text == "" {
			return nil
		}
		if err := a.beginBlock(ctx, chunk.Type); err != nil {
			return err
		}
		a.text.WriteString(chunk.Text)
		a.listener.Delta(ctx, chunk.Type == model.Thinking, chunk.Text)
	case model.PartDone:
		a.endBlock(ctx)
		a.Message.Content = append(a.Message.Content, chunk.Part)
	case model.Usage:
		a.Usage = chunk.Usage
	case model.Finish:
		a.Finish = chunk.Reason
	}
	return nil
}

func (a *Answer) beginBlock(ctx context.Context, kind model.ChunkType) error {
	if a.block == kind {
		return nil
	}
	a.endBlock(ctx)
	open, err := a.listener.BeginBlock(ctx, kind == model.Thinking)
	if open {
		a.block = kind
	}
	return err
}

func (a *Answer) endBlock(ctx context.Context) {
	if a.block == "" {
		return
	}
	part := protocol.Part{Type: protocol.PartText, Text: a.text.String()}
	if a.block == model.Thinking {
		part.Type = protocol.PartThinking
	}
	a.block = ""
	a.text.Reset()
	a.Message.Content = append(a.Message.Content, part)
	a.listener.EndBlock(ctx, part.Type == protocol.PartThinking, part.Text)
}

// Bounds of one answer. The largest that models give is below a tenth of it.
const (
	maxSize  = 16 << 20 // bytes
	maxParts = 4096     // stretches of text and calls
)

var errTooLarge = errors.New("the answer is too large")

func (a *Answer) checkSize(chunk *model.Chunk) error {
	a.size += len(chunk.Text) + len(chunk.Part.Text) + len(chunk.Part.Args) + len(chunk.Part.Data) + len(chunk.Part.Name) + len(chunk.Part.ToolCallID)
	switch {
	case a.size > maxSize:
		return &Failure{fmt.Sprintf("the model's answer is larger than %d MiB and was not read to its end", maxSize>>20), errTooLarge}
	case len(a.Message.Content) >= maxParts:
		return &Failure{fmt.Sprintf("the model's answer has more than %d parts and was not read to its end", maxParts), errTooLarge}
	}
	return nil
}
