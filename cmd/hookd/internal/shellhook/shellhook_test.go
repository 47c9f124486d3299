package shellhook

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

const event = `{"protocol":1,"event":"tool-call-start","agent":{"parent":null},"data":{"toolCallId":"c1",
"args":{"command":"git pus\u0068 \"it's\"\n","n":1e400,"yes":true,"none":null,"list":["a",{"b":"c"}],"a.b":"dot","nul":"a\u0000b","empty":""},"calls":[{"name":"x"}]}}`

func get(names ...string) (string, error) {
	var out bytes.Buffer
	err := Get(names, strings.NewReader(event), &out)
	return out.String(), err
}

// The content of a result or message is a text or a list of parts; to a shell both are a
// text. Another list is none, and neither is a member of args that has the same name.
func TestGetContentIsAllItsText(t *testing.T) {
	for content, want := range map[string]string{
		`"a"`: "a\n", `[]`: "\n",
		`[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}]`:                           "a\nb\n",
		`[{"type":"toolResult","content":[{"type":"text","text":"a"}]},{"type":"toolResult","content":"b","text":"c"}]`: "a\nc\nb\n",
		`[{"text":"a"}]`: "", `["a"]`: "", `[{"type":"text","text":"a\u0000"}]`: "", `{"type":"text"}`: "", `[{"type":"toolResult","content":[1]}]`: "",
	} {
		for member, of := range map[string]string{"result": "data.result.content", "message": "/data/message/content", "args": "data.args.content"} {
			var out bytes.Buffer
			err := Get([]string{of}, strings.NewReader(`{"data":{"`+member+`":{"content":`+content+`}}}`), &out)
			want := want
			if member == "args" && content[0] == '[' {
				want = ""
			}
			if got := out.String(); got != want || (err == nil) != (want != "") {
				t.Errorf("%s of %s: %q, %v; want %q", of, content, got, err, want)
			}
		}
	}
}

func TestGet(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"data.args.command"}, "git push \"it's\"\n\n"},
		{[]string{"event"}, "tool-call-start\n"},
		{[]string{"data.args.n"}, "1e400\n"},
		{[]string{"data.args.yes"}, "true\n"},
		{[]string{"data.args.empty"}, "\n"},
		{[]string{"data.args.list.0"}, "a\n"},
		{[]string{"data.args.list.1.b"}, "c\n"},
		{[]string{"/data/args/a.b"}, "dot\n"},
		{[]string{"data.args.missing?"}, "\n"},
		{[]string{"data.args.none?"}, "\n"},
		{[]string{"data.nowhere.deeper?"}, "\n"},
		{[]string{"command=data.args.command"}, "command='git push \"it'\\''s\"\n'\n"},
		{[]string{"data.args.command", "data.toolCallId", "first=data.args.list.0", "data.args.x?"}, "command='git push \"it'\\''s\"\n'\ntoolCallId='c1'\nfirst='a'\nx=''\n"},
	} {
		if got, err := get(c.names...); err != nil || got != c.want {
			t.Errorf("%v: %q, %v; want %q", c.names, got, err, c.want)
		}
	}
	for _, names := range [][]string{
		{"data.args.missing"}, {"data.args.none"}, {"agent.parent"}, {"data.args"}, {"data.args.list"}, {"data.args.nul"}, {"data.args.nul?"},
		{"data.args.list?"}, {"data.args.list.2"}, {"data.args.list.-1"}, {"data.args.list.00"}, {"data.args.command.x"},
		{"data.args.command", "data.args.missing"}, {"event", "data.args.nul"},
	} {
		if got, err := get(names...); err == nil || got != "" || errors.As(err, new(*UsageError)) {
			t.Errorf("%v: %q, %v", names, got, err)
		}
	}
	for _, names := range [][]string{
		{""}, {"data..args"}, {"."}, {"event", "x=event", "x=event"}, {"event", "event"}, {"event", "data.args.list.0"},
		{"event", "PATH=data.args.command"}, {"event", "/data/args/PATH"}, {"event", "/data/args/a.b"}, {"event", "/data/~2"},
	} {
		if got, err := get(names...); err == nil || got != "" || !errors.As(err, new(*UsageError)) {
			t.Errorf("%v: %q, %v", names, got, err)
		}
	}
	for _, input := range []string{"", "{}{}", "not json", `{"event":"x","event":"y"}`, event + event, "[", "\xff"} {
		var out bytes.Buffer
		if err := Get([]string{"event"}, strings.NewReader(input), &out); err == nil || out.Len() > 0 {
			t.Errorf("%q: %q, %v", input, out.String(), err)
		}
	}
}

// FuzzGet: what a shell makes of an assignment is the text itself.
func FuzzGet(f *testing.F) {
	for _, seed := range []string{"", "it's", "$(touch x)`id`\\", "a\nb\r\n", "'; touch x; '", "\u2028é😀", "-n", "%s"} {
		f.Add(seed)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("there is no sh")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Skip()
		}
		input, err := json.Marshal(map[string]any{"text": text, "more": "x"})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Get([]string{"text", "more"}, bytes.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(shell, "-c", `eval "$1"; printf '%s|%s' "$text" "$more"`, "sh", out.String())
		c.Dir = t.TempDir()
		if got, err := c.Output(); err != nil || string(got) != text+"|x" {
			t.Fatalf("%q comes out as %q, %v", text, got, err)
		}
	})
}

