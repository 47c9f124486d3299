package acpview

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// event is an event as a run shows it; depth is that of its agent.
func event(name protocol.EventName, depth int, data any, outcome protocol.Outcome) *agentloop.Update {
	encoded, err := protocol.Marshal(data)
	if err != nil {
		panic(err)
	}
	e := protocol.Event{Event: name, Agent: protocol.Agent{ID: "main", Depth: depth}, Data: encoded}
	if depth > 0 {
		e.Agent.ID = "sub"
	}
	outcome.Event = e
	return &agentloop.Update{Kind: agentloop.UpdateEvent, Event: e, Outcome: outcome}
}

func delta(message, text string) *agentloop.Update {
	return &agentloop.Update{Kind: agentloop.UpdateDelta, Delta: agentloop.Delta{MessageID: message, Text: text}}
}

func callOf(id, name string, kind protocol.ToolKind, args string) protocol.Call {
	return protocol.Call{ToolCallID: id, Name: name, Kind: kind, Args: protocol.RawMessage(args)}
}

// told is what a client is told, an update a line, without its type.
func told(updates []any) (lines []string) {
	for _, u := range updates {
		text, err := json.Marshal(u, json.Deterministic(true))
		if err != nil {
			panic(err)
		}
		lines = append(lines, string(text))
	}
	return lines
}

