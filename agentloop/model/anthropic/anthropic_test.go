package anthropic

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
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
	o := Options{Model: "claude-test", BaseURL: s.URL, Key: "sk-secret-key"}
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
		Thinking: "hm… €", Signature: "c2ln", Text: "Grüße, 世界 👍", Input: 100, Cached: 40, Output: 7,
		Calls: []modelserver.Call{{ID: "c1", Name: "bash", Args: `{"command":"ls \"ü\""}`}, {ID: "c2", Name: "list_dir"}},
	}
	fullAnswer = []model.Chunk{
		{Type: model.Usage, Usage: used(100, 40, 1)},
		{Type: model.Thinking, Text: "hm… €"},
		{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartOpaque, Provider: "anthropic", Data: []byte(`{"signature":"c2ln","thinking":"hm… €","type":"thinking"}`)}},
		{Type: model.Text, Text: "Grüße, 世界 👍"},
		{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "c1", Name: "bash", Args: []byte(`{"command":"ls \"ü\""}`)}},
		{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "c2", Name: "list_dir", Args: []byte(`{}`)}},
		{Type: model.Usage, Usage: used(100, 40, 7)},
		{Type: model.Finish, Reason: "tools"},
	}
)

func used(input, cached, output int64) *protocol.CallUsage {
	return &protocol.CallUsage{InputTokens: &input, OutputTokens: &output, CachedTokens: &cached, ContextTokens: ptr(input + output), ContextMax: ptr(int64(200_000))}
}

const begunText = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n"