func reply(a Answer) (string, error) {
	if a.Stdin == nil {
		a.Stdin = strings.NewReader("")
	}
	var out bytes.Buffer
	err := a.Write(&out)
	return strings.TrimSuffix(out.String(), "\n"), err
}

func TestReply(t *testing.T) {
	in := strings.NewReader
	for _, c := range []struct {
		answer Answer
		want   string
	}{
		{Answer{Action: "block", Reason: "no \"x\"\n\t\x01"}, `{"action":"block","reason":"no \"x\"\n\t\u0001"}`},
		{Answer{Action: "deny", Reason: "no"}, `{"action":"block","reason":"no"}`},
		{Answer{Action: "block", Reason: "a\xffb"}, `{"action":"block","reason":"a` + "\ufffd" + `b"}`},
		{Answer{Action: "block", Stdin: in("from stdin\n\n"), Piped: true}, `{"action":"block","reason":"from stdin"}`},
		{Answer{Action: "block", Stdin: in("from stdin")}, `{"action":"block"}`},
		{Answer{Action: "block", Reason: "-", Stdin: in("from stdin")}, `{"action":"block","reason":"from stdin"}`},
		{Answer{Action: "block", Reason: "given", Stdin: in("unread"), Piped: true}, `{"action":"block","reason":"given"}`},
		{Answer{Action: "block", Stdin: in(event), Piped: true}, `{"action":"block"}`},
		{Answer{Action: "observe", Stdin: in("unread"), Piped: true}, `{"action":"observe"}`},
		{Answer{Action: "observe", Context: "-", Stdin: in("ctx"), Piped: true}, `{"action":"observe","context":"ctx"}`},
		{Answer{Action: "ask", Reason: "sure?", Notice: "n", ID: "01J"}, `{"action":"ask","reason":"sure?","notice":"n","id":"01J"}`},
		{Answer{Action: "modify", Set: []string{"data.args.command=a=\"b\"", "data.args.deep.x=1", "/data/args/a.b="}},
			`{"action":"modify","changes":{"args":{"a.b":"","command":"a=\"b\"","deep":{"x":"1"}}}}`},
		{Answer{Action: "continue", Reason: "more", Set: []string{"data.prompt=x"}}, `{"action":"continue","reason":"more","changes":{"prompt":"x"}}`},
	} {
		if got, err := reply(c.answer); err != nil || got != c.want {
			t.Errorf("%+v:\n%s, %v; want\n%s", c.answer, got, err, c.want)
		}
	}
	for _, a := range []Answer{
		{Action: ""}, {Action: "blokc"}, {Action: "callback"}, {Action: "modify"}, {Action: "block", Set: []string{"data.args.a=b"}},
		{Action: "modify", Set: []string{"data.args.a"}}, {Action: "modify", Set: []string{"session.id=x"}}, {Action: "modify", Set: []string{"data=x"}},
		{Action: "modify", Set: []string{"data.a=1", "data.a=2"}}, {Action: "modify", Set: []string{"data.a=1", "data.a.b=2"}},
		{Action: "modify", Set: []string{"data.a.b=1", "data.a=2"}}, {Action: "block", Reason: "-", Context: "-"},
	} {
		if got, err := reply(a); err == nil || got != "" {
			t.Errorf("%+v: %s", a, got)
		}
	}
}

// A text of any length makes a reply that is read whole, with the end of the text.
func TestReplyOfALongText(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a line of a test's output\n", 400_000) + "the end", strings.Repeat("\x01", 3<<20) + "the end",
		strings.Repeat("é", 1<<20) + "the end", strings.Repeat("\xff", 1<<20) + "the end",
	} {
		for _, a := range []Answer{
			{Action: "block", Stdin: strings.NewReader(text), Piped: true},
			{Action: "block", Reason: text, Context: text, Notice: text},
		} {
			got, err := reply(a)
			if err != nil {
				t.Fatal(err)
			}
			r := readreply.Read(protocol.Lookup(protocol.ToolCallStart), protocol.HookInfo{Class: protocol.CanBlock}, []byte(got), nil, readreply.ProcessEnd{Exit: new(int)}, "id", readreply.Limits{})
			if r.Reply == nil || r.Reply.Action != protocol.Block || !strings.HasSuffix(r.Reply.Reason, "the end") || !utf8.ValidString(got) || len(got) > 1<<20 || len(r.Warnings) > 0 {
				t.Errorf("%d bytes: %v %q", len(got), r.Failure, r.Warnings)
			}
		}
	}
	if _, err := reply(Answer{Action: "modify", Set: []string{"data.args.content=" + strings.Repeat("x", 300<<10)}}); err == nil {
		t.Error("a change was cut")
	}
}