func TestUpdates(t *testing.T) {
	now := time.Unix(0, 0)
	bash := callOf("c1", "bash", protocol.KindShell, `{"command":"make\u202e"}`)
	for name, test := range map[string]struct {
		shown []*agentloop.Update
		want  []string
	}{
		"what a sub-agent says comes in one piece": {
			[]*agentloop.Update{
				event(protocol.StepStart, 0, protocol.StepStartData{}, protocol.Outcome{}),
				event(protocol.SubagentStart, 0, protocol.SubagentStartData{AgentID: "sub", Name: "scout"}, protocol.Outcome{}),
				event(protocol.MessageStart, 1, protocol.DeltaStartData{MessageID: "m"}, protocol.Outcome{}),
				delta("m", "I fo"), delta("m", "und it"),
				event(protocol.MessageEnd, 1, protocol.DeltaEndData{MessageID: "m", Content: "I found it"}, protocol.Outcome{}),
				event(protocol.ToolCallStart, 1, protocol.ToolCallStartData{Call: callOf("c1", "read_file", protocol.KindRead, `{"path":"a","offset":7}`)}, protocol.Outcome{}),
			},
			[]string{
				`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"sub-agent scout: I found it\n"},"messageId":"m"}`,
				`{"sessionUpdate":"tool_call","toolCallId":"sub/c1","title":"read_file a","name":"read_file","kind":"read","status":"in_progress","rawInput":{"path":"a","offset":7}}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"sub/c1","status":"failed"}`,
			},
		},
		"a text that is not kept is said to be so": {
			[]*agentloop.Update{
				event(protocol.MessageStart, 0, protocol.DeltaStartData{MessageID: "m"}, protocol.Outcome{}),
				delta("m", "half"),
				{Kind: agentloop.UpdateDropped, Delta: agentloop.Delta{MessageID: "m"}},
				{Kind: agentloop.UpdateDropped, Delta: agentloop.Delta{MessageID: "never shown"}},
			},
			[]string{
				`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"half"},"messageId":"m"}`,
				`{"sessionUpdate":"notice","severity":"warning","title":"the answer above is not kept: it was not whole, or it was refused"}`,
			},
		},
		"output comes as often as a person reads, and a call without an end has failed": {
			[]*agentloop.Update{
				event(protocol.ToolCallStart, 0, protocol.ToolCallStartData{Call: bash}, protocol.Outcome{Answered: &protocol.Answered{By: protocol.ByFlag}}),
				{Kind: agentloop.UpdateOutput, Output: agentloop.Output{ToolCallID: "c1", Text: "one\n"}},
				{Kind: agentloop.UpdateOutput, Output: agentloop.Output{ToolCallID: "c1", Text: "two\n"}},
				nil, // time passes
				{Kind: agentloop.UpdateOutput, Output: agentloop.Output{ToolCallID: "c1", Text: "```"}},
				{Kind: agentloop.UpdateOutput, Output: agentloop.Output{ToolCallID: "unknown", Text: "x"}},
			},
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"make\\u202e","name":"bash","kind":"execute","status":"in_progress","rawInput":{"command":"make\u202e"}}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"` + "```" + `\none\n` + "```" + `"}}]}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"` + "````" + `\none\ntwo\n` + "```" + `\n` + "````" + `"}}]}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed"}`,
			},
		},
		"a withheld result is not shown": {
			[]*agentloop.Update{
				event(protocol.ToolCallStart, 0, protocol.ToolCallStartData{Call: callOf("c1", "web", protocol.KindNet, `{}`)}, protocol.Outcome{}),
				event(protocol.ToolCallEnd, 0, protocol.ToolCallEndData{Call: callOf("c1", "web", protocol.KindNet, `{}`), Result: protocol.Result{Content: protocol.TextContent("secret")}},
					protocol.Outcome{Action: protocol.Block, By: new("hide.sh"), Reason: "it is secret"}),
			},
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"web {}","name":"web","kind":"fetch","status":"pending","rawInput":{}}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed","content":[{"type":"content","content":{"type":"text","text":"✗ blocked by hide.sh: it is secret"}},{"type":"content","content":{"type":"text","text":"the result was withheld"}}]}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := New(Options{Notices: true, Now: func() time.Time { return now }})
			now = time.Unix(1, 0)
			var got []string
			for _, y := range test.shown {
				if y == nil {
					now = now.Add(time.Second)
					continue
				}
				got = append(got, told(v.Updates(y))...)
			}
			got = append(got, told(v.End(false))...)
			for i := range test.want { // in JSON the sign stands as it is
				test.want[i] = strings.Replace(test.want[i], `"make\u202e"`, "\"make\u202e\"", 1)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a model says of itself cannot repaint a terminal that a client shows it in: as it streams,
// as a list of tasks, as a tool's name, and when it is replayed.
func TestWhatAModelSaysIsVisible(t *testing.T) {
	const raw = "\x1b[2Jtwo\nlines\u202e"
	v := New(Options{Notices: true})
	todo := callOf("t", "todo_write", protocol.KindOther, `{"items":[{"text":"\u001b[2J","status":"pending"}]}`)
	var updates []any
	for _, y := range []*agentloop.Update{
		event(protocol.StepStart, 0, protocol.StepStartData{}, protocol.Outcome{}),
		delta("m", raw), {Kind: agentloop.UpdateDelta, Delta: agentloop.Delta{MessageID: "n", Text: raw, Thinking: true}},
		event(protocol.MessageEnd, 1, protocol.DeltaEndData{MessageID: "s", Content: raw}, protocol.Outcome{}),
		event(protocol.ToolCallStart, 0, protocol.ToolCallStartData{Call: callOf("c", "no\x1bname", protocol.KindOther, `{}`)}, protocol.Outcome{}),
		event(protocol.ToolCallStart, 0, protocol.ToolCallStartData{Call: todo}, protocol.Outcome{}),
		event(protocol.ToolCallEnd, 0, protocol.ToolCallEndData{Call: todo}, protocol.Outcome{}),
	} {
		updates = append(updates, v.Updates(y)...)
	}
	updates = append(updates, v.Replay([]protocol.Message{{ID: "1", Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.PartThinking, Text: raw}, {Type: protocol.PartText, Text: raw}}}}, func(string) protocol.ToolKind { return "" })...)
	shown := 0
	for _, u := range updates {
		texts := []string{}
		switch u := u.(type) {
		case *acp.Chunk:
			texts = append(texts, *u.Content.Text)
		case *acp.ToolCall: // its args are data
			texts = append(texts, u.Title, u.Name)
		case *acp.Plan:
			texts = append(texts, u.Entries[0].Content)
		}
		for _, text := range texts {
			if strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("%q", text)
			}
			if strings.Contains(text, `\x1b`) {
				shown++
			}
		}
	}
	if shown != 8 { // five texts, the task, and both of the tool without a name
		t.Errorf("shown %d times: %v", shown, told(updates))
	}
}

// A word of hookd does not run into a text of the model, although a client may append one to the
// other.
func TestAWordOfHookdIsApart(t *testing.T) {
	v := New(Options{})
	v.Updates(event(protocol.MessageStart, 0, protocol.DeltaStartData{MessageID: "m"}, protocol.Outcome{}))
	var said strings.Builder
	for _, y := range []*agentloop.Update{
		delta("m", "half"), event(protocol.Notification, 0, protocol.NotificationData{Kind: "hook", Text: "one"}, protocol.Outcome{}),
		event(protocol.Notification, 0, protocol.NotificationData{Kind: "hook", Text: "two"}, protocol.Outcome{}), delta("m", "more"),
	} {
		for _, u := range v.Updates(y) {
			said.WriteString(*u.(*acp.Chunk).Content.Text)
		}
	}
	if want := "half\n\n> one\n\n> two\n\nmore"; said.String() != want {
		t.Errorf("%q, want %q", said.String(), want)
	}
}

func write(c protocol.Call) protocol.Call {
	c.RealPath = "/p/a"
	return c
}

// A person reads all that will run, and by whom they are asked.
func TestAQuestionHidesNothing(t *testing.T) {
	options := []protocol.PermissionOption{{OptionID: "allow", Name: "Allow", Kind: "allow-once"}}
	for name, test := range map[string]struct {
		question agentloop.Question
		says     []string
	}{
		"a command": {
			agentloop.Question{Call: new(callOf("c", "bash", protocol.KindShell, `{"command":"echo \u202e; rm -rf /`+strings.Repeat(" ", 300)+`;evil"}`)), AskedBy: "hook:guard.sh", Layer: protocol.Project, Text: "sure?"},
			[]string{"the project's hook guard.sh asks before bash runs: sure?", `\\u202e`, ";evil\\n```"},
		},
		"a command with more args": {
			agentloop.Question{Call: new(callOf("c", "bash", protocol.KindShell, `{"command":"make","timeout":9,"dir":"/elsewhere"}`)), AskedBy: "policy"},
			[]string{`make\n`, `/elsewhere`},
		},
		"a change of a file": {
			agentloop.Question{Call: new(write(callOf("c", "edit_file", protocol.KindWrite, `{"path":"a","oldText":"x","newText":"y","replaceAll":true}`))), AskedBy: "policy"},
			[]string{`"type":"diff","path":"/p/a","oldText":"x","newText":"y"`, "replaceAll"},
		},
		"a tool of a server": {
			agentloop.Question{Call: new(callOf("c", "mcp__x__y", protocol.KindMCP, `{"deep":{"value":"`+strings.Repeat("v", 500)+`end"}}`)), AskedBy: "policy"},
			[]string{"hookd asks before mcp__x__y runs", "vend"},
		},
		"an event that is no call": {
			agentloop.Question{Event: protocol.PromptSubmit, AskedBy: "hook:guard.sh", Layer: protocol.User, Text: "send it?"},
			[]string{`"title":"prompt-submit"`, "your hook guard.sh asks before prompt-submit: send it?", `"toolCallId":"question"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.question.Options = options
			asked := New(Options{}).Question(&test.question, "question")
			got := told([]any{asked})[0]
			for _, want := range append(test.says, `"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"}]`) {
				if !strings.Contains(got, want) {
					t.Errorf("without %s: %s", want, got)
				}
			}
		})
	}
}

// Whom a hook asks about a change of a file sees the change.
func TestAQuestionOfAHookShowsTheDiff(t *testing.T) {
	v := New(Options{})
	asked := write(callOf("c", "write_file", protocol.KindWrite, `{"path":"a","content":"new"}`))
	outcome := protocol.Outcome{Action: protocol.Ask, By: new("guard.sh"), Reason: "sure?"}
	shown := told(v.Updates(event(protocol.ToolCallStart, 0, protocol.ToolCallStartData{Call: asked}, outcome)))
	shown = append(shown, told([]any{v.Question(&agentloop.Question{Call: &asked, AskedBy: "hook:guard.sh"}, "question")})...)
	for _, got := range shown {
		if !strings.Contains(got, `{"type":"diff","path":"/p/a","newText":"new"}`) || strings.Contains(got, "```") {
			t.Error(got)
		}
	}
}

