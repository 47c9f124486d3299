package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
	"github.com/hookd-dev/hookd/agentloop/toolschema"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// convert writes a request as the server reads it. What hooks and tools wrote as
// JSON goes through as it is.
func convert(r model.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: sdk.Model(r.Model), MaxTokens: *model.ContextMax(outputs, r.Model)}
	if strings.TrimSpace(r.System) != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	ids := callIDs{}
	ends := []place{{}}
	for _, m := range r.Messages {
		blocks, err := ids.blocks(m.Content, m.Role)
		if err != nil {
			return p, err
		}
		p.Messages = appendMessage(p.Messages, m.Role, blocks)
		ends = append(ends, endOf(p.Messages))
	}
	offered := r.Tools
	if len(offered) == 0 {
		offered = calledBefore(r.Messages)
		if len(offered) > 0 {
			p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
		}
	}
	for _, t := range offered {
		one, err := offer(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: one})
	}
	if err := params(&p, r, ends); err != nil {
		return p, err
	}
	return p, nil
}

// calledBefore are the tools that a conversation has calls of, by name only. A
// server may refuse calls of tools that a request does not declare, and a recipe
// that has no tools reads a conversation full of them: so they are declared, and
// none may be called.
func calledBefore(messages []protocol.Message) []protocol.Tool {
	var tools []protocol.Tool
	for _, m := range messages {
		for _, part := range m.Content {
			known := func(t protocol.Tool) bool { return t.Name == part.Name }
			if part.Type == protocol.PartToolCall && part.Name != "" && !slices.ContainsFunc(tools, known) {
				tools = append(tools, protocol.Tool{Name: part.Name})
			}
		}
	}
	return tools
}

// offer is a tool as the server takes it.
func offer(t protocol.Tool) (*sdk.ToolParam, error) {
	sent, err := toolschema.Adapt(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("the tool %s cannot be offered: %w", t.Name, err)
	}
	sent = toolschema.Without(sent, isKey)
	one := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(sent.Schema))}
	if text := sent.Describe(t.Description); text != "" {
		one.Description = param.NewOpt(text)
	}
	return one, nil
}

// isKey reports whether the server takes a name of a property at the top.
func isKey(name string) bool {
	other := func(r rune) bool {
		return r > 127 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' && r != '-'
	}
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, other)
}

// appendMessage adds a message. The server wants all results of an answer's
// calls, first thing, in the one message after it; so what a user says after results joins
// them.
func appendMessage(list []sdk.MessageParam, role protocol.Role, blocks []sdk.ContentBlockParamUnion) []sdk.MessageParam {
	if len(blocks) == 0 {
		return list
	}
	last := len(list) - 1
	if role == protocol.RoleAssistant {
		if last >= 0 && list[last].OfAssistant != nil {
			list[last].OfAssistant.Content = append(list[last].OfAssistant.Content, blocks...)
			return list
		}
		return append(list, sdk.NewAssistantMessage(blocks...))
	}
	if last >= 0 && list[last].OfUser != nil {
		list[last].OfUser.Content = append(list[last].OfUser.Content, blocks...)
		return list
	}
	return append(list, sdk.NewUserMessage(blocks...))
}

// callIDs gives the ids of calls that another provider made a form that this one
// takes, the same one for a call and its result.
type callIDs map[string]string

func (ids callIDs) of(id string) string {
	good := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	if good == id && id != "" {
		return id
	}
	if ids[id] == "" {
		ids[id] = fmt.Sprintf("call_%d_%s", len(ids)+1, good)
	}
	return ids[id]
}

func (ids callIDs) blocks(content protocol.Content, role protocol.Role) ([]sdk.ContentBlockParamUnion, error) {
	var list []sdk.ContentBlockParamUnion
	for _, p := range content {
		switch p.Type {
		case protocol.PartText:
			if strings.TrimSpace(p.Text) != "" { // the server refuses blank ones
				list = append(list, sdk.NewTextBlock(p.Text))
			}
		case protocol.PartImage:
			image, err := imageOf(p)
			if err != nil {
				return nil, err
			}
			list = append(list, sdk.ContentBlockParamUnion{OfImage: image})
		case protocol.PartToolCall:
			list = append(list, sdk.NewToolUseBlock(ids.of(p.ToolCallID), json.RawMessage(objectOf(p.Args)), p.Name))
		case protocol.PartToolResult:
			result, err := resultOf(p)
			if err != nil {
				return nil, err
			}
			result.ToolUseID = ids.of(p.ToolCallID)
			list = append(list, sdk.ContentBlockParamUnion{OfToolResult: result})
		case protocol.PartOpaque: // reasoning without its signature is not taken
			if p.Provider == Provider && role == protocol.RoleAssistant && jsonspan.Kind(p.Data) == '{' {
				list = append(list, param.Override[sdk.ContentBlockParamUnion](json.RawMessage(p.Data)))
			}
		}
	}
	return list, nil
}

// objectOf is the args of a call, or an object that holds them.
func objectOf(args protocol.RawMessage) protocol.RawMessage {
	if jsonspan.Kind(args) == '{' && json.Valid(args) {
		return args
	}
	whole, _ := protocol.Marshal(map[string]string{"invalid": string(args)}) // text always has a JSON form
	return whole
}

