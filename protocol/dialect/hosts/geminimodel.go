package hosts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// Gemini CLI shows hooks a model call as texts: of a request the messages with what was
// said, of a response the text of each piece of the stream. Calls of tools and their
// results are not in it.

// readGeminiRequest reads llm_request. Its system messages are our system text.
func readGeminiRequest(in *dialect.Input) (dialect.Reading, error) {
	request := &object.Reader{JSON: in.At("llm_request")}
	if jsonspan.Kind(request.JSON) != '{' {
		return dialect.Reading{}, errors.New("llm_request is missing or no object")
	}
	data := protocol.InferenceStartData{Model: request.Text("model"), Messages: []protocol.Message{}, Tools: []protocol.Tool{}, Attempt: 1}
	var system []string
	for i, each := range jsonspan.Elements(request.At("messages")) {
		one := &object.Reader{JSON: each}
		text := geminiText(one.At("content"))
		switch role := one.Text("role"); role {
		case "system":
			system = append(system, text)
		case "user":
			data.Messages = append(data.Messages, protocol.Message{Role: protocol.RoleUser, Content: protocol.TextContent(text)})
		case "model", "assistant":
			data.Messages = append(data.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: protocol.TextContent(text)})
		default:
			return dialect.Reading{}, fmt.Errorf("llm_request.messages[%d] has the role %q, which hookd does not know", i, role)
		}
	}
	data.System = strings.Join(system, "\n\n")
	if err := geminiParams(request.At("config"), &data.Params); err != nil {
		return dialect.Reading{}, fmt.Errorf("llm_request.config: %w", err)
	}
	return dialect.Reading{In: in, Data: data}, nil
}

// geminiNames are Gemini's names of parameters, and ours.
var geminiNames = [][2]string{{"maxOutputTokens", "maxTokens"}, {"stopSequences", "stop"}}

func geminiParams(config protocol.RawMessage, params *protocol.Params) error {
	if config == nil || jsonspan.IsNull(config) {
		return nil
	}
	if jsonspan.Kind(config) != '{' {
		return fmt.Errorf("it is %s where an object is expected", jsonspan.KindName(config))
	}
	return json.Unmarshal(renamed(config, 0, 1), params)
}

// renamed returns an object whose parameters have other names.
func renamed(object protocol.RawMessage, from, to int) protocol.RawMessage {
	var list jsonspan.MemberList
	for _, m := range jsonspan.ReadMemberList(object) {
		if i := slices.IndexFunc(geminiNames, func(n [2]string) bool { return n[from] == m.Name }); i >= 0 {
			m.Name = geminiNames[i][to]
		}
		list.Set(m.Name, m.Value)
	}
	return list.JSON()
}

// geminiText is a text, or the texts of a list of parts, each a text or an object.
func geminiText(value protocol.RawMessage) string {
	var texts []string
	for _, part := range jsonspan.Elements(value) {
		if jsonspan.Kind(part) == '"' {
			texts = append(texts, jsonspan.Text(part))
		}
	}
	if texts != nil {
		return strings.Join(texts, "")
	}
	return object.ContentText(value)
}

// readGeminiResponse reads llm_response, a piece of the model's answer.
func readGeminiResponse(in *dialect.Input) (dialect.Reading, error) {
	response := &object.Reader{JSON: in.At("llm_response")}
	if jsonspan.Kind(response.JSON) != '{' {
		return dialect.Reading{}, errors.New("llm_response is missing or no object")
	}
	text := response.Text("text")
	if parts := geminiText(response.At("/candidates/0/content/parts")); parts != "" {
		text = parts
	}
	data := protocol.InferenceEndData{
		Message:      protocol.Message{Role: protocol.RoleAssistant, Content: protocol.TextContent(text)},
		FinishReason: geminiFinish(response.Text("/candidates/0/finishReason")), Type: "final",
	}
	if text == "" {
		data.Message.Content = protocol.Content{}
	}
	for name, to := range map[string]**int64{"promptTokenCount": &data.Usage.InputTokens, "candidatesTokenCount": &data.Usage.OutputTokens} {
		if jsonspan.Kind(response.At("/usageMetadata/"+name)) == '0' {
			n := int64(response.Number("/usageMetadata/" + name))
			*to = &n
		}
	}
	return dialect.Reading{In: in, Data: data}, nil
}

// geminiFinish is our word for why an answer ends, "" of a piece after which more comes.
func geminiFinish(theirs string) string {
	switch theirs {
	case "", "FINISH_REASON_UNSPECIFIED":
		return ""
	case "STOP":
		return "stop"
	case "MAX_TOKENS":
		return "length"
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		return "filtered"
	}
	return "error"
}

