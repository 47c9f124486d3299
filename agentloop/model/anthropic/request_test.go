package anthropic

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// sent is the request that a server reads, its members in the order of their
// names.
func sent(t *testing.T, r model.Request) string {
	t.Helper()
	s := modelserver.New(t, modelserver.Answer{Body: modelserver.Anthropic(modelserver.Turn{Text: "hi"})})
	if _, err := collect(t.Context(), made(t, s, nil), r); err != nil {
		t.Fatal(err)
	}
	r0 := s.Requests()[0]
	if r0.Path != "/v1/messages" || r0.Header.Get("Anthropic-Version") == "" || r0.Header.Get("X-Stainless-Retry-Count") != "0" {
		t.Errorf("%s %v", r0.Path, r0.Header)
	}
	text := protocol.RawMessage(r0.Body)
	if err := (*jsontext.Value)(&text).Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRequest(t *testing.T) {
	image := protocol.Part{Type: protocol.PartImage, MediaType: "image/png", Data: []byte(`"QUJD"`)}
	text := func(s string) protocol.Part { return protocol.Part{Type: protocol.PartText, Text: s} }
	got := sent(t, model.Request{
		Model: "claude-3-haiku-x", System: "be good",
		Messages: []protocol.Message{
			{ID: "1", Role: protocol.RoleUser, Content: protocol.Content{text("look"), image, text(" \n")}},
			{ID: "2", Role: protocol.RoleAssistant, Content: protocol.Content{
				{Type: protocol.PartThinking, Text: "hm"}, {Type: protocol.PartOpaque, Provider: "anthropic", Data: []byte(`{"type":"thinking","thinking":"hm","signature":"s"}`)},
				{Type: protocol.PartOpaque, Provider: "other", Data: []byte(`{}`)}, text("yes"),
				{Type: protocol.PartToolCall, ToolCallID: "functions.bash:0", Name: "bash", Args: []byte(`{"n":1.10}`)},
				{Type: protocol.PartToolCall, ToolCallID: "c2", Name: "shot", Args: []byte(`{oops`)},
			}},
			{Role: protocol.RoleTool, Content: protocol.Content{
				{Type: protocol.PartToolResult, ToolCallID: "functions.bash:0", Content: protocol.Content{text("a"), text("")}},
				{Type: protocol.PartToolResult, ToolCallID: "c2", Content: protocol.Content{image}, IsError: true},
			}},
			{Role: protocol.RoleUser, Content: protocol.Content{text("go on")}},
		},
		Tools: []protocol.Tool{{Name: "bash", Description: "runs", Schema: []byte(`{"type":"object","z":1.10}`)}, {Name: "bare"}},
		Params: protocol.Params{
			MaxTokens: ptr(int64(9)), Temperature: ptr(0.0), Stop: []string{"x"}, ToolChoice: []byte(`{"name":"bash"}`),
			Thinking: []byte(`false`), Provider: []byte(`{"service_tier":"auto","a.b":{"c":7}}`),
		},
	})
	img := `{"source":{"data":"QUJD","media_type":"image/png","type":"base64"},"type":"image"}`
	want := `{"a.b":{"c":7},"max_tokens":9,"messages":[` +
		`{"content":[{"text":"look","type":"text"},{"cache_control":{"type":"ephemeral"},` + img[1:] + `],"role":"user"},` +
		`{"content":[{"signature":"s","thinking":"hm","type":"thinking"},{"text":"yes","type":"text"},` +
		`{"id":"call_1_functions_bash_0","input":{"n":1.1},"name":"bash","type":"tool_use"},` +
		`{"id":"c2","input":{"invalid":"{oops"},"name":"shot","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"content":[{"text":"a","type":"text"}],"tool_use_id":"call_1_functions_bash_0","type":"tool_result"},` +
		`{"content":[` + img + `],"is_error":true,"tool_use_id":"c2","type":"tool_result"},` +
		`{"cache_control":{"type":"ephemeral"},"text":"go on","type":"text"}],"role":"user"}],` +
		`"model":"claude-3-haiku-x","service_tier":"auto","stop_sequences":["x"],"stream":true,` +
		`"system":[{"cache_control":{"type":"ephemeral"},"text":"be good","type":"text"}],"temperature":0,"thinking":{"type":"disabled"},` +
		`"tool_choice":{"name":"bash","type":"tool"},"tools":[{"description":"runs","input_schema":{"properties":{},"type":"object","z":1.1},"name":"bash"},` +
		`{"input_schema":{"properties":{},"type":"object"},"name":"bare"}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoToolsBehindCalls is the request of a recipe that has no tools.
func TestNoToolsBehindCalls(t *testing.T) {
	call := func(id, name string) protocol.Part {
		return protocol.Part{Type: protocol.PartToolCall, ToolCallID: id, Name: name, Args: []byte(`{}`)}
	}
	result := func(id string) protocol.Part {
		return protocol.Part{Type: protocol.PartToolResult, ToolCallID: id, Content: protocol.TextContent("r")}
	}
	got := sent(t, model.Request{Model: "m", Params: protocol.Params{ToolChoice: []byte(`"any"`)}, Messages: []protocol.Message{
		{Role: protocol.RoleUser, Content: protocol.TextContent("hi")},
		{Role: protocol.RoleAssistant, Content: protocol.Content{call("1", "bash"), call("2", "grep"), call("3", "bash")}},
		{Role: protocol.RoleTool, Content: protocol.Content{result("1"), result("2"), result("3")}},
	}})
	want := `"tool_choice":{"type":"none"},"tools":[{"input_schema":{"properties":{},"type":"object"},"name":"bash"},{"input_schema":{"properties":{},"type":"object"},"name":"grep"}]`
	if !strings.Contains(got, want) {
		t.Errorf("sent %s", got)
	}
	plain := sent(t, model.Request{Model: "m", Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.TextContent("hi")}}})
	if strings.Contains(plain, "tool") {
		t.Errorf("sent %s", plain)
	}
}

func TestParams(t *testing.T) {
	hi := []protocol.Message{{Role: protocol.RoleUser, Content: protocol.TextContent("hi")}}
	for name, c := range map[string]struct {
		request model.Request
		want    string
	}{
		"default":             {model.Request{}, `"max_tokens":32000`},
		"small model":         {model.Request{Model: "claude-3-haiku-20240307"}, `"max_tokens":4096`},
		"another's model":     {model.Request{Model: "x"}, `"max_tokens":8192`},
		"adaptive":            {model.Request{Params: protocol.Params{Thinking: []byte(`true`)}}, `"thinking":{"type":"adaptive"}`},
		"budget":              {model.Request{Params: protocol.Params{Thinking: []byte(`40000`)}}, `"max_tokens":72000`},
		"own object":          {model.Request{Params: protocol.Params{Thinking: []byte(`{"type":"enabled","budget_tokens":5}`)}}, `"thinking":{"budget_tokens":5,"type":"enabled"}`},
		"provider's counts":   {model.Request{Params: protocol.Params{MaxTokens: ptr(int64(9)), Provider: []byte(`{"max_tokens":7}`)}}, `"max_tokens":7`},
		"cache by the params": {model.Request{System: "s", Messages: hi, Params: protocol.Params{Provider: []byte(`{"cache_control":null}`)}}, `"messages":[{"content":[{"text":"hi","type":"text"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sent(t, c.request); !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s in it", got, c.want)
			}
		})
	}
	if _, err := convert(model.Request{Params: protocol.Params{Thinking: []byte(`"high"`)}}); err == nil {
		t.Error("a word as thinking: no error")
	}
}
