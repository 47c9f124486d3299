package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// toolCall is an event with args as given.
func toolCall(args string) string {
	return `{"event":"tool-call-start","data":{"toolCallId":"c1","name":"bash","kind":"shell","args":` + args + `,"parallel":1}}`
}

func mustDecode(t testing.TB, line string) Event {
	t.Helper()
	ev, err := DecodeEvent([]byte(line), DecodeLimits{})
	if err != nil {
		t.Fatalf("DecodeEvent(%s): %v", line, err)
	}
	return ev
}

func TestDecodeEventKeepsBytes(t *testing.T) {
	for _, args := range []string{
		`{"id":9007199254740993,"x":1.10,"e":1e400,"n":-0}`, // H28
		`{"big":123456789012345678901234567890,"small":1E-400,"z":0.10e+01}`,
		`{"s":"\u0061\/\u00e9é\u2028<&>","\u006b":[ 1,  2 ]}`,
		`{"emoji":"\ud83d\ude00😀"}`,
		`{"null":null,"deep":[[[{}]]],"":""}`,
	} {
		ev := mustDecode(t, toolCall(args))
		if got := string(jsonspan.Get(ev.Data, "args")); got != args {
			t.Errorf("args are\n%s, want\n%s", got, args)
		}
		line, err := AppendEvent(nil, &ev)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(line, append([]byte(`"args":`), jsonspan.Plain(RawMessage(args))...)) {
			t.Errorf("a hook reads\n%s, which does not hold\n%s", line, args)
		}
	}
}

func TestDecodeEventErrors(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	tests := []struct {
		name, line, path string
		offset           int64
		words            string
	}{
		{"empty", ``, "", 0, "no JSON value"},
		{"blanks", "  \n", "", 3, "no JSON value"},
		{"not an object", `[1]`, "", 0, "a list, not an object"},
		{"cut", `{"event":"agent-start","da`, "", 26, "ends too early"},
		{"two values", toolCall(`{}`) + `{}`, "", int64(len(toolCall(`{}`))), ""},
		{"repeated member", `{"event":"x","event":"y"}`, "/event", 13, `member "event" is repeated`},
		{"repeated member in data", toolCall(`{"a":1,"a":2}`), "/data/args/a", 96, `member "a" is repeated`},
		{"wrong case", `{"Event":"tool-call-start","data":{}}`, "", 0, `member "event" is missing`},
		{"no data", `{"event":"tool-call-start"}`, "", 0, `member "data" is missing`},
		{"unknown event", `{"event":"tool-call-strat","data":{}}`, "/event", 9, `the nearest is "tool-call-start"`},
		{"event is a number", `{"event":5,"data":{}}`, "/event", 9, "a number where a string is expected"},
		{"newer protocol", `{"protocol":2,"event":"tool-call-start","data":{}}`, "/protocol", 12, "version 2 is not known"},
		{"seq is a string", `{"event":"agent-start","seq":"1","data":{}}`, "/seq", 29, "where a whole number is expected"},
		{"seq too large", `{"event":"agent-start","seq":1e400,"data":{}}`, "/seq", 29, ""},
		{"bad time", `{"event":"agent-start","time":"yesterday","data":{}}`, "/time", 30, ""},
		{"invalid UTF-8", "{\"event\":\"agent-start\",\"x\":\"\xff\"}", "/x", 28, "UTF-8"},
		{"surrogate in UTF-8", "{\"event\":\"agent-start\",\"x\":\"\xed\xa0\x80\"}", "/x", 28, "UTF-8"},
		{"NaN", toolCall(`{"n":NaN}`), "/data/args/n", 94, "invalid character 'N'"},
		{"Infinity", toolCall(`{"n":-Infinity}`), "/data/args/n", 95, "invalid character"},
		{"depth", toolCall(deep), "", 0, "the limit is 512 levels"},
		{"data is a list", `{"event":"agent-start","data":[]}`, "/data", 30, "a list where an object is expected"},
		{"data lacks a member", `{"event":"prompt-submit","data":{"prompt":"x","attachments":[]}}`, "/data", 32, `member "source" is missing`},
		{"data of wrong type", toolCall(`"ls"`), "/data/args", 89, "a string where an object is expected"},
		{"nested type", `{"event":"step-start","data":{"stepsLeft":null,"messages":[{"role":"user","content":7}]}}`, "/data/messages/0/content", 84, "a number where a string or a list of parts is expected"},
		{"fraction for a count", `{"event":"step-start","data":{"stepsLeft":1.5,"messages":[]}}`, "/data/stepsLeft", 42, "a whole number"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeEvent([]byte(test.line), DecodeLimits{})
			var e *DecodeError
			if !errors.As(err, &e) {
				t.Fatalf("error is %v, want a DecodeError", err)
			}
			if e.Path != test.path {
				t.Errorf("path %q, want %q (%v)", e.Path, test.path, err)
			}
			if e.Offset != test.offset && test.name != "depth" {
				t.Errorf("offset %d, want %d (%v)", e.Offset, test.offset, err)
			}
			if !strings.Contains(err.Error(), test.words) {
				t.Errorf("error %q does not say %q", err, test.words)
			}
		})
	}
}

