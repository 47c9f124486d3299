package hosts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/golden"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

const mark = "MARK of the hook"

// part is one part of an outcome, which a hook can say at some events.
type part struct {
	name string
	can  func(*dialect.Can) dialect.Means
	say  func(out *protocol.Outcome) (possible bool) // false: our protocol does not have it at this event
}

var hook = "guard.sh"

var parts = []part{
	{"observe", func(*dialect.Can) dialect.Means { return carried }, func(*protocol.Outcome) bool { return true }},
	{"block", func(c *dialect.Can) dialect.Means { return c.Block }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Reason = protocol.Block, &hook, mark
		return out.Event.Spec().Block != protocol.BlockFails
	}},
	{"stop", func(c *dialect.Can) dialect.Means { return c.Stop }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Reason = protocol.Stop, &hook, mark
		return out.Event.Spec().CanStop()
	}},
	{"ask", func(c *dialect.Can) dialect.Means { return c.Ask }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Reason = protocol.Ask, &hook, mark
		return out.Event.Spec().Ask != protocol.AskFails
	}},
	{"allow", func(c *dialect.Can) dialect.Means { return c.Allow }, func(out *protocol.Outcome) bool {
		out.Action, out.By = protocol.Allow, &hook
		return out.Event.Event == protocol.PermissionRequest
	}},
	{"continue", func(c *dialect.Can) dialect.Means { return c.Continue }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Messages = protocol.Continue, &hook, []protocol.Message{{Role: protocol.RoleUser, Content: protocol.TextContent(mark)}}
		return out.Event.Spec().Continue != protocol.ContinueFails
	}},
	{"replace", func(c *dialect.Can) dialect.Means { return c.Replace }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.ReplacedBy = protocol.Modify, &hook, hook
		switch out.Event.Event {
		case protocol.ToolCallStart:
			out.Replaced = []byte(`{"content":"` + mark + `","isError":false}`)
		case protocol.InferenceStart:
			out.Replaced = []byte(`{"message":{"role":"assistant","content":"` + mark + `"}}`)
		default:
			return false
		}
		return true
	}},
	{"change", func(c *dialect.Can) dialect.Means { return c.Change }, func(out *protocol.Outcome) bool {
		out.Action, out.By = protocol.Modify, &hook
		out.Runs = []protocol.Run{{Hook: hook, Action: protocol.Modify}}
		data := out.Event.Data
		switch {
		case out.Event.Event == protocol.InferenceStart && jsonspan.Find(data, "/host/hook_event_name") != nil && strings.Contains(string(jsonspan.Find(data, "/host/hook_event_name")), "ToolSelection"):
			data = object.Set(data, "params", object.Set(jsonspan.Get(data, "params"), "toolChoice", []byte(`{"name":"`+mark+`"}`)))
		case out.Event.Event == protocol.InferenceStart:
			data = object.Set(data, "messages", []byte(`[{"role":"user","content":"`+mark+`"}]`))
		case out.Event.Event == protocol.InferenceEnd:
			data = object.Set(data, "message", []byte(`{"role":"assistant","content":"`+mark+`"}`))
		case out.Event.Event == protocol.ToolCallStart:
			args := jsonspan.Get(data, "args")
			data = object.Set(data, "args", object.Set(args, "command", jsonspan.Quote(mark)))
		case out.Event.Event == protocol.PromptSubmit:
			data = object.Set(data, "prompt", jsonspan.Quote(mark))
		case out.Event.Event == protocol.ToolCallEnd:
			data = object.Set(data, "result", []byte(`{"content":[{"type":"text","text":"`+mark+`"}],"isError":false}`))
		case out.Event.Event == protocol.SubagentStop:
			data = object.Set(data, "response", jsonspan.Quote(mark))
		case out.Event.Event == protocol.CompactStart:
			data = object.Set(data, "instructions", jsonspan.Quote(mark))
		default:
			return false
		}
		out.Event.Data = data
		return true
	}},
	{"context", func(c *dialect.Can) dialect.Means { return c.Context }, func(out *protocol.Outcome) bool {
		out.Context = []protocol.HookText{{Hook: hook, Text: mark}}
		return out.Event.Spec().Kind != protocol.Notice
	}},
	{"notice", func(c *dialect.Can) dialect.Means { return c.Notice }, func(out *protocol.Outcome) bool {
		out.Notices = []protocol.HookText{{Hook: hook, Text: mark}}
		return true
	}},
}

