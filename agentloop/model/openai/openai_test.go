package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/modelserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func made(t *testing.T, s *modelserver.Server, change func(*Options)) *Model {
	t.Helper()
	o := Options{Model: "test", BaseURL: s.URL + "/v1", Key: "sk-secret-key"}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.client.Close)
	return m
}

func collect(ctx context.Context, m model.Model, r model.Request) (chunks []model.Chunk, err error) {
	for chunk, e := range m.Generate(ctx, r) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// whole joins the pieces of text, so that answers are compared however they were
// cut.
func whole(chunks []model.Chunk) (joined []model.Chunk) {
	for _, c := range chunks {
		if last := len(joined) - 1; last >= 0 && joined[last].Type == c.Type && (c.Type == model.Text || c.Type == model.Thinking) {
			joined[last].Text += c.Text
			continue
		}
		joined = append(joined, c)
	}
	return joined
}

func ptr[T any](v T) *T { return &v }

var (
	fullTurn = modelserver.Turn{
		Thinking: "hm… €", Text: "Grüße, 世界 👍", Input: 100, Cached: 40, Output: 7,
		Calls: []modelserver.Call{{ID: "c1", Name: "bash", Args: `{"command":"ls \"ü\""}`}, {ID: "c2", Name: "list_dir"}},
	}
	fullAnswer = []model.Chunk{
		{Type: model.Thinking, Text: "hm… €"},
		{Type: model.Text, Text: "Grüße, 世界 👍"},
		{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "c1", Name: "bash", Args: []byte(`{"command":"ls \"ü\""}`)}},
		{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "c2", Name: "list_dir", Args: []byte(`{}`)}},
		{Type: model.Usage, Usage: &protocol.CallUsage{InputTokens: ptr(int64(100)), OutputTokens: ptr(int64(7)), CachedTokens: ptr(int64(40)), ContextTokens: ptr(int64(107))}},
		{Type: model.Finish, Reason: "tools"},
	}
)

// TestBorders cuts a stream into pieces of every size up to 7 bytes, with each
// kind of line end, so that each border falls inside characters, inside "data:"
// and between CR and LF.
func TestBorders(t *testing.T) {
	stream := modelserver.OpenAI(fullTurn)
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, piece := range []int{1, 2, 3, 5, 7, 0} {
			body := strings.ReplaceAll(": a comment\n\n"+stream, "\n", end)
			m := made(t, modelserver.New(t, modelserver.Answer{Body: body, Piece: piece}), nil)
			got, err := collect(t.Context(), m, model.Request{})
			if diff := cmp.Diff(fullAnswer, whole(got)); err != nil || diff != "" {
				t.Errorf("%q in pieces of %d: %v (-want +got):\n%s", end, piece, err, diff)
			}
		}
	}
}