// In a client a person reads what to do about a hook that could not be asked.
func TestAFailedHookIsToldWithItsRemedy(t *testing.T) {
	outcome := protocol.Outcome{Action: protocol.Block, By: new("guard.sh"), Failure: protocol.FailSettings, Runs: []protocol.Run{
		{Hook: "guard.sh", Source: protocol.Project, Failure: protocol.FailSettings, Detail: "its description is faulty", Remedy: "correct what hookd check says", Rule: protocol.Rule("block")},
	}}
	got := told(New(Options{Notices: true}).Updates(event(protocol.PromptSubmit, 0, protocol.PromptSubmitData{}, outcome)))
	if len(got) != 1 || !strings.Contains(got[0], "its description is faulty") || !strings.Contains(got[0], "correct what hookd check says") {
		t.Errorf("%q", got)
	}
}

// A conversation is replayed as it was shown: prompts without the context of hooks, calls with
// what became of them. A call without a result has failed.
func TestReplay(t *testing.T) {
	text := func(s string) protocol.Part { return protocol.Part{Type: protocol.PartText, Text: s} }
	messages := []protocol.Message{
		{ID: "1", Role: protocol.RoleUser, Content: protocol.Content{text("hi"), {Type: protocol.PartText, Text: "context", Hook: "h"}, {Type: protocol.PartImage, MediaType: "image/png", Data: protocol.RawMessage(`"AAAA"`)}}},
		{ID: "2", Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.PartThinking, Text: "hm"}, text("ho"), {Type: protocol.PartOpaque, Provider: "x"}, {Type: protocol.PartToolCall, ToolCallID: "a", Name: "bash", Args: protocol.RawMessage(`{"command":"ls"}`)}, {Type: protocol.PartToolCall, ToolCallID: "b", Name: "web", Args: protocol.RawMessage(`{}`)}}},
		{ID: "3", Role: protocol.RoleTool, Content: protocol.Content{{Type: protocol.PartToolResult, ToolCallID: "a", Content: protocol.TextContent("x"), IsError: true}}},
	}
	got := told(New(Options{}).Replay(messages, func(tool string) protocol.ToolKind {
		return map[string]protocol.ToolKind{"bash": protocol.KindShell}[tool]
	}))
	want := []string{
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"},"messageId":"1"}`,
		`{"sessionUpdate":"user_message_chunk","content":{"type":"image","data":"AAAA","mimeType":"image/png"},"messageId":"1"}`,
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"},"messageId":"2"}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ho"},"messageId":"2"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"a","title":"ls","name":"bash","kind":"execute","status":"pending","rawInput":{"command":"ls"}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"b","title":"web {}","name":"web","kind":"other","status":"pending","rawInput":{}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed","content":[{"type":"content","content":{"type":"text","text":"` + "```\\nx\\n```" + `"}}],"rawOutput":{"content":[{"type":"text","text":"x"}],"isError":true}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"failed"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A terminal stays in its call, in the place of the output; the words of hooks stand before it. Of
// two agents whose calls have the same id each has its own.
func TestATerminalInACall(t *testing.T) {
	v := New(Options{Notices: true})
	run := func(updates ...*agentloop.Update) (all []any) {
		for _, y := range updates {
			all = append(all, v.Updates(y)...)
		}
		return all
	}
	bash := callOf("c1", "bash", protocol.KindShell, `{"command":"make"}`)
	run(event(protocol.ToolCallStart, 0, protocol.ToolCallStartData{Call: bash}, protocol.Outcome{}),
		event(protocol.ToolCallStart, 1, protocol.ToolCallStartData{Call: bash}, protocol.Outcome{}))
	got := told(v.Terminal("main", "c1", "t1"))
	got = append(got, told(v.Terminal("sub", "c1", "t2"))...)
	got = append(got, told(v.Terminal("main", "unknown", "t3"))...)
	one := protocol.Result{Content: protocol.TextContent("one")}
	left := protocol.Result{Content: protocol.TextContent("two"), Left: []string{"sleep"}}
	got = append(got, told(run(
		&agentloop.Update{Kind: agentloop.UpdateOutput, Output: agentloop.Output{AgentID: "main", ToolCallID: "c1", Text: "one\n"}},
		&agentloop.Update{Kind: agentloop.UpdateOutput, Output: agentloop.Output{AgentID: "sub", ToolCallID: "c1", Text: "two\n"}},
		event(protocol.ToolCallEnd, 1, protocol.ToolCallEndData{Call: bash, Result: left}, protocol.Outcome{}),
		event(protocol.ToolCallEnd, 0, protocol.ToolCallEndData{Call: bash, Result: one}, protocol.Outcome{}),
		event(protocol.ToolCallStart, 0, protocol.ToolCallStartData{Call: bash}, protocol.Outcome{}),
	))...)
	v.Terminal("main", "c1", "t4")
	got = append(got, told(run(event(protocol.ToolCallEnd, 0, protocol.ToolCallEndData{Call: bash, Result: one},
		protocol.Outcome{Action: protocol.Block, By: new("hide.sh"), Reason: "it is secret"})))...)
	want := []string{
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","content":[{"type":"terminal","terminalId":"t1"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"sub/c1","status":"in_progress","content":[{"type":"terminal","terminalId":"t2"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"sub/c1","status":"completed","content":[{"type":"terminal","terminalId":"t2"},{"type":"content","content":{"type":"text","text":"` + "```" + `\ntwo\n` + "```" + `"}}],"rawOutput":{"content":[{"type":"text","text":"two"}],"isError":false,"left":["sleep"]}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"terminal","terminalId":"t1"}],"rawOutput":{"content":[{"type":"text","text":"one"}],"isError":false}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"make","name":"bash","kind":"execute","status":"pending","rawInput":{"command":"make"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed","content":[{"type":"content","content":{"type":"text","text":"✗ blocked by hide.sh: it is secret"}},{"type":"content","content":{"type":"text","text":"the result was withheld"}}]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