// sample is an input of an event as the agent would send it: a captured one where there
// is one, else what its documents say.
func sample(t *testing.T, a *dialect.Agent, row *dialect.Row) *dialect.Call {
	t.Helper()
	var call *dialect.Call
	for _, path := range golden.Inputs(t, filepath.Join("testdata", a.Name)) {
		aShell := strings.Contains(strings.ToLower(path), "bash") || strings.Contains(path, "shell")
		if golden.EventOf(a, path) != row.Name || call != nil && !aShell {
			continue
		}
		stdin, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		read, err := a.Read(row.Name, stdin, golden.Limits)
		if errors.Is(err, dialect.ErrNothing) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		call = read
	}
	if call == nil {
		t.Fatalf("testdata/%s has no input of %s: save one as %s.json (%s.documents.json if no agent has written it)", a.Name, row.Name, row.Name, row.Name)
	}
	call.Event.Data = protocol.Complete(call.Event.Spec(), call.Event.Data)
	return call
}

// refusals are what of an answer on stdout refuses something, at some agent.
var refusals = []string{`"deny"`, `"decision":"block"`, `"action":"block"`, `"cancel":true`, `"halt":true`, `"continue":false`, `"block":true`}

// refuses reports whether an answer refuses what the event announces.
func refuses(a dialect.Answer) bool {
	return a.Exit == 2 && strings.TrimSpace(a.Stderr) != "" || slices.ContainsFunc(refusals, func(words string) bool { return strings.Contains(string(a.Stdout), words) })
}

// TestEveryCell: at each event of each agent, each part of an outcome is written where the
// table says that the agent can carry it out, and else told as lost; and what cannot be
// carried out at something that can be refused refuses it, unless it is only a text.
func TestEveryCell(t *testing.T) {
	for _, a := range All {
		for i := range a.Rows {
			row := &a.Rows[i]
			t.Run(a.Name+"/"+row.Name, func(t *testing.T) {
				var lines []byte
				call := sample(t, a, row)
				for _, p := range parts {
					out := protocol.Outcome{Action: protocol.Observe, Event: call.Event}
					if !p.say(&out) {
						continue
					}
					answer := call.Answer(&out)
					checkWhole(t, a, answer)
					if lost := call.Event.Lost(&out); !slices.Equal(lost, answer.Lost) {
						t.Errorf("%s: the record has %q as lost, the person reads %q", p.name, lost, answer.Lost)
					}
					lines = append(lines, line(t, p.name, answer)...)
					check(t, row, p, answer)
				}
				golden.Check(t, filepath.Join("testdata", a.Name, row.Name+".answers.golden"), lines)
			})
		}
	}
}

