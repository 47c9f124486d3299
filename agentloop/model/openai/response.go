package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// responseReader puts the pieces of a streamed answer together.
type responseReader struct {
	model      *Model
	contextMax *int64
	calls      []*toolCallDraft
	finish     string
	refused    bool
	usage      *protocol.CallUsage
}

// toolCallDraft is a tool call of which only pieces came so far.
type toolCallDraft struct {
	index    *int
	id, name string
	args     strings.Builder
}

// delta is one event of the stream, as far as it is read. Members whose type
// differs between servers are raw.
type delta struct {
	Error   protocol.RawMessage `json:"error"`
	Object  protocol.RawMessage `json:"object"`
	Usage   *usage              `json:"usage"`
	Choices []struct {
		Index        int    `json:"index"`
		FinishReason string `json:"finish_reason"`
		Delta        struct {
			Content          protocol.RawMessage `json:"content"`
			Refusal          string              `json:"refusal"`
			ReasoningContent string              `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
			Reasoning        protocol.RawMessage `json:"reasoning"`         // Ollama, OpenRouter, newer vLLM
			ToolCalls        []callPiece         `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

type callPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string              `json:"name"`
		Arguments protocol.RawMessage `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens        *int64 `json:"prompt_tokens"`
	CompletionTokens    *int64 `json:"completion_tokens"`
	PromptTokensDetails *struct {
		CachedTokens *int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	PromptCacheHitTokens *int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// read reads the stream to its end: [DONE], or the end of the connection, after
// a finish reason.
func (r *responseReader) read(response *http.Response, yield func(model.Chunk, error) bool) error {
	done, events := false, 0
	for event, err := range wire.Events(response.Body) {
		if err != nil {
			// After the finish reason only usage can be missing.
			if failed := new(model.Error); errors.As(err, &failed) && r.finish != "" {
				break
			}
			return err
		}
		if done = strings.TrimSpace(string(event.Data)) == "[DONE]"; done {
			break
		}
		events++
		goOn, err := r.take(response.Header, event, yield)
		if err != nil || !goOn {
			return err
		}
	}
	switch {
	case response.Request.Context().Err() != nil && r.finish == "" && !done:
		return context.Cause(response.Request.Context())
	case r.finish == "" && events == 0:
		return &model.Error{Retryable: true, Err: errors.New("openai: the server answered with no event at all; is agent.baseUrl right?")}
	case r.finish == "" && !done:
		return &model.Error{Retryable: true, Err: errors.New("openai: the answer was cut off: the stream ended without a finish reason")}
	}
	if err := r.damage(); err != nil {
		return err
	}
	return r.end(yield)
}

// take takes one event. It reports whether anybody reads on.
func (r *responseReader) take(header http.Header, event wire.Event, yield func(model.Chunk, error) bool) (bool, error) {
	data := event.Data
	if strings.TrimSpace(string(data)) == "" {
		return true, nil
	}
	var d delta
	if err := json.Unmarshal(data, &d, wire.Loose); err != nil {
		return false, &model.Error{Retryable: true, Err: fmt.Errorf("openai: the server sent an event that cannot be read: %s", text.Shorten(string(data), 200))}
	}
	if k := jsonspan.Kind(d.Error); k == '{' || k == '"' || string(d.Object) == `"error"` || event.Name == "error" {
		return false, r.model.client.Refusal(http.StatusOK, header, "", data)
	}
	if d.Usage != nil && d.Usage.PromptTokens != nil {
		r.usage = d.Usage.figures(r.contextMax)
	}
	for _, choice := range d.Choices {
		if choice.Index != 0 {
			continue // params asked for several answers; a conversation has one
		}
		thought := cmp.Or(choice.Delta.ReasoningContent, plainText(choice.Delta.Reasoning))
		if thought != "" && !yield(model.Chunk{Type: model.Thinking, Text: thought}, nil) {
			return false, nil
		}
		r.refused = r.refused || choice.Delta.Refusal != ""
		said := plainText(choice.Delta.Content) + choice.Delta.Refusal
		if said != "" && !yield(model.Chunk{Type: model.Text, Text: said}, nil) {
			return false, nil
		}
		for _, piece := range choice.Delta.ToolCalls {
			r.gather(piece)
		}
		if len(r.calls) > maxCalls {
			return false, &model.Error{Err: fmt.Errorf("openai: the answer has more than %d tool calls", maxCalls)}
		}
		r.finish = cmp.Or(choice.FinishReason, r.finish)
	}
	return true, nil
}

// maxCalls bounds the tool calls of one answer: each piece is looked for among them.
const maxCalls = 1024

// gather adds a piece of a tool call to its call: by index; for servers without
// one, or with the same for all, a new id begins a new call.
func (r *responseReader) gather(piece callPiece) {
	var g *toolCallDraft
	for _, known := range r.calls {
		if known.index != nil && piece.Index != nil && *known.index == *piece.Index {
			g = known
		}
	}
	if g == nil && piece.Index == nil && piece.ID == "" && piece.Function.Name == "" && len(r.calls) > 0 {
		g = r.calls[len(r.calls)-1]
	}
	if g == nil && piece.Index == nil && piece.ID != "" {
		for _, known := range r.calls {
			if known.id == piece.ID {
				g = known
			}
		}
	}
	if g == nil || piece.ID != "" && g.id != "" && piece.ID != g.id {
		g = &toolCallDraft{index: piece.Index}
		r.calls = append(r.calls, g)
	}
	g.id = cmp.Or(g.id, piece.ID)
	g.name = cmp.Or(g.name, piece.Function.Name)
	switch args := piece.Function.Arguments; jsonspan.Kind(args) {
	case '"':
		g.args.WriteString(plainText(args))
	case '{':
		g.args.Write(args) // some servers send the object itself
	}
}

// damage is what is missing of an answer that ended as it should. What is left of
// it may look whole and is not: another try is worth more.
func (r *responseReader) damage() error {
	missing := ""
	if len(r.calls) == 0 && (r.finish == "tool_calls" || r.finish == "function_call") {
		missing = "it ends in a tool call, and there is none"
	}
	for i, g := range r.calls {
		isLast := i == len(r.calls)-1
		switch args := strings.TrimSpace(g.args.String()); {
		case g.name == "":
			missing = "a tool call has no name"
		case r.finish == "" && (args != "" || isLast) && !jsonspan.Valid(protocol.RawMessage(args)):
			missing = "a tool call ends in the middle"
		}
	}
	if missing == "" {
		return nil
	}
	return &model.Error{Retryable: true, Err: errors.New("openai: the answer is damaged: " + missing)}
}

// end yields what is known only at the end.
func (r *responseReader) end(yield func(model.Chunk, error) bool) error {
	for _, g := range r.calls {
		part := protocol.Part{Type: protocol.PartToolCall, ToolCallID: g.id, Name: g.name, Args: protocol.RawMessage(g.args.String())}
		if strings.TrimSpace(g.args.String()) == "" {
			part.Args = protocol.RawMessage("{}")
		}
		if !yield(model.Chunk{Type: model.PartDone, Part: part}, nil) {
			return nil
		}
	}
	if r.usage != nil && !yield(model.Chunk{Type: model.Usage, Usage: r.usage}, nil) {
		return nil
	}
	yield(model.Chunk{Type: model.Finish, Reason: r.reason()}, nil)
	return nil
}

func (r *responseReader) reason() string {
	switch {
	case r.finish == "length":
		return "length"
	case r.finish == "content_filter", r.refused:
		return "filtered"
	case r.finish == "error", r.finish == "abort":
		return "error"
	case len(r.calls) > 0:
		return "tools" // several servers say stop
	default:
		return "stop"
	}
}

func (u *usage) figures(max *int64) *protocol.CallUsage {
	figures := &protocol.CallUsage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens, CachedTokens: u.PromptCacheHitTokens}
	if d := u.PromptTokensDetails; d != nil && d.CachedTokens != nil {
		figures.CachedTokens = d.CachedTokens
	}
	figures.ContextMax = max
	if u.CompletionTokens != nil {
		used := *u.PromptTokens + *u.CompletionTokens
		figures.ContextTokens = &used
	}
	return figures
}

// plainText returns a string, or the text of a list of parts, as some servers write
// content.
func plainText(value protocol.RawMessage) string {
	var s string
	var parts []struct {
		Text string `json:"text"`
	}
	switch jsonspan.Kind(value) {
	case '"':
		_ = json.Unmarshal(value, &s, wire.Loose) // the decoder has read it already
	case '[':
		if json.Unmarshal(value, &parts, wire.Loose) == nil {
			for _, p := range parts {
				s += p.Text
			}
		}
	}
	return s
}
