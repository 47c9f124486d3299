package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

func TestRequest(t *testing.T) {
	image := protocol.Part{Type: protocol.PartImage, MediaType: "image/png", Data: []byte(`"QUJD"`)}
	text := func(s string) protocol.Part { return protocol.Part{Type: protocol.PartText, Text: s} }
	r := model.Request{
		Model: "m", System: "be good <b>",
		Messages: []protocol.Message{
			{ID: "1", Role: protocol.RoleUser, Content: protocol.Content{text("look"), image}},
			{ID: "2", Role: protocol.RoleAssistant, Content: protocol.Content{
				{Type: protocol.PartThinking, Text: "hm"}, {Type: protocol.PartOpaque, Provider: "anthropic", Data: []byte(`{}`)}, text("yes"),
				{Type: protocol.PartToolCall, ToolCallID: "c1", Name: "bash", Args: []byte(`{"n":9007199254740993}`)},
				{Type: protocol.PartToolCall, ToolCallID: "c2", Name: "shot", Args: []byte(`{}`)},
			}},
			{Role: protocol.RoleTool, Content: protocol.Content{
				{Type: protocol.PartToolResult, ToolCallID: "c1", Content: protocol.Content{text("a"), text("b")}},
				{Type: protocol.PartToolResult, ToolCallID: "c2", Content: protocol.Content{image}, IsError: true},
			}},
			{Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.PartThinking, Text: "only"}}},
			{Role: protocol.RoleUser, Content: protocol.Content{text("go"), text("on")}},
		},
		Tools: []protocol.Tool{{Name: "bash", Description: "runs", Schema: []byte(`{"z":1,"a":1.10}`)}},
		Params: protocol.Params{
			MaxTokens: ptr(int64(9)), Temperature: ptr(0.0), TopP: ptr(0.5), Stop: []string{"x"}, ToolChoice: []byte(`{"name":"bash"}`),
			Thinking: []byte(`"low"`), Provider: []byte(`{"seed":7,"stream_options":null,"a.b":{"c":1e400}}`),
		},
	}
	m, err := New(Options{Model: "other", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.body(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","messages":[` +
		`{"role":"system","content":"be good <b>"},` +
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},` +
		`{"role":"assistant","content":"yes","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"n\":9007199254740993}"}},{"id":"c2","type":"function","function":{"name":"shot","arguments":"{}"}}]},` +
		`{"role":"tool","content":"a\nb","tool_call_id":"c1"},` +
		`{"role":"tool","content":"(an image; it follows)","tool_call_id":"c2"},` +
		`{"role":"user","content":[{"type":"text","text":"The image of the result of c2:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},` +
		`{"role":"user","content":"go\n\non"}],` +
		`"tools":[{"type":"function","function":{"name":"bash","description":"runs","parameters":{"type":"object","z":1,"a":1.10,"properties":{}}}}],"stream":true,` +
		`"max_tokens":9,"temperature":0,"top_p":0.5,"stop":["x"],"tool_choice":{"function":{"name":"bash"},"type":"function"},"reasoning_effort":"low","seed":7,"a.b":{"c":1e400}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMaxTokensOfOpenAI(t *testing.T) {
	m, err := New(Options{Model: "o3"})
	if err != nil {
		t.Fatal(err)
	}
	body, err := m.body(model.Request{Params: protocol.Params{MaxTokens: ptr(int64(9))}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(body, &got); err != nil || got["max_completion_tokens"] != 9.0 || got["max_tokens"] != nil || got["model"] != "o3" {
		t.Errorf("%s %v", body, err)
	}
}

func TestBadImage(t *testing.T) {
	if _, err := convert("", []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{{Type: protocol.PartImage, Data: []byte(`7`)}}}}); err == nil {
		t.Error("no error")
	}
}