func TestDecodeEventLimits(t *testing.T) {
	line := []byte(toolCall(`{}`))
	if _, err := DecodeEvent(line, DecodeLimits{Size: int64(len(line))}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := DecodeEvent(line, DecodeLimits{Size: int64(len(line)) - 1}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over the limit: %v, want ErrTooLarge", err)
	}
	nest := func(n int) []byte {
		return []byte(toolCall(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`))
	}
	if _, err := DecodeEvent(nest(509), DecodeLimits{}); err != nil {
		t.Errorf("512 levels: %v", err)
	}
	if _, err := DecodeEvent(nest(510), DecodeLimits{}); !errors.Is(err, ErrTooDeep) {
		t.Errorf("513 levels: %v, want ErrTooDeep", err)
	}
	if _, err := DecodeEvent(nest(100_000), DecodeLimits{}); !errors.Is(err, ErrTooDeep) {
		t.Errorf("depth bomb: %v, want ErrTooDeep", err)
	}
}

func TestDecodeEventIsTolerant(t *testing.T) {
	ev := mustDecode(t, "\xef\xbb\xbf  "+`{"event":"BeforeTool","grease":[1.10],"agent":{"id":"a","model":"m"},"state":{"no":1},
		"metadata":{"x":1},"layer":"managed","outcome":{"action":"block"},
		"data":{"toolCallId":"c","name":"bash","kind":"new-kind","args":{},"parallel":1,"more":1e400}}`+"\r\n")
	if ev.Event != ToolCallStart {
		t.Errorf("event is %q, want our own name", ev.Event)
	}
	if ev.Protocol != Version {
		t.Errorf("protocol is %d, want %d", ev.Protocol, Version)
	}
	if ev.Layer != "" || ev.State != nil || ev.Metadata != nil || ev.Outcome.Action != "" {
		t.Errorf("a host set per-hook members: %v %s %s %v", ev.Layer, ev.State, ev.Metadata, ev.Outcome)
	}
	line, err := AppendEvent(nil, &ev)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"grease":[1.10]`, `"model":"m"`, `"more":1e400`, `"metadata":{}`, `"state":null`} {
		if !strings.Contains(string(line), want) {
			t.Errorf("a hook reads %s, which does not hold %s", line, want)
		}
	}
	if n := strings.Count(string(line), "\n"); n != 1 || line[len(line)-1] != '\n' {
		t.Errorf("a hook reads %d lines, want one", n)
	}
}

// H29: half a surrogate pair becomes U+FFFD wherever it stands, and only there.
func TestLoneSurrogates(t *testing.T) {
	tests := []struct{ in, out string }{
		{`"\ud99c"`, `"\ufffd"`},
		{`"\udc00x\uD800"`, `"\ufffdx\ufffd"`},
		{`"\ud83d\ude00"`, `"\ud83d\ude00"`},
		{`"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`},
		{`"\\ud99c"`, `"\\ud99c"`},
		{`"\\\ud99c"`, `"\\\ufffd"`},
		{`"\ud99"`, ``},
	}
	for _, test := range tests {
		in := []byte(test.in)
		got, err := StrictJSON(in, DecodeLimits{Size: 1000, Depth: 10})
		if string(in) != test.in {
			t.Errorf("%s was written to", test.in)
		}
		if test.out == "" {
			if err == nil {
				t.Errorf("%s is accepted as %s", test.in, got)
			}
			continue
		}
		if err != nil || string(got) != test.out {
			t.Errorf("%s is read as %s, %v; want %s", test.in, got, err, test.out)
		}
		if !utf8.ValidString(jsonspan.Unquote(got)) {
			t.Errorf("%s decodes to invalid UTF-8", test.in)
		}
	}
	ev := mustDecode(t, toolCall(`{"command":"\ud99c"}`))
	line, err := AppendEvent(nil, &ev)
	if err != nil || !utf8.Valid(line) || strings.Contains(string(line), "ud99c") {
		t.Errorf("a hook reads %s, %v", line, err)
	}
}

func TestEncodingForHooks(t *testing.T) {
	ev := mustDecode(t, `{"event":"tool-call-start","session":{"id":"s","key":"secret"},"time":"2026-11-27T21:54:00.123456+01:00","seq":7,
		"data":{"toolCallId":"c","name":"bash","kind":"shell","args":{},"parallel":1}}`)
	encoded, err := Encode(&ev)
	if err != nil {
		t.Fatal(err)
	}
	by := `we"ird`
	pieces := encoded.ForHook(User, OutcomeSoFar{Action: Modify, By: &by, Changed: []string{"/args/a~1b"}}, []byte("{\n\"n\": 1}"), []byte(`{"h":2}`))
	first := bytes.Join(pieces, nil)
	encoded.ForHook(Managed, OutcomeSoFar{}, nil, nil)
	if !bytes.Equal(first, bytes.Join(pieces, nil)) {
		t.Error("what one hook reads was written to for another")
	}
	if &pieces[1][0] != &ev.Data[0] {
		t.Error("data was copied")
	}
	if strings.Contains(string(first), "secret") {
		t.Error("a hook reads the session's key")
	}
	var got struct {
		Seq      int            `json:"seq"`
		Time     string         `json:"time"`
		Layer    string         `json:"layer"`
		Outcome  OutcomeSoFar   `json:"outcome"`
		State    map[string]int `json:"state"`
		Metadata map[string]int `json:"metadata"`
	}
	if err := json.Unmarshal(first, &got); err != nil {
		t.Fatalf("%s: %v", first, err)
	}
	if got.Seq != 7 || got.Time != "2026-11-27T20:54:00.123Z" || got.Layer != "user" || got.State["n"] != 1 || got.Metadata["h"] != 2 {
		t.Errorf("a hook reads %+v", got)
	}
	if diff := cmp.Diff(OutcomeSoFar{Action: Modify, By: &by, Changed: []string{"/args/a~1b"}}, got.Outcome); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if strings.Count(string(first), "\n") != 1 {
		t.Errorf("%q is not one line", first)
	}
}

// The shape of a record: what is absent is null, not "".
func TestRunIsWrittenAsTheRecordSays(t *testing.T) {
	exit := 0
	run := Run{Hook: "9-a.sh", Source: Project, Hash: "sha256:1", Class: CanModify, Mode: Enforce, Action: Modify, Rule: RuleContinue, Exit: &exit, TookMs: 2.2, Changed: []string{"/args/command"}, Stderr: "tail"}
	got, err := Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"hook":"9-a.sh","source":"project","hash":"sha256:1","class":"modify","mode":"enforce","action":"modify","reason":"","failure":null,"rule":"continue","exit":0,"byExit":false,"signal":null,"tookMs":2.2,"changed":["/args/command"],"contextBytes":0,"stderr":"tail","skipped":null}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	var back Run
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, back); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
	run.Failure, run.Signal, run.Skipped = FailSignal, "SIGSEGV", SkipAfterBlock
	got, _ = Marshal(run)
	for _, want := range []string{`"failure":"signal"`, `"signal":"SIGSEGV"`, `"skipped":"after-block"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s does not hold %s", got, want)
		}
	}
}

func TestOutcomeIsWrittenAsTheDaemonSays(t *testing.T) {
	ev := mustDecode(t, toolCall(`{"\u0061":1.10}`))
	outcome := Begin(ev, FoldOptions{Generation: 7}).Outcome()
	got, err := Marshal(outcome)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"action":"observe","by":null,"reason":"","event":{"protocol":1,"event":"tool-call-start",`,
		`"args":{"\u0061":1.10}`, `"context":[],"notices":[],"messages":[],"callback":null,"generation":7,"runs":[]}`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s does not hold %s", got, want)
		}
	}
	if strings.Contains(string(got), `"key"`) {
		t.Errorf("%s holds the session's key", got)
	}
	var back Outcome
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if string(back.Event.Data) != string(ev.Data) {
		t.Errorf("data came back as %s, want %s", back.Event.Data, ev.Data)
	}
}

