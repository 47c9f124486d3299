package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/golden"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// saying is one way in which a hook of another agent says something. In stdout, EVENT is
// the event's name, MARK the text to look for, and ARGS the call's args as the hook read
// them, of which one text was replaced by MARK.
type saying struct {
	name           string
	stdout, stderr string
	exit           int
}

// sayings are all ways in which hooks of an agent say something, at whatever event: what
// it means there is the dialect's to know.
var sayings = map[string][]saying{
	"claude": {
		{"deny", `{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"deny","permissionDecisionReason":"MARK"}}`, "", 0},
		{"block", `{"decision":"block","reason":"MARK"}`, "", 0},
		{"exit 2", ``, "MARK", 2},
		{"ask", `{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"ask","permissionDecisionReason":"MARK"}}`, "", 0},
		{"change", `{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"allow","updatedInput":ARGS}}`, "", 0},
		{"output", `{"hookSpecificOutput":{"hookEventName":"EVENT","updatedToolOutput":"MARK"}}`, "", 0},
		{"context", `{"hookSpecificOutput":{"hookEventName":"EVENT","additionalContext":"MARK"}}`, "", 0},
		{"text", `MARK`, "", 0},
		{"end", `{"continue":false,"stopReason":"MARK"}`, "", 0},
		{"forbid", `{"hookSpecificOutput":{"hookEventName":"EVENT","decision":{"behavior":"deny","message":"MARK"}}}`, "", 0},
		{"permit", `{"hookSpecificOutput":{"hookEventName":"EVENT","decision":{"behavior":"allow"}}}`, "", 0},
		{"tell", `{"systemMessage":"MARK"}`, "", 0},
	},
	"gemini": {
		{"deny", `{"decision":"deny","reason":"MARK"}`, "", 0},
		{"exit 2", ``, "MARK", 2},
		{"ask", `{"decision":"ask","reason":"MARK"}`, "", 0},
		{"change", `{"decision":"allow","hookSpecificOutput":{"hookEventName":"EVENT","tool_input":ARGS}}`, "", 0},
		{"context", `{"hookSpecificOutput":{"hookEventName":"EVENT","additionalContext":"MARK"}}`, "", 0},
		{"text", `MARK`, "", 0},
		{"end", `{"continue":false,"stopReason":"MARK"}`, "", 0},
		{"request", `{"hookSpecificOutput":{"hookEventName":"EVENT","llm_request":{"messages":[{"role":"user","content":"MARK"}]}}}`, "", 0},
		{"response", `{"decision":"deny","reason":"MARK","hookSpecificOutput":{"hookEventName":"EVENT","llm_response":{"candidates":[{"content":{"role":"model","parts":["MARK"]}}]}}}`, "", 0},
		{"new response", `{"hookSpecificOutput":{"hookEventName":"EVENT","llm_response":{"candidates":[{"content":{"role":"model","parts":["MARK"]}}]}}}`, "", 0},
		{"no tools", `{"hookSpecificOutput":{"hookEventName":"EVENT","toolConfig":{"mode":"NONE"}}}`, "", 0},
		{"tell", `{"systemMessage":"MARK"}`, "", 0},
	},
	"codex": {
		{"deny", `{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"deny","permissionDecisionReason":"MARK"}}`, "", 0},
		{"block", `{"decision":"block","reason":"MARK"}`, "", 0},
		{"exit 2", ``, "MARK", 2},
		{"change", `{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"allow","updatedInput":ARGS}}`, "", 0},
		{"context", `{"hookSpecificOutput":{"hookEventName":"EVENT","additionalContext":"MARK"}}`, "", 0},
		{"text", `MARK`, "", 0},
		{"end", `{"continue":false,"stopReason":"MARK"}`, "", 0},
		{"forbid", `{"hookSpecificOutput":{"hookEventName":"EVENT","decision":{"behavior":"deny","message":"MARK"}}}`, "", 0},
		{"permit", `{"hookSpecificOutput":{"hookEventName":"EVENT","decision":{"behavior":"allow"}}}`, "", 0},
		{"tell", `{"systemMessage":"MARK"}`, "", 0},
	},
	"cursor": {
		{"deny", `{"permission":"deny","user_message":"MARK","agent_message":"MARK"}`, "", 0},
		{"exit 2", `MARK`, "", 2},
		{"ask", `{"permission":"ask","user_message":"MARK"}`, "", 0},
		{"change", `{"permission":"allow","updated_input":ARGS}`, "", 0},
		{"context", `{"additional_context":"MARK"}`, "", 0},
		{"refuse", `{"continue":false,"user_message":"MARK"}`, "", 0},
		{"follow up", `{"followup_message":"MARK"}`, "", 0},
		{"garbage", `MARK`, "", 0},
	},
	"copilot": {
		{"deny", `{"permissionDecision":"deny","permissionDecisionReason":"MARK"}`, "", 0},
		{"nested", `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"MARK"}}`, "", 0},
		{"block", `{"decision":"block","reason":"MARK"}`, "", 0},
		{"exit 2", ``, "MARK", 2},
		{"crash", ``, "MARK", 1},
		{"ask", `{"permissionDecision":"ask","permissionDecisionReason":"MARK"}`, "", 0},
		{"change", `{"modifiedArgs":ARGS}`, "", 0},
		{"output", `{"modifiedResult":{"resultType":"success","textResultForLlm":"MARK"}}`, "", 0},
		{"prompt", `{"modifiedTransformedPrompt":"MARK"}`, "", 0},
		{"response", `{"modifiedResponse":"MARK"}`, "", 0},
		{"context", `{"additionalContext":"MARK"}`, "", 0},
		{"forbid", `{"behavior":"deny","message":"MARK"}`, "", 0},
		{"permit", `{"behavior":"allow"}`, "", 0},
	},
	"kodelet": {
		{"block", `{"blocked":true,"reason":"MARK"}`, "", 0},
		{"change", `{"input":ARGS}`, "", 0},
		{"output", `{"output":{"toolName":"bash","success":true,"metadata":{"output":"MARK"}}}`, "", 0},
		{"follow up", `{"follow_up_messages":["MARK"]}`, "", 0},
		{"mutate", `{"result":"mutate","messages":[{"role":"user","content":"MARK"}]}`, "", 0},
		{"callback", `{"result":"callback","callback":"MARK"}`, "", 0},
	},
	"openhands": {
		{"deny", `{"decision":"deny","reason":"MARK"}`, "", 0},
		{"exit 2", ``, "MARK", 2},
		{"refuse", `{"continue":false,"reason":"MARK"}`, "", 0},
		{"context", `{"additionalContext":"MARK"}`, "", 0},
	},
	"acai": {
		{"word", `block`, "MARK", 0},
		{"block", `{"action":"block","reason":"MARK"}`, "", 0},
		{"change", `{"action":"modify","modifications":{"args":ARGS}}`, "", 0},
		{"output", `{"action":"modify","modifications":{"msg":"MARK"}}`, "", 0},
	},
}