func imageOf(p protocol.Part) (*sdk.ImageBlockParam, error) {
	var data string
	if json.Unmarshal(p.Data, &data) != nil {
		return nil, errors.New("the data of an image is not a string of base64")
	}
	return sdk.NewImageBlockBase64(p.MediaType, data).OfImage, nil
}

func resultOf(p protocol.Part) (*sdk.ToolResultBlockParam, error) {
	result := &sdk.ToolResultBlockParam{}
	if p.IsError {
		result.IsError = param.NewOpt(true)
	}
	for _, inner := range p.Content {
		switch {
		case inner.Type == protocol.PartText && strings.TrimSpace(inner.Text) != "":
			result.Content = append(result.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: inner.Text}})
		case inner.Type == protocol.PartImage:
			image, err := imageOf(inner)
			if err != nil {
				return nil, err
			}
			result.Content = append(result.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image})
		}
	}
	return result, nil
}

// params adds the parameters. Members that this version does not know pass
// through as they are, and count before ours; null takes one away.
func params(p *sdk.MessageNewParams, r model.Request, ends []place) error {
	given := r.Params
	if given.MaxTokens != nil {
		p.MaxTokens = *given.MaxTokens
	}
	p.StopSequences = given.Stop
	if len(r.Tools) > 0 {
		if choice := toolChoice(given.ToolChoice); choice != nil {
			p.ToolChoice = param.Override[sdk.ToolChoiceUnionParam](json.RawMessage(choice))
		}
	}
	if err := thinking(p, given); err != nil {
		return err
	}
	extra := map[string]any{}
	if given.Temperature != nil { // older models take it; the SDK has no member for it any more
		extra["temperature"] = *given.Temperature
	}
	if given.TopP != nil {
		extra["top_p"] = *given.TopP
	}
	members, err := wire.Members(protocol.RawMessage(given.Provider))
	if err != nil {
		return fmt.Errorf("params: %w", err)
	}
	for _, m := range members {
		extra[m.Name] = m.Value
		if jsonspan.IsNull(m.Value) {
			extra[m.Name] = param.Omit
		}
	}
	if _, theirs := extra["cache_control"]; !theirs {
		cacheConversation(p, r, ends)
	}
	if len(extra) > 0 {
		p.SetExtraFields(extra)
	}
	return nil
}

// toolChoice writes auto, none, required (any) and the name of a tool as the
// server wants it; what has its form already goes through.
func toolChoice(choice protocol.RawMessage) protocol.RawMessage {
	var o struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	switch jsonspan.Kind(choice) {
	case '"':
		if wire.Decode(choice, &o.Type) != nil {
			return choice
		}
		if o.Type == "required" {
			o.Type = "any"
		}
	case '{':
		if wire.Decode(choice, &o) != nil || o.Type != "" && o.Type != "function" {
			return choice
		}
		o.Type = "tool"
	default:
		return nil
	}
	out := map[string]string{"type": o.Type}
	if o.Name != "" {
		out["name"] = o.Name
	}
	whole, _ := protocol.Marshal(out) // text always has a JSON form
	return whole
}

// thinking writes the server's own object as it is, false as disabled, true as
// adaptive, and a number as a budget in tokens, for which max_tokens leaves
// room.
func thinking(p *sdk.MessageNewParams, given protocol.Params) error {
	value := given.Thinking
	var budget struct {
		Tokens int64 `json:"budget_tokens"`
	}
	switch jsonspan.Kind(value) {
	case 0, 'n':
		return nil
	case '{':
		_ = wire.Decode(value, &budget) // the server says what is wrong with it
	case 'f':
		value = protocol.RawMessage(`{"type":"disabled"}`)
	case 't':
		value = protocol.RawMessage(`{"type":"adaptive"}`)
	case '0':
		if wire.Decode(value, &budget.Tokens) != nil {
			return fmt.Errorf("params.thinking: %s is not a number of tokens", value)
		}
		value = fmt.Appendf(nil, `{"type":"enabled","budget_tokens":%d}`, budget.Tokens)
	default:
		return fmt.Errorf("params.thinking: %s is not an object, a number of tokens, true or false", value)
	}
	p.Thinking = param.Override[sdk.ThinkingConfigParamUnion](json.RawMessage(value))
	if given.MaxTokens == nil && budget.Tokens >= p.MaxTokens && budget.Tokens < 1<<30 {
		p.MaxTokens += budget.Tokens
	}
	return nil
}

// Provider is what the opaque parts of this model name: reasoning with its
// signature, which only this provider can read.
const Provider = "anthropic"

// outputs are the output tokens that a call may have where params do not say:
// the interface wants a number, and refuses one that is over the model's limit.
var outputs = []model.Window{
	{Prefix: "", Tokens: 8192}, {Prefix: "claude-", Tokens: 32_000},
	{Prefix: "claude-3", Tokens: 4096}, {Prefix: "claude-3-5", Tokens: 8192}, {Prefix: "claude-3-7", Tokens: 32_000},
}
