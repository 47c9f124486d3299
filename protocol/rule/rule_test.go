package rule

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// What a rule may answer where: the table of events decides, as for every hook.
func TestEveryActionAtEveryEventIsWhatTheTableSays(t *testing.T) {
	tried := 0
	for i := range protocol.Table {
		spec := &protocol.Table[i]
		for _, reply := range []Reply{
			{Action: protocol.Block, Reason: "no"}, {Action: protocol.Ask, Reason: "really?"}, {Action: protocol.Allow},
			{Context: "for the model"}, {Notice: "for the person"},
			{Action: protocol.Block, Reason: "no", Notice: "told"}, {Action: protocol.Ask, Context: "more"},
		} {
			tried++
			answer, problems := Compile(&reply, []protocol.EventName{spec.Name})
			possible := true
			switch reply.Action {
			case protocol.Block:
				possible = spec.Block != protocol.BlockFails
			case protocol.Ask:
				possible = spec.Ask != protocol.AskFails
			case protocol.Allow:
				possible = spec.Name == protocol.PermissionRequest
			}
			if reply.Context != "" {
				possible = possible && spec.Context != ""
			}
			if (answer != nil) != possible || (len(problems) == 0) != possible {
				t.Errorf("%+v at %s: answer %v, problems %+v; possible %v", reply, spec.Name, answer, problems, possible)
			}
			if answer == nil {
				continue
			}
			said := answer.At(&protocol.Event{Event: spec.Name}, false)
			info := protocol.HookInfo{Class: protocol.CanBlock, Mode: protocol.Enforce}
			if _, warnings, err := protocol.CheckReply(spec, info, said); err != nil || len(warnings) > 0 {
				t.Errorf("%+v at %s is no reply there: %v %v", said, spec.Name, err, warnings)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d were tried", tried)
	}
}

func TestRepliesThatMakeNoSenseAreRefused(t *testing.T) {
	at := []protocol.EventName{protocol.ToolCallStart}
	for want, reply := range map[string]Reply{
		"says nothing":                {},
		"says nothing:":               {Action: protocol.Observe},
		"goes with an action":         {Notice: "x", Reason: "y"},
		"no closing brace":            {Action: protocol.Block, Reason: "${data.args"},
		"no part ${}":                 {Action: protocol.Block, Reason: "${}"},
		"no part ${data}":             {Action: protocol.Block, Reason: "${data}"},
		"did you mean ${project}":     {Action: protocol.Block, Reason: "${projekt}"},
		`no member "agrs"`:            {Action: protocol.Block, Reason: "${data.agrs.command}"},
		"no member \"x\"":             {Action: protocol.Block, Reason: "${data.name.x}"},
		"what a tool or a model":      {Action: protocol.Block, Reason: "${data.result}"},
		"what a tool or a model retu": {Notice: "${data.result.content}"},
		"has no part ${env.HOME}":     {Notice: "${env.HOME}"},
	} {
		answer, problems := Compile(&reply, at)
		if answer != nil || len(problems) == 0 || problems[0].Remedy == "" {
			t.Errorf("%+v is taken: %+v", reply, problems)
			continue
		}
		all := ""
		for _, p := range problems {
			all += p.Message + "\n"
		}
		if !strings.Contains(all, strings.TrimSuffix(want, ":")) {
			t.Errorf("%+v: %q lacks %q", reply, all, want)
		}
	}
	if _, problems := Compile(&Reply{Action: protocol.Block, Reason: "${data.args.x}"}, []protocol.EventName{protocol.ToolCallStart, protocol.PromptSubmit}); len(problems) == 0 {
		t.Error("a part that one of the events does not have is taken")
	}
}

func callEvent(data string) *protocol.Event {
	return &protocol.Event{Event: protocol.ToolCallStart, Project: "/p", Cwd: "/p/sub", Turn: 3, Session: protocol.Session{ID: "s1"}, Data: protocol.RawMessage(data)}
}

func TestPartsOfTheEventAreShownAsTheyAre(t *testing.T) {
	ev := callEvent(`{"name":"bash","kind":"shell","args":{"command":"git push","n":7,"deep":{"a":[1,2]},"none":null,"tricky":"${data.name}","odd":"a\nb\u202e\u001b[2J"}}`)
	for written, want := range map[string]string{
		"plain $ and $$ and } text":      "plain $ and $$ and } text",
		"${data.name}: ${data.args.n}":   "bash: 7",
		"${data.args.deep}":              `{"a":[1,2]}`,
		"${data.args.deep.a}":            `[1,2]`,
		"${data.args.none}":              noValue,
		"${data.args.gone.further}":      noValue,
		"${data.args.n.further}":         noValue,
		"$${data.name}":                  "${data.name}",
		"${data.args.tricky}":            "${data.name}",
		"${data.args.odd}":               `a\nb\u202e\x1b[2J`,
		"${event} ${project} ${turn}":    "tool-call-start /p 3",
		"${session.id}${cwd}":            "s1/p/sub",
		"${data.args.command}${project}": "git push/p",
	} {
		answer, problems := Compile(&Reply{Action: protocol.Block, Reason: written}, []protocol.EventName{protocol.ToolCallStart})
		if len(problems) > 0 {
			t.Errorf("%q: %+v", written, problems)
			continue
		}
		if got := answer.At(ev, false).Reason; got != want {
			t.Errorf("%q is %q, want %q", written, got, want)
		}
		if hidden := answer.At(ev, true).Reason; strings.Contains(written, "${data") && !strings.Contains(written, "$${") && !strings.Contains(hidden, hiddenValue) {
			t.Errorf("%q shows what a sensitive hook has seen: %q", written, hidden)
		}
	}
}

func TestPartsAreBounded(t *testing.T) {
	answer, problems := Compile(&Reply{Action: protocol.Block, Reason: "<${data.args.command}>"}, []protocol.EventName{protocol.ToolCallStart})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, long := range []string{strings.Repeat("é", 300), strings.Repeat("x", 100_000), strings.Repeat("\u200b", 300)} {
		data, err := protocol.Marshal(map[string]any{"args": map[string]string{"command": long}})
		if err != nil {
			t.Fatal(err)
		}
		got := answer.At(callEvent(string(data)), false).Reason
		if n := utf8.RuneCountInString(got); n != LongestPart+2 {
			t.Errorf("%d characters", n)
		}
	}
}

func TestUndecidedAsksOrRefuses(t *testing.T) {
	for i := range protocol.Table {
		spec := &protocol.Table[i]
		answer, problems := Compile(&Reply{Action: protocol.Block, Reason: "why"}, []protocol.EventName{spec.Name})
		if len(problems) > 0 {
			continue
		}
		said := answer.Undecided(&protocol.Event{Event: spec.Name}, false, errors.New("a word"))
		want := protocol.Ask
		if spec.Ask == protocol.AskFails {
			want = protocol.Block
		}
		if said.Action != want || !strings.Contains(said.Reason, "why") {
			t.Errorf("%s: %+v", spec.Name, said)
		}
	}
}

// Whatever a text and an event hold, expanding it neither fails nor shows what is hidden.
func FuzzTexts(f *testing.F) {
	f.Add("no ${data.args.command}", `{"args":{"command":"x"}}`)
	f.Add("$${", `{"args":{"command":"${event}"}}`)
	f.Add("${data.args.}${", `[]`)
	f.Add("${data.args.a.b.c}", `{"args":{"a":{"b":{"c":"\u202e"}}}}`)
	f.Fuzz(func(t *testing.T, written, data string) {
		answer, problems := Compile(&Reply{Action: protocol.Block, Reason: written}, []protocol.EventName{protocol.ToolCallStart})
		if (answer == nil) == (len(problems) == 0) {
			t.Fatalf("answer %v with %+v", answer, problems)
		}
		if answer == nil {
			return
		}
		ev := callEvent(data)
		got := answer.At(ev, false).Reason
		parts := strings.Count(written, "${")
		if longest := len(written) + parts*(LongestPart*utf8.UTFMax+len("…")); len(got) > longest {
			t.Errorf("%q grew to %d bytes", written, len(got))
		}
		if text.IsVisible(written) && !text.IsVisible(got) {
			t.Errorf("%q with %q shows %q", written, data, got)
		}
	})
}