// meeting is a hook of one agent that is asked about an event of another.
type meeting struct {
	call   *dialect.Call
	hook   *foreignhooks.Agent
	event  *foreignhooks.HookEvent
	asking *foreignhooks.Asking
	stdin  []byte
}

// meetings are all in which hooks of an agent are asked about a call of a host.
func meetings(t *testing.T, call *dialect.Call, hook *foreignhooks.Agent) (list []meeting) {
	for i := range hook.Events {
		e := &hook.Events[i]
		if e.Event != call.Row.Event {
			continue
		}
		selector, err := hook.Select([]string{e.Name}, "")
		if err != nil {
			t.Fatal(err)
		}
		asking := selector.Ask(&call.Event, "/project")
		if asking == nil {
			if len(e.Only) == 0 {
				t.Errorf("%s of %s is not asked about %s", e.Name, hook.Title, call.Row.Name)
			}
			continue
		}
		stdin, err := asking.Stdin()
		if err != nil {
			t.Errorf("%s of %s: %v", e.Name, hook.Title, err)
			continue
		}
		list = append(list, meeting{call, hook, e, asking, stdin})
	}
	return list
}

// says returns what the host is told when the hook says something.
func (m *meeting) says(s saying) (protocol.Outcome, protocol.ReadResult, dialect.Answer, bool) {
	args := m.args()
	if strings.Contains(s.stdout, "ARGS") && args == nil {
		return protocol.Outcome{}, protocol.ReadResult{}, dialect.Answer{}, false
	}
	text := strings.NewReplacer("EVENT", m.event.Name, "MARK", mark, "ARGS", string(args))
	info := protocol.HookInfo{Name: hook, Layer: protocol.Project, Class: protocol.CanModify, Mode: protocol.Enforce, Dialect: m.hook.Name, Rule: protocol.RuleBlock}
	read := m.asking.Reply(info, foreignhooks.Ending{Stdout: []byte(text.Replace(s.stdout)), Stderr: []byte(text.Replace(s.stderr)), Exit: s.exit})
	if read.Failure != nil {
		info.Rule = m.hook.Rule(m.call.Row.Event, []string{m.event.Name}, read.Failure.Kind)
	}
	exit := s.exit
	fold, _ := protocol.Begin(m.call.Event, protocol.FoldOptions{}).Add(protocol.Answer{HookInfo: info, ReadResult: read, Exit: &exit})
	outcome := fold.Outcome()
	return outcome, read, m.call.Answer(&outcome), true
}