func TestServersDiffer(t *testing.T) {
	call := func(args string) model.Chunk {
		return model.Chunk{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "a", Name: "f", Args: []byte(args)}}
	}
	text, stop, tools := model.Chunk{Type: model.Text, Text: "hi"}, model.Chunk{Type: model.Finish, Reason: "stop"}, model.Chunk{Type: model.Finish, Reason: "tools"}
	delta := func(d, finish string) string {
		return fmt.Sprintf("data: {\"choices\":[{\"delta\":%s,\"finish_reason\":%s}]}\n\n", d, finish)
	}
	for name, c := range map[string]struct {
		body string
		want []model.Chunk
	}{
		"no done":              {delta(`{"content":"hi"}`, `"stop"`), []model.Chunk{text, stop}},
		"no empty line at end": {"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}", []model.Chunk{text, stop}},
		"done, no reason":      {delta(`{"content":"hi"}`, `null`) + "data: [DONE]\n\n", []model.Chunk{text, stop}},
		"no blank after data":  {strings.ReplaceAll(delta(`{"content":"hi"}`, `"stop"`), "data: ", "data:"), []model.Chunk{text, stop}},
		"content in parts":     {delta(`{"content":[{"type":"text","text":"hi"}]}`, `"stop"`), []model.Chunk{text, stop}},
		"reasoning":            {delta(`{"reasoning":"hi","content":null}`, `"stop"`), []model.Chunk{{Type: model.Thinking, Text: "hi"}, stop}},
		"refusal":              {delta(`{"refusal":"hi"}`, `"stop"`), []model.Chunk{text, {Type: model.Finish, Reason: "filtered"}}},
		"filter":               {delta(`{"content":"hi"}`, `"content_filter"`), []model.Chunk{text, {Type: model.Finish, Reason: "filtered"}}},
		"length":               {delta(`{"content":"hi"}`, `"length"`), []model.Chunk{text, {Type: model.Finish, Reason: "length"}}},
		"calls end with stop":  {delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `"stop"`), []model.Chunk{call("{}"), tools}},
		"no index":             {delta(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`, `null`) + delta(`{"tool_calls":[{"function":{"arguments":":1}"}}]}`, `"stop"`), []model.Chunk{call(`{"x":1}`), tools}},
		"index 0 for all": {delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `null`) + delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}`, `"stop"`),
			[]model.Chunk{call("{}"), {Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "b", Name: "g", Args: []byte("{}")}}, tools}},
		"id and name repeated": {delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `null`) + delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]}`, `"stop"`), []model.Chunk{call("{}"), tools}},
		"args as an object":    {delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1.10}}}]}`, `"stop"`), []model.Chunk{call(`{"x":1.10}`), tools}},
		"args that are none":   {delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{oops"}}]}`, `"stop"`), []model.Chunk{call(`{oops`), tools}},
		"half a surrogate":     {delta(`{"content":"\ud83dhi"}`, `"stop"`), []model.Chunk{{Type: model.Text, Text: "\ufffdhi"}, stop}},
		"usage with the last": {"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n",
			[]model.Chunk{text, {Type: model.Usage, Usage: &protocol.CallUsage{InputTokens: ptr(int64(5)), OutputTokens: ptr(int64(2)), ContextTokens: ptr(int64(7))}}, stop}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := collect(t.Context(), made(t, modelserver.New(t, modelserver.Answer{Body: c.body}), nil), model.Request{})
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestFailures asserts for each way to fail whether another try makes sense, what
// is said, and that it takes no longer than it must.
func TestFailures(t *testing.T) {
	begun := "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"
	for name, c := range map[string]struct {
		answer modelserver.Answer
		want   model.Error
		text   string
		full   bool
	}{
		"busy":                       {modelserver.Answer{Status: 429, Header: map[string]string{"Retry-After": "7"}, Body: `{"error":{"message":"slow down","type":"requests"}}`}, model.Error{Status: 429, Retryable: true, RetryAfter: 7 * time.Second}, "slow down (requests)", false},
		"busy, in ms":                {modelserver.Answer{Status: 429, Header: map[string]string{"Retry-After": "7", "Retry-After-Ms": "1500"}, Body: `{}`}, model.Error{Status: 429, Retryable: true, RetryAfter: 1500 * time.Millisecond}, "", false},
		"broken":                     {modelserver.Answer{Status: 500, Body: "oops"}, model.Error{Status: 500, Retryable: true}, "oops", false},
		"overloaded":                 {modelserver.Answer{Status: 529, Body: `{"error":{"message":"later"}}`}, model.Error{Status: 529, Retryable: true}, "later", false},
		"wrong key":                  {modelserver.Answer{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-secret-key"}}`}, model.Error{Status: 401}, "(hidden); is OPENAI_API_KEY right?", false},
		"no model":                   {modelserver.Answer{Status: 404, Body: `{"error":"model \"x\" not found, try pulling it first"}`}, model.Error{Status: 404}, `model "x" not found`, false},
		"fastapi":                    {modelserver.Answer{Status: 422, Body: `{"detail":[{"loc":["body"]}]}`}, model.Error{Status: 422}, `"loc"`, false},
		"page":                       {modelserver.Answer{Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><head><title>502 Bad\nGateway</title>"}, model.Error{Status: 502, Retryable: true}, "a web page (502 Bad Gateway)", false},
		"page, 200":                  {modelserver.Answer{Header: map[string]string{"Content-Type": "text/html; charset=utf-8"}, Body: "<title>Login</title>"}, model.Error{Status: 200}, "a web page (Login)", false},
		"json, 200":                  {modelserver.Answer{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"choices":[]}`}, model.Error{Status: 200}, "in place of a stream", false},
		"too long":                   {modelserver.Answer{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`}, model.Error{Status: 400}, "9000 tokens", true},
		"too long, 500":              {modelserver.Answer{Status: 500, Body: `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing it","type":"exceed_context_size_error"}}`}, model.Error{Status: 500}, "available context size", true},
		"too long, no code":          {modelserver.Answer{Status: 400, Body: `{"object":"error","message":"Input is longer: exceeds the model's context length","type":"BadRequestError","code":400}`}, model.Error{Status: 400}, "context length", true},
		"in the stream":              {modelserver.Answer{Body: begun + "data: {\"error\":{\"message\":\"out of memory\",\"code\":503}}\n\n"}, model.Error{Status: 503, Retryable: true}, "out of memory", false},
		"in the stream, too long":    {modelserver.Answer{Body: "data: {\"error\":{\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\"}}\n\n"}, model.Error{Status: 400}, "available", true},
		"old vllm":                   {modelserver.Answer{Body: "data: {\"object\":\"error\",\"message\":\"bad\",\"code\":400}\n\n"}, model.Error{Status: 400}, "bad", false},
		"cut":                        {modelserver.Answer{Body: begun + "data: {\"choi", Cut: true}, model.Error{Retryable: true}, "lost in the middle", false},
		"cut at once":                {modelserver.Answer{Cut: true}, model.Error{Retryable: true}, "lost", false},
		"ended early":                {modelserver.Answer{Body: begun}, model.Error{Retryable: true}, "cut off", false},
		"nothing":                    {modelserver.Answer{}, model.Error{Retryable: true}, "no event at all", false},
		"bad json":                   {modelserver.Answer{Body: begun + "data: {\"choices\": oops}\n\n"}, model.Error{Retryable: true}, "cannot be read", false},
		"an error by its name":       {modelserver.Answer{Body: begun + "event: error\ndata: {\"message\":\"gone\",\"code\":503}\n\n"}, model.Error{Status: 503, Retryable: true}, "gone", false},
		"no call":                    {modelserver.Answer{Body: begun + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"}, model.Error{Retryable: true}, "damaged: it ends in a tool call, and there is none", false},
		"an old call":                {modelserver.Answer{Body: begun + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"function_call\"}]}\n\n"}, model.Error{Retryable: true}, "damaged", false},
		"a call without its head":    {modelserver.Answer{Body: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"}, model.Error{Retryable: true}, "damaged: a tool call has no name", false},
		"a call cut before its args": {modelserver.Answer{Body: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\ndata: [DONE]\n\n"}, model.Error{Retryable: true}, "damaged: a tool call ends in the middle", false},
		"a call cut, then done":      {modelserver.Answer{Body: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\"}}]}}]}\n\ndata: [DONE]\n\n"}, model.Error{Retryable: true}, "damaged: a tool call ends in the middle", false},
		"another choice only":        {modelserver.Answer{Body: "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n"}, model.Error{Retryable: true}, "cut off", false},
		"silent":                     {modelserver.Answer{Silent: true}, model.Error{Retryable: true}, "did not begin to answer within 300ms", false},
		"stalled":                    {modelserver.Answer{Body: begun, Stall: true}, model.Error{Retryable: true}, "sent nothing for 200ms", false},
		"stalled error":              {modelserver.Answer{Status: 500, Body: "half", Stall: true}, model.Error{Status: 500, Retryable: true}, "half", false},
		"redirect":                   {modelserver.Answer{Status: 307, Header: map[string]string{"Location": "http://elsewhere.example/v1/x?sk-secret-key"}}, model.Error{Status: 307}, "http://elsewhere.example;", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := made(t, modelserver.New(t, c.answer), func(o *Options) { o.FirstByte, o.Idle = 300*time.Millisecond, 200*time.Millisecond })
			began := time.Now()
			_, err := collect(t.Context(), m, model.Request{})
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("took %s", took)
			}
			var got *model.Error
			if !errors.As(err, &got) {
				t.Fatalf("%v is no model error", err)
			}
			if got.Status != c.want.Status || got.Retryable != c.want.Retryable || got.RetryAfter != c.want.RetryAfter {
				t.Errorf("status %d, retryable %v, after %s; want %+v", got.Status, got.Retryable, got.RetryAfter, c.want)
			}
			if !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q in it and no key", err, c.text)
			}
			if errors.Is(err, model.ErrContextFull) != c.full {
				t.Errorf("%v: context full %v", err, !c.full)
			}
		})
	}
}

// TestSlowIsNotSilent asserts that an answer may take longer than the limits of
// silence, as long as it goes on.
func TestSlowIsNotSilent(t *testing.T) {
	body := modelserver.OpenAI(modelserver.Turn{Text: "hi"})
	m := made(t, modelserver.New(t, modelserver.Answer{Body: body, Piece: len(body) / 8, Pause: 50 * time.Millisecond}), func(o *Options) {
		o.FirstByte, o.Idle = 300*time.Millisecond, 300*time.Millisecond
	})
	if _, err := collect(t.Context(), m, model.Request{}); err != nil {
		t.Error(err)
	}
}

func TestAbort(t *testing.T) {
	for name, answer := range map[string]modelserver.Answer{
		"before the answer": {Silent: true},
		"in the answer":     {Body: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n", Stall: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := modelserver.New(t, answer)
			m := made(t, s, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("the person pressed Esc")
			time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
			began := time.Now()
			if _, err := collect(ctx, m, model.Request{}); !errors.Is(err, why) {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %s", took)
			}
			if !s.Gone(1) {
				t.Error("the connection is still open")
			}
		})
	}
}

// TestBreak asserts that nothing stays behind when nobody reads on.
func TestBreak(t *testing.T) {
	s := modelserver.New(t, modelserver.Answer{Body: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n", Stall: true})
	for range made(t, s, nil).Generate(t.Context(), model.Request{}) {
		break
	}
	if !s.Gone(1) {
		t.Error("the connection is still open")
	}
}

// TestEndless asserts that a line or a refusal without end takes no memory
// without end.
func TestEndless(t *testing.T) {
	junk := strings.Repeat("x", 1<<20)
	for name, answer := range map[string]modelserver.Answer{
		"line":    {Body: "data: ", Endless: junk},
		"refusal": {Status: 400, Endless: junk},
		"data":    {Endless: "data: " + junk + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := modelserver.New(t, answer)
			_, err := collect(t.Context(), made(t, s, nil), model.Request{})
			if err == nil || len(err.Error()) > 2000 {
				t.Errorf("%.100v", err)
			}
			var m runtime.MemStats
			runtime.GC()
			if runtime.ReadMemStats(&m); m.HeapAlloc > 128<<20 {
				t.Errorf("%d MiB in use", m.HeapAlloc>>20)
			}
			if !s.Gone(1) {
				t.Error("the connection is still open")
			}
		})
	}
}

// TestKey asserts where the key goes: to the server, not over plain http to
// another machine, not along a redirect.
func TestKey(t *testing.T) {
	other := modelserver.New(t)
	s := modelserver.New(t, modelserver.Answer{Status: 307, Header: map[string]string{"Location": other.URL + "/v1/chat/completions"}},
		modelserver.Answer{Status: 308, Header: map[string]string{"Location": "/elsewhere"}}, modelserver.Answer{Body: modelserver.OpenAI(modelserver.Turn{Text: "hi"})})
	m := made(t, s, func(o *Options) { o.Headers = http.Header{"X-Team": {"a"}} })
	if _, err := collect(t.Context(), m, model.Request{}); err == nil {
		t.Error("a redirect to another host was followed")
	}
	if n := len(other.Requests()); n > 0 {
		t.Errorf("%d requests at the other host", n)
	}
	if _, err := collect(t.Context(), m, model.Request{}); err != nil {
		t.Errorf("a redirect on the same host: %v", err)
	}
	for _, r := range s.Requests() {
		if r.Header.Get("Authorization") != "Bearer sk-secret-key" || r.Header.Get("X-Team") != "a" {
			t.Errorf("headers %v", r.Header)
		}
	}
	for base, sent := range map[string]bool{"http://gpu.example/v1": false, "https://gpu.example/v1": true, "http://localhost:1/v1": true, "http://[::1]:1": true} {
		m, err := New(Options{Model: "x", BaseURL: base, Key: "k"})
		if err != nil || (m.options.Key != "") != sent {
			t.Errorf("%s: key %q, %v", base, m.options.Key, err)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	m, err := New(Options{Model: "x", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = collect(t.Context(), m, model.Request{})
	var failed *model.Error
	if !errors.As(err, &failed) || !failed.Retryable || !strings.Contains(err.Error(), "no server answers at http://127.0.0.1:1: ") {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	for _, base := range []string{"ftp://x", "x", "http://u:p@x/v1", "http://x/v1#a", "http://", "http://[", ":"} {
		if _, err := New(Options{Model: "m", BaseURL: base}); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v", base, err)
		}
	}
}