// TestBorders cuts a stream into pieces of every size up to 7 bytes, so that each
// border falls inside characters and inside "data:".
func TestBorders(t *testing.T) {
	stream := modelserver.Anthropic(fullTurn)
	for _, end := range []string{"\n", "\r\n"} {
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

func TestBlocks(t *testing.T) {
	event := func(kind, rest string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
	}
	stop := func(reason string) string {
		return event("message_delta", `,"delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":2}`) + event("message_stop", "")
	}
	block := func(start string, deltas ...string) string {
		s := event("content_block_start", `,"index":0,"content_block":`+start)
		for _, d := range deltas {
			s += event("content_block_delta", `,"index":0,"delta":`+d)
		}
		return s + event("content_block_stop", `,"index":0`)
	}
	opaque := func(data string) model.Chunk {
		return model.Chunk{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartOpaque, Provider: "anthropic", Data: []byte(data)}}
	}
	call := func(args string) model.Chunk {
		return model.Chunk{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "a", Name: "f", Args: []byte(args)}}
	}
	two := model.Chunk{Type: model.Usage, Usage: used(0, 0, 2)}
	finish := func(reason string) model.Chunk { return model.Chunk{Type: model.Finish, Reason: reason} }
	text := model.Chunk{Type: model.Text, Text: "hi"}
	hi := block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"hi"}`)
	for name, c := range map[string]struct {
		body string
		want []model.Chunk
	}{
		"length":             {hi + stop("max_tokens"), []model.Chunk{text, two, finish("length")}},
		"window":             {hi + stop("model_context_window_exceeded"), []model.Chunk{text, two, finish("length")}},
		"refusal":            {hi + stop("refusal"), []model.Chunk{text, two, finish("filtered")}},
		"stop sequence":      {hi + stop("stop_sequence"), []model.Chunk{text, two, finish("stop")}},
		"text at the start":  {block(`{"type":"text","text":"hi"}`) + stop("end_turn"), []model.Chunk{text, two, finish("stop")}},
		"args that are none": {block(`{"type":"tool_use","id":"a","name":"f","input":{}}`, `{"type":"input_json_delta","partial_json":"{oops"}`) + stop("tool_use"), []model.Chunk{call("{oops"), two, finish("tools")}},
		"args at the start":  {block(`{"type":"tool_use","id":"a","name":"f","input":{"x":1.10}}`) + stop("tool_use"), []model.Chunk{call(`{"x":1.10}`), two, finish("tools")}},
		"redacted":           {block(`{"type":"redacted_thinking","data":"x=="}`) + hi + stop("end_turn"), []model.Chunk{opaque(`{"type":"redacted_thinking","data":"x=="}`), text, two, finish("stop")}},
		"thinking unsigned":  {block(`{"type":"thinking","thinking":"hi","signature":""}`) + stop("end_turn"), []model.Chunk{{Type: model.Thinking, Text: "hi"}, two, finish("stop")}},
		"server tool":        {block(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"q\":1}"}`) + stop("end_turn"), []model.Chunk{opaque(`{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":1}}`), two, finish("stop")}},
		"unknown event":      {event("later", `,"x":1`) + hi + stop("end_turn"), []model.Chunk{text, two, finish("stop")}},
		"unknown block":      {block(`{"type":"later","x":1.10}`) + stop("end_turn"), []model.Chunk{opaque(`{"type":"later","x":1.10}`), two, finish("stop")}},
		"no names":           {strings.NewReplacer("event: content_block_start\n", "", "event: content_block_delta\n", "", "event: message_stop\n", "").Replace(hi + stop("end_turn")), []model.Chunk{text, two, finish("stop")}},
		"no types":           {strings.NewReplacer(`"type":"content_block_start",`, "", `"type":"message_stop"`, "").Replace(hi + stop("end_turn")), []model.Chunk{text, two, finish("stop")}},
		"two at once": {strings.Join([]string{
			event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}`),
			event("content_block_start", `,"index":1,"content_block":{"type":"text","text":""}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}`),
			event("content_block_delta", `,"index":1,"delta":{"type":"text_delta","text":"hi"}`),
			event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}`),
			event("content_block_stop", `,"index":1`), event("content_block_stop", `,"index":0`), stop("tool_use"),
		}, ""), []model.Chunk{text, call(`{"x":1}`), two, finish("tools")}},
		"more after the end": {hi + stop("end_turn") + hi + "data: [DONE]\n\n", []model.Chunk{text, two, finish("stop")}},
		"cut after the end":  {hi + stop("end_turn") + "event: x\nda", []model.Chunk{text, two, finish("stop")}},
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
	begun := begunText
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
		"wrong key":                  {modelserver.Answer{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-secret-key"}}`}, model.Error{Status: 401}, "(hidden); is ANTHROPIC_API_KEY right?", false},
		"no model":                   {modelserver.Answer{Status: 404, Body: `{"error":"model \"x\" not found, try pulling it first"}`}, model.Error{Status: 404}, `model "x" not found`, false},
		"fastapi":                    {modelserver.Answer{Status: 422, Body: `{"detail":[{"loc":["body"]}]}`}, model.Error{Status: 422}, `"loc"`, false},
		"page":                       {modelserver.Answer{Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><head><title>502 Bad\nGateway</title>"}, model.Error{Status: 502, Retryable: true}, "a web page (502 Bad Gateway)", false},
		"page, 200":                  {modelserver.Answer{Header: map[string]string{"Content-Type": "text/html; charset=utf-8"}, Body: "<title>Login</title>"}, model.Error{Status: 200}, "a web page (Login)", false},
		"json, 200":                  {modelserver.Answer{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"choices":[]}`}, model.Error{Status: 200}, "in place of a stream", false},
		"too long":                   {modelserver.Answer{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`}, model.Error{Status: 400}, "9000 tokens", true},
		"too long, 500":              {modelserver.Answer{Status: 500, Body: `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing it","type":"exceed_context_size_error"}}`}, model.Error{Status: 500}, "available context size", true},
		"too long, no code":          {modelserver.Answer{Status: 400, Body: `{"object":"error","message":"Input is longer: exceeds the model's context length","type":"BadRequestError","code":400}`}, model.Error{Status: 400}, "context length", true},
		"overloaded in the stream":   {modelserver.Answer{Body: begun + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"}, model.Error{Status: 529, Retryable: true}, "Overloaded (overloaded_error)", false},
		"limited in the stream":      {modelserver.Answer{Body: begun + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"wait\"}}\n\n"}, model.Error{Status: 429, Retryable: true}, "wait", false},
		"refused in the stream":      {modelserver.Answer{Body: begun + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}\n\n"}, model.Error{Status: 400}, "no (invalid_request_error)", false},
		"nonsense in the stream":     {modelserver.Answer{Body: begun + "event: error\ndata: oops\n\n"}, model.Error{Status: 200}, "oops", false},
		"cut":                        {modelserver.Answer{Body: begun + "event: content_bl", Cut: true}, model.Error{Retryable: true}, "lost in the middle", false},
		"cut at once":                {modelserver.Answer{Cut: true}, model.Error{Retryable: true}, "lost", false},
		"ended early":                {modelserver.Answer{Body: begun}, model.Error{Retryable: true}, "cut off", false},
		"nothing":                    {modelserver.Answer{}, model.Error{Retryable: true}, "no event at all", false},
		"bad json":                   {modelserver.Answer{Body: begun + "event: message_start\ndata: {\"type\": oops}\n\n"}, model.Error{Retryable: true}, "cannot be read", false},
		"an event that says nothing": {modelserver.Answer{Body: begun + "data: {\"x\":1}\n\n"}, model.Error{Retryable: true}, "damaged: an event does not say what it is", false},
		"an error without a name":    {modelserver.Answer{Body: begun + "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"}, model.Error{Status: 529, Retryable: true}, "Overloaded", false},
		"an error of another kind":   {modelserver.Answer{Body: begun + "data: {\"error\":{\"message\":\"gone\",\"code\":503}}\n\n"}, model.Error{Status: 503, Retryable: true}, "gone", false},
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

// TestDamaged: an answer of which an event was lost is never a good end, and is
// worth another try.
func TestDamaged(t *testing.T) {
	stream := modelserver.Anthropic(modelserver.Turn{Text: "hi", Output: 7, Calls: []modelserver.Call{{ID: "c", Name: "f", Args: `{"a":"long enough to be cut"}`}}})
	whole := strings.SplitAfter(strings.TrimSuffix(stream, "\n\n"), "\n\n")
	harmless := []string{"event: message_start", "event: ping", "_delta\",\"text", "partial_json"} // the last one is seen in the args
	for i, lost := range whole {
		body := strings.Join(append(append([]string{}, whole[:i]...), whole[i+1:]...), "")
		m := made(t, modelserver.New(t, modelserver.Answer{Body: body}), nil)
		_, err := collect(t.Context(), m, model.Request{})
		var failed *model.Error
		damaged := errors.As(err, &failed) && failed.Retryable
		if may := slices.ContainsFunc(harmless, func(s string) bool { return strings.Contains(lost, s) }); damaged == may || err != nil && !damaged {
			t.Errorf("without %q: %v", lost, err)
		}
	}
	for i := 1; i < len(whole); i++ { // cut at each event
		m := made(t, modelserver.New(t, modelserver.Answer{Body: strings.Join(whole[:i], "")}), nil)
		if _, err := collect(t.Context(), m, model.Request{}); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("the first %d events: %v", i, err)
		}
	}
}

// TestSlowIsNotSilent asserts that an answer may take longer than the limits of
// silence, as long as it goes on.
func TestSlowIsNotSilent(t *testing.T) {
	body := modelserver.Anthropic(modelserver.Turn{Text: "hi"})
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
		"in the answer":     {Body: begunText, Stall: true},
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
	s := modelserver.New(t, modelserver.Answer{Body: begunText, Stall: true})
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
		"data":    {Endless: "data: " + junk[:1<<16] + "\n"},
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
	s := modelserver.New(t, modelserver.Answer{Status: 307, Header: map[string]string{"Location": other.URL + "/v1/messages"}},
		modelserver.Answer{Status: 308, Header: map[string]string{"Location": "/elsewhere"}}, modelserver.Answer{Body: modelserver.Anthropic(modelserver.Turn{Text: "hi"})})
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