func TestMarshalNeverWritesInvalidUTF8(t *testing.T) {
	got, err := Marshal(Run{Stderr: "caf\xe9"})
	if err != nil || !utf8.Valid(got) || !strings.Contains(string(got), "caf\ufffd") {
		t.Errorf("Marshal: %s, %v", got, err)
	}
}

func TestComplete(t *testing.T) {
	for i := range Table {
		spec := &Table[i]
		for _, given := range []string{"", "{}", `{"unknown":1.10}`} {
			data := Complete(spec, []byte(given))
			if err := CheckData(spec, data); err != nil {
				t.Errorf("%s: completed data %s: %v", spec.Name, data, err)
			}
			if given == `{"unknown":1.10}` && !strings.Contains(string(data), `"unknown":1.10`) {
				t.Errorf("%s: %s lost what was given", spec.Name, data)
			}
		}
	}
	got := Complete(Lookup(ToolCallStart), []byte(`{"name":"bash", "args":{"command":"ls"}}`))
	if want := `{"name":"bash", "args":{"command":"ls"},"toolCallId":"","kind":"","parallel":0}`; string(got) != want {
		t.Errorf("Complete: %s, want %s", got, want)
	}
}

// An error says little, whatever the input.
func TestDecodeErrorsAreShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, line := range []string{
		`{"event":"` + long + `","data":{}}`,
		`{"event":"agent-start","` + long + `":1,"` + long + `":1}`,
		`{"event":"agent-start","seq":` + strings.Repeat("9", 1<<20) + `,"data":{}}`,
		`{"event":"agent-start","time":"` + long + `","data":{}}`,
		`{"event":"agent-start","` + long + `":{"a":NaN}}`,
	} {
		_, err := DecodeEvent([]byte(line), DecodeLimits{})
		if err == nil || len(err.Error()) > 2000 {
			t.Errorf("%.60s…: an error of %d bytes", line, len(fmt.Sprint(err)))
		}
	}
}

// A person who wrote a file reads where a value is and what belongs there, and no Go type.
func TestPlainErrorNamesNoGoType(t *testing.T) {
	var into struct {
		ID   string `json:"id"`
		List []struct {
			N int `json:"n"`
		} `json:"list"`
	}
	for text, want := range map[string]string{
		`[1]`:                  "byte 0: a list where an object is expected",
		`{"id":3}`:             "at /id, byte 6: a number where a string is expected",
		`{"list":[{"n":"x"}]}`: `at /list/0/n, byte 14: a string where a whole number is expected`,
		`{"list":`:             "at /list, byte 8: the JSON ends too early",
		`x`:                    "byte 0: invalid character 'x' at start of value",
	} {
		if err := PlainError(json.Unmarshal([]byte(text), &into)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if PlainError(nil) != nil {
		t.Error("no error is one")
	}
}