func check(t *testing.T, row *dialect.Row, p part, answer dialect.Answer) {
	t.Helper()
	said := string(answer.Stdout) + answer.Stderr
	means := p.can(&row.Can)
	switch {
	case p.name == "observe":
		if s := strings.TrimSpace(string(answer.Stdout)); s != "" && s != "{}" || answer.Exit != 0 || answer.Lost != nil {
			t.Errorf("observe: %q, exit %d, lost %q", s, answer.Exit, answer.Lost)
		}
	case p.name == "allow" && means.Possible():
		if !strings.Contains(said, "allow") || answer.Lost != nil {
			t.Errorf("allow: %q, lost %q", said, answer.Lost)
		}
	case p.name == "block" && (row.Event == protocol.AgentStop || row.Event == protocol.SubagentStop):
		if row.Can.Continue.Possible() != strings.Contains(said, mark) {
			t.Errorf("block: %q", said)
		}
	case p.name == "stop" && means == endsAnyway:
		if refuses(answer) && row.Name != "Stop" || answer.Lost != nil {
			t.Errorf("stop: %q, lost %q", said, answer.Lost)
		}
	case p.name == "ask" && row.Event == protocol.PermissionRequest && refuses(answer):
		t.Errorf("ask: the agent's own question is refused: %+v", answer)
	case means.Possible():
		if !strings.Contains(said, mark) || answer.Lost != nil {
			t.Errorf("%s: can, and said %q, lost %q", p.name, said, answer.Lost)
		}
	case p.name == "notice":
		if !strings.Contains(answer.Stderr, mark) {
			t.Errorf("notice: on stderr %q", answer.Stderr)
		}
	default:
		if len(answer.Lost) == 0 {
			t.Errorf("%s: cannot, and nothing is told as lost", p.name)
		}
		mustRefuse := p.name == "block" || p.name == "ask" || p.name == "change" || p.name == "stop" || p.name == "replace"
		if mustRefuse && row.Can.Block.Possible() != refuses(answer) {
			t.Errorf("%s: cannot; can be refused %v, and the answer is %q", p.name, row.Can.Block.Possible(), said)
		}
	}
}

// checkWhole checks that what is meant as an object is one line of JSON.
func checkWhole(t *testing.T, a *dialect.Agent, answer dialect.Answer) {
	t.Helper()
	if a == kiro {
		return // takes any text
	}
	out := strings.TrimSuffix(string(answer.Stdout), "\n")
	if !strings.HasPrefix(out, "{") {
		return
	}
	if !utf8.ValidString(out) || strings.ContainsAny(out, "\n\r") || !jsonspan.Valid([]byte(out)) {
		t.Errorf("no line of JSON: %q", out)
	}
}

// TestTextsDoNotBreakAnswers: whatever bytes a hook's texts have, the answer is whole, and a
// refusal stays one.
func TestTextsDoNotBreakAnswers(t *testing.T) {
	var every []byte
	for b := range 256 {
		every = append(every, byte(b))
	}
	texts := []string{string(every), "\"}\n{\"decision\":\"allow\"}", "\xff\xfe", "\u2028\x00\x1b[31m", " \n\t", "{", strings.Repeat("\\", 999)}
	for _, a := range All {
		for i := range a.Rows {
			call := sample(t, a, &a.Rows[i])
			for _, text := range texts {
				for _, p := range parts {
					out := protocol.Outcome{Action: protocol.Observe, Event: call.Event}
					if !p.say(&out) {
						continue
					}
					out.Reason = text
					out.Context = []protocol.HookText{{Hook: text, Text: text}}
					out.Notices = []protocol.HookText{{Hook: text, Text: text}}
					answer := call.Answer(&out)
					checkWhole(t, a, answer)
					if row := call.Row; p.name == "block" && row.Can.Block.Possible() && !refuses(answer) {
						t.Errorf("%s %s: a block with the reason %q is %q", a.Name, row.Name, text, answer.Stdout)
					}
				}
			}
		}
	}
}

// line is an answer as golden files have it.
func line(t *testing.T, name string, a dialect.Answer) []byte {
	t.Helper()
	out := fmt.Sprintf("== %s: exit %d\n%s", name, a.Exit, a.Stdout)
	if len(a.Stdout) > 0 && a.Stdout[len(a.Stdout)-1] != '\n' {
		out += "\n"
	}
	if a.Stderr != "" {
		out += "stderr: " + a.Stderr + "\n"
	}
	for _, lost := range a.Lost {
		out += "lost: " + lost + "\n"
	}
	return []byte(out)
}