// args are the call's args as the hook reads them, of which one text is the mark.
func (m *meeting) args() json.RawMessage {
	for _, name := range []string{"tool_input", "toolArgs", "toolInput", "arguments", "args"} {
		given := jsonspan.Get(m.stdin, name)
		if jsonspan.Kind(given) == '"' { // Cursor's calls of servers
			given = protocol.RawMessage(jsonspan.Text(given))
		}
		if jsonspan.Kind(given) != '{' {
			continue
		}
		args := jsonspan.ReadMemberList(given)
		for _, member := range jsonspan.Members(given) {
			if jsonspan.Kind(member.Value) == '"' && member.Name != "path" && !strings.HasSuffix(member.Name, "file_path") {
				args.Set(member.Name, jsonspan.Quote(mark))
				return json.RawMessage(args.JSON())
			}
		}
	}
	return nil
}

// TestAnyToAny: at each event of each host, for each of its captured or documented inputs,
// hooks of each other agent read it in their own words, and whatever they say reaches the
// host: carried out in its words, or refused, or told as lost. A no is never a yes. What
// becomes of each is in testdata/HOST/any.golden.
func TestAnyToAny(t *testing.T) {
	for _, a := range All {
		t.Run(a.Name, func(t *testing.T) {
			var lines bytes.Buffer
			for i := range a.Rows {
				row := &a.Rows[i]
				shown := sample(t, a, row)
				for _, path := range golden.Inputs(t, filepath.Join("testdata", a.Name)) {
					if golden.EventOf(a, path) != row.Name {
						continue
					}
					call := read(t, a, row, path)
					if call == nil {
						continue
					}
					same := jsonspan.Equal(jsonspan.Get(call.Event.Data, "host"), jsonspan.Get(shown.Event.Data, "host"))
					for _, hook := range foreignhooks.All {
						for _, m := range meetings(t, call, hook) {
							line := m.check(t, path)
							if same {
								fmt.Fprintf(&lines, "%s ← %s %s: %s\n", row.Name, hook.Name, m.event.Name, line)
							}
						}
					}
				}
			}
			golden.Check(t, filepath.Join("testdata", a.Name, "any.golden"), lines.Bytes())
		})
	}
}

// read reads an input as a bridge does, nil for one that there is nothing to ask about.
func read(t *testing.T, a *dialect.Agent, row *dialect.Row, path string) *dialect.Call {
	t.Helper()
	captured, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var stdin bytes.Buffer // agents write a line
	if err := json.Compact(&stdin, captured); err != nil {
		t.Fatal(err)
	}
	call, err := a.Read(row.Name, stdin.Bytes(), golden.Limits)
	if errors.Is(err, dialect.ErrNothing) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	ev := &call.Event
	ev.Protocol, ev.ID, ev.Time, ev.Project = protocol.Version, "01J", time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC), "/project"
	ev.Data = protocol.Complete(ev.Spec(), ev.Data)
	if err := protocol.CheckEvent(ev); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return call
}