// changeGemini writes what hooks changed of a model call.
func changeGemini(c *dialect.Call, data protocol.RawMessage, members []string) (protocol.RawMessage, error) {
	if c.Row.Name == "BeforeToolSelection" {
		choice := jsonspan.Find(data, "/params/toolChoice")
		if len(members) != 1 || members[0] != "params" || !jsonspan.Equal(jsonspan.Without(jsonspan.Get(data, "params"), "toolChoice"), jsonspan.Without(jsonspan.Get(c.Event.Data, "params"), "toolChoice")) {
			return nil, errors.New("params.toolChoice is all that Gemini CLI takes at BeforeToolSelection")
		}
		return geminiToolConfig(choice)
	}
	if c.Row.Event == protocol.InferenceEnd {
		return geminiResponse(jsonspan.Get(data, "message"), jsonspan.Find(c.Event.Data, "/host/llm_response/candidates/0/finishReason"))
	}
	if slices.Contains(members, "tools") {
		return nil, errors.New("tools are nothing that Gemini CLI takes")
	}
	messages, err := geminiMessages(jsonspan.Text(jsonspan.Get(data, "system")), jsonspan.Get(data, "messages"))
	if err != nil {
		return nil, err
	}
	params := jsonspan.Get(data, "params")
	if jsonspan.Get(params, "toolChoice") != nil {
		return nil, errors.New("params.toolChoice is taken by Gemini CLI at BeforeToolSelection only")
	}
	request := object.Object{{"model", jsonspan.Find(c.Event.Data, "/host/llm_request/model")}, {"messages", messages}, {"config", renamed(params, 1, 0)}}
	return request.Encode()
}

// geminiMessages writes a system text and messages, which may have only texts.
func geminiMessages(system string, messages protocol.RawMessage) (protocol.RawMessage, error) {
	var list []protocol.RawMessage
	add := func(role, text string) error {
		one, err := object.Object{{"role", role}, {"content", jsonspan.Quote(text)}}.Encode()
		list = append(list, one)
		return err
	}
	if system != "" {
		if err := add("system", system); err != nil {
			return nil, err
		}
	}
	var all []protocol.Message
	if err := json.Unmarshal(messages, &all); err != nil {
		return nil, err
	}
	for _, m := range all {
		role := string(m.Role)
		if m.Role == protocol.RoleAssistant {
			role = "model"
		}
		if slices.ContainsFunc(m.Content, func(p protocol.Part) bool { return p.Type != protocol.PartText }) {
			return nil, errors.New("messages have only texts in Gemini CLI")
		}
		if err := add(role, m.Content.Text()); err != nil {
			return nil, err
		}
	}
	return jsonspan.JoinList(list), nil
}

// geminiResponse writes a message in place of the model's.
func geminiResponse(message, finish protocol.RawMessage) (protocol.RawMessage, error) {
	if finish == nil {
		finish = []byte(`"STOP"`)
	}
	parts := jsonspan.JoinList([]protocol.RawMessage{jsonspan.Quote(object.ContentText(jsonspan.Get(message, "content")))})
	content, err := object.Object{{"role", "model"}, {"parts", parts}}.Encode()
	if err != nil {
		return nil, err
	}
	candidate, err := object.Object{{"content", content}, {"finishReason", finish}}.Encode()
	if err != nil {
		return nil, err
	}
	return object.Object{{"candidates", jsonspan.JoinList([]protocol.RawMessage{candidate})}}.Encode()
}

// geminiToolConfig writes params.toolChoice: a word, or the name of one tool.
func geminiToolConfig(choice protocol.RawMessage) (protocol.RawMessage, error) {
	switch word := jsonspan.Text(choice); {
	case word == "auto":
		return object.Object{{"mode", "AUTO"}}.Encode()
	case word == "none":
		return object.Object{{"mode", "NONE"}}.Encode()
	case word == "any" || word == "required":
		return object.Object{{"mode", "ANY"}}.Encode()
	case jsonspan.Kind(jsonspan.Get(choice, "name")) == '"':
		name, _, err := toolname.ToTheirs("gemini", jsonspan.Text(jsonspan.Get(choice, "name")), []byte("{}"))
		if err != nil {
			return nil, err
		}
		return object.Object{{"mode", "ANY"}, {"allowedFunctionNames", jsonspan.JoinList([]protocol.RawMessage{jsonspan.Quote(name)})}}.Encode()
	}
	return nil, errors.New("params.toolChoice is one of the words auto, none and any, or the name of a tool, for Gemini CLI")
}

// geminiModel are the members of an answer at a model call.
func geminiModel(c *dialect.Call, v *dialect.Verdict) object.Object {
	switch {
	case c.Row.Name == "BeforeToolSelection":
		return object.Object{{"toolConfig", v.Changed}}
	case v.Response != nil:
		response, err := geminiResponse(jsonspan.Get(v.Response, "message"), nil)
		if err != nil {
			return nil // the refusal stays
		}
		return object.Object{{"llm_response", response}}
	case c.Row.Event == protocol.InferenceEnd:
		return object.Object{{"llm_response", v.Changed}}
	}
	return object.Object{{"llm_request", v.Changed}}
}
