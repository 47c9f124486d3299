package openai

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
	"github.com/hookd-dev/hookd/agentloop/toolschema"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// message is one message as the server reads it.
type message struct {
	Role       string `json:"role"`
	Content    any    `json:"content"` // string, []piece or nil
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type piece struct {
	Type     string    `json:"type"` // text image_url
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // function
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type offer struct {
	Type     string `json:"type"` // function
	Function struct {
		Name        string              `json:"name"`
		Description string              `json:"description,omitempty"`
		Parameters  protocol.RawMessage `json:"parameters,omitzero"`
	} `json:"function"`
}

// body is the request as the server reads it.
func (m *Model) body(r model.Request) ([]byte, error) {
	var o wire.Object
	name := r.Model
	if name == "" {
		name = m.options.Model
	}
	o.Set("model", name)
	messages, err := convert(r.System, r.Messages)
	if err != nil {
		return nil, err
	}
	o.Set("messages", messages)
	if len(r.Tools) > 0 {
		list, err := offers(r.Tools)
		if err != nil {
			return nil, err
		}
		o.Set("tools", list)
	}
	o.Set("stream", true)
	o.Set("stream_options", map[string]bool{"include_usage": true})
	if err := m.params(&o, r); err != nil {
		return nil, err
	}
	return protocol.Marshal(&o)
}

// params adds the parameters. Members that this version does not know pass
// through as they are; null takes one away that is sent otherwise
// (stream_options, for a server that refuses it).
func (m *Model) params(o *wire.Object, r model.Request) error {
	p := r.Params
	if p.MaxTokens != nil {
		// The newer name is the only one that OpenAI's reasoning models take, and
		// the older one the only one that many other servers know.
		name := "max_tokens"
		if m.forOpenAI() {
			name = "max_completion_tokens"
		}
		o.Set(name, *p.MaxTokens)
	}
	if p.Temperature != nil {
		o.Set("temperature", *p.Temperature)
	}
	if p.TopP != nil {
		o.Set("top_p", *p.TopP)
	}
	if len(p.Stop) > 0 {
		o.Set("stop", p.Stop)
	}
	if choice := p.ToolChoice; len(choice) > 0 && len(r.Tools) > 0 {
		o.Set("tool_choice", toolChoice(choice))
	}
	switch jsonspan.Kind(p.Thinking) {
	case 0, 'n':
	case '"': // low medium high
		o.Set("reasoning_effort", p.Thinking)
	default:
		o.Set("thinking", p.Thinking) // as several compatible servers call it
	}
	o.Merge(protocol.RawMessage(p.Provider))
	return nil
}

// toolChoice writes the name of a tool as the server wants it. Words (auto none
// required) and anything else are its own.
func toolChoice(choice protocol.RawMessage) any {
	var object struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	if jsonspan.Kind(choice) == '"' {
		if json.Unmarshal(choice, &object.Name) == nil && object.Name == "any" {
			return "required"
		}
		return choice
	}
	if jsonspan.Kind(choice) == '{' && json.Unmarshal(choice, &object, wire.Loose) == nil && object.Name != "" && object.Type != "allowed_tools" {
		return map[string]any{"type": "function", "function": map[string]string{"name": object.Name}}
	}
	return choice
}

func offers(tools []protocol.Tool) ([]offer, error) {
	list := make([]offer, len(tools))
	for i, t := range tools {
		sent, err := toolschema.Adapt(t.Schema)
		if err != nil {
			return nil, fmt.Errorf("the tool %s cannot be offered: %w", t.Name, err)
		}
		list[i].Type = "function"
		list[i].Function.Name, list[i].Function.Description, list[i].Function.Parameters = t.Name, sent.Describe(t.Description), sent.Schema
	}
	return list, nil
}

// convert writes a conversation as the server reads it.
func convert(system string, messages []protocol.Message) ([]message, error) {
	var list []message
	if system != "" {
		list = append(list, message{Role: "system", Content: system})
	}
	for _, m := range messages {
		var err error
		switch m.Role {
		case protocol.RoleAssistant:
			list = appendAnswer(list, m)
		case protocol.RoleUser, protocol.RoleTool:
			list, err = appendAsked(list, m)
		default:
			err = fmt.Errorf("a message has the role %q", m.Role)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// appendAnswer adds what the model said. What it thought, and what only another
// provider can read, stays away.
func appendAnswer(list []message, m protocol.Message) []message {
	out := message{Role: "assistant"}
	var text strings.Builder
	for _, p := range m.Content {
		switch p.Type {
		case protocol.PartText:
			text.WriteString(p.Text)
		case protocol.PartToolCall:
			out.ToolCalls = append(out.ToolCalls, call{ID: p.ToolCallID, Type: "function", Function: function{Name: p.Name, Arguments: string(p.Args)}})
		}
	}
	if text.Len() > 0 {
		out.Content = text.String()
	}
	if out.Content == nil && out.ToolCalls == nil {
		return list // nothing is left that this server could read
	}
	return append(list, out)
}

// appendAsked adds a message of the user or the results of tools. A result is a
// message of its own that holds text only; its images follow all results in a
// message of the user, since nothing may stand between the results of one answer.
func appendAsked(list []message, m protocol.Message) ([]message, error) {
	var pieces []piece
	for _, p := range m.Content {
		if p.Type != protocol.PartToolResult {
			more, err := pieceOf(p)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, more...)
			continue
		}
		var text []string
		for _, inner := range p.Content {
			more, err := pieceOf(inner)
			if err != nil {
				return nil, err
			}
			for _, one := range more {
				if one.Type == "text" {
					text = append(text, one.Text)
					continue
				}
				text = append(text, "(an image; it follows)")
				pieces = append(pieces, piece{Type: "text", Text: "The image of the result of " + p.ToolCallID + ":"}, one)
			}
		}
		list = append(list, message{Role: "tool", Content: strings.Join(text, "\n"), ToolCallID: p.ToolCallID})
	}
	return appendPieces(list, pieces), nil
}

// appendPieces adds a message of the user; plain text is a string, which is all
// that some servers read.
func appendPieces(list []message, pieces []piece) []message {
	if len(pieces) == 0 {
		return list
	}
	var text []string
	for _, p := range pieces {
		if p.Type != "text" {
			return append(list, message{Role: "user", Content: pieces})
		}
		text = append(text, p.Text)
	}
	return append(list, message{Role: "user", Content: strings.Join(text, "\n\n")})
}

func pieceOf(p protocol.Part) ([]piece, error) {
	switch {
	case p.Type == protocol.PartText && p.Text != "":
		return []piece{{Type: "text", Text: p.Text}}, nil
	case p.Type == protocol.PartImage:
		var data string
		if json.Unmarshal(p.Data, &data) != nil {
			return nil, errors.New("the data of an image is not a string of base64")
		}
		return []piece{{Type: "image_url", ImageURL: &imageURL{URL: "data:" + p.MediaType + ";base64," + data}}}, nil
	}
	return nil, nil
}