// check has the hook say everything that it can, and returns in words what came of it.
func (m *meeting) check(t *testing.T, path string) string {
	where := fmt.Sprintf("%s, %s of %s", path, m.event.Name, m.hook.Title)
	m.checkInput(t, where)
	if quiet, _, answer, _ := m.says(saying{}); quiet.Action != protocol.Observe || refuses(answer) || answer.Lost != nil {
		t.Errorf("%s: nothing said is %s, %s %s, lost %q", where, quiet.Action, answer.Stdout, answer.Stderr, answer.Lost)
	}
	var words []string
	no := false
	for _, s := range sayings[m.hook.Name] {
		outcome, reply, answer, applies := m.says(s)
		if !applies {
			continue
		}
		no = no || reply.Reply != nil && (reply.Reply.Action == protocol.Block || reply.Reply.Action == protocol.Stop)
		for _, problem := range m.problems(&outcome, &reply, answer) {
			t.Errorf("%s: %s (%s): %s: stdout %s, stderr %q, exit %d, lost %q", where, s.name, outcome.Action, problem, answer.Stdout, answer.Stderr, answer.Exit, answer.Lost)
		}
		checkWhole(t, m.call.Agent, answer)
		if word := m.word(&outcome, answer); word != "" {
			words = append(words, s.name+" "+word)
		}
	}
	if m.event.Refuses && !no {
		t.Errorf("%s: none of its words refuses, and the table says that it can", where)
	}
	return strings.Join(words, ", ")
}

// checkInput checks that the hook reads one line of JSON in its own agent's words: a call
// under a name that its agent has for the tool, with args that mean what was called.
func (m *meeting) checkInput(t *testing.T, where string) {
	line := bytes.TrimSuffix(m.stdin, []byte("\n"))
	if !jsonspan.Valid(line) || bytes.ContainsAny(line, "\n\r") {
		t.Errorf("%s: it reads %q", where, m.stdin)
	}
	data := m.call.Event.Data
	name, args := jsonspan.Text(jsonspan.Get(data, "name")), jsonspan.Get(data, "args")
	theirs := jsonspan.Text(jsonspan.Get(line, "tool_name")) + jsonspan.Text(jsonspan.Get(line, "toolName"))
	if m.call.Event.Spec().Tool && name != "" && theirs != "" && m.hook.Name != m.call.Agent.Name && len(m.event.Only) == 0 {
		names := toolname.TheirNames(m.hook.Name, name, protocol.ToolKind(jsonspan.Text(jsonspan.Get(data, "kind"))))
		if theirs != name && !slices.Contains(names, theirs) && theirs != "apply_patch" {
			t.Errorf("%s: it reads the tool %s, and its agent calls %s %q", where, theirs, name, names)
		}
		selector, err := m.hook.Select([]string{m.event.Name}, regexp.QuoteMeta(theirs))
		if err != nil || selector.Ask(&m.call.Event, "/project") == nil {
			t.Errorf("%s: with the matcher %s, which it reads as the tool's name, it is not asked: %v", where, theirs, err)
		}
	}
	for _, member := range []string{"command", "prompt", "query", "pattern"} {
		of := args
		if member == "prompt" && args == nil {
			of = data
		}
		if value := jsonspan.Get(of, member); jsonspan.Kind(value) == '"' && m.call.Event.Spec().Tool && !m.saysText(line, jsonspan.Text(value)) {
			t.Errorf("%s: it does not read the %s of the call: %s", where, member, m.stdin)
		}
	}
}

// saysText reports whether a text stands anywhere in the strings of an input, which some
// agents nest as JSON in a string.
func (m *meeting) saysText(line []byte, text string) bool {
	quoted := string(jsonspan.Quote(text))
	again := string(jsonspan.Quote(quoted))
	return strings.Contains(string(line), quoted) || strings.Contains(string(line), again[1:len(again)-1])
}

// problems are what is wrong with the answer that the host gets.
func (m *meeting) problems(out *protocol.Outcome, reply *protocol.ReadResult, answer dialect.Answer) (list []string) {
	can, said, lost := &m.call.Row.Can, string(answer.Stdout)+answer.Stderr, len(answer.Lost) > 0
	wrong := func(is bool, what string) {
		if is {
			list = append(list, what)
		}
	}
	endsRun := m.call.Row.Event == protocol.AgentStop || m.call.Row.Event == protocol.SubagentStop
	mustRefuse := func() {
		wrong(can.Block.Possible() && !refuses(answer), "the host takes it for a yes")
		wrong(!can.Block.Possible() && !lost, "what the host cannot refuse is not told")
	}
	switch {
	case out.Action == protocol.Block && endsRun, out.Action == protocol.Continue && m.call.Row.Event != protocol.StepStop:
		wrong(can.Continue.Possible() && !strings.Contains(said, mark), "the run does not go on with the hook's words")
		wrong(!can.Continue.Possible() && !lost, "that it wants the run to go on is not told")
	case out.Action == protocol.Block:
		mustRefuse()
		wrong(can.Block.Possible() && reply.Reply != nil && reply.Reply.Reason == mark && !strings.Contains(said, mark), "the reason is lost")
	case out.Action == protocol.Stop:
		wrong(can.Stop.Possible() && can.Stop != endsAnyway && !strings.Contains(said, mark), "the run does not end with the hook's words")
		if !can.Stop.Possible() && !endsRun {
			mustRefuse()
		}
		wrong(!can.Stop.Possible() && !lost, "that it ends the run is not told")
	case out.Action == protocol.Ask && can.Ask.Possible():
		wrong(!strings.Contains(said, mark) && m.call.Row.Event != protocol.PermissionRequest, "the question is lost")
	case out.Action == protocol.Ask:
		mustRefuse()
		wrong(!lost, "that nobody can be asked is not told")
	case out.Action == protocol.Allow:
		wrong(can.Allow.Possible() && !strings.Contains(said, "allow"), "the permission is lost")
		wrong(!can.Allow.Possible() && !lost, "that the permission does not count is not told")
	case out.Action == protocol.Modify:
		carried := strings.Contains(string(answer.Stdout), mark) && !refuses(answer)
		wrong(can.Change.Possible() && !lost && !strings.Contains(said, mark), "the host does not get what the hook wanted")
		wrong(!carried && !refuses(answer) && !lost, "the change is lost, and nothing is refused or told")
		wrong(!carried && !refuses(answer) && can.Block.Possible() && !endsRun, "what the hook did not want goes on")
	}
	wrong(out.Callback != nil && !lost, "the recipe is lost")
	if len(out.Context) > 0 && out.Action == protocol.Observe {
		wrong(can.Context.Possible() && !strings.Contains(said, mark), "the text for the model is lost")
		wrong(!can.Context.Possible() && !lost, "that the text for the model is lost is not told")
	}
	for _, n := range out.Notices {
		wrong(n.Text == mark && !strings.Contains(said, mark), "the text for the person is lost")
	}
	wrong(out.Action == protocol.Observe && refuses(answer), "it refuses what nobody refused")
	return list
}

// word is what the host makes of it, "" for nothing.
func (m *meeting) word(out *protocol.Outcome, answer dialect.Answer) string {
	stdout := string(answer.Stdout)
	word := ""
	switch {
	case out.Action == protocol.Stop && m.call.Row.Can.Stop.Possible():
		word = "ends the run"
	case refuses(answer) && (m.call.Row.Event == protocol.AgentStop || m.call.Row.Event == protocol.SubagentStop):
		word = "goes on"
	case refuses(answer):
		word = "refused"
	case out.Action == protocol.Ask && strings.Contains(stdout, mark):
		word = "asked"
	case out.Action == protocol.Continue && strings.Contains(stdout, mark), out.Action == protocol.Block && strings.Contains(stdout, mark):
		word = "goes on"
	case out.Action == protocol.Modify && strings.Contains(stdout, mark):
		word = "changed"
	case strings.Contains(stdout, mark):
		word = "told"
	case out.Action == protocol.Allow && strings.Contains(stdout, "allow"):
		word = "allowed"
	case strings.Contains(answer.Stderr, mark):
		word = "on stderr"
	}
	if len(answer.Lost) > 0 {
		word = strings.TrimSpace(word + " lost")
	}
	return word
}
