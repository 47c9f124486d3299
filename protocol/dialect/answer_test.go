package dialect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

const mark = "MARK of the hook"

// part is one part of an outcome, which a hook can say at some events.
type part struct {
	name string
	can  func(*Can) Means
	say  func(out *protocol.Outcome) (possible bool) // false: our protocol does not have it at this event
}

var hook = "guard.sh"

var parts = []part{
	{"observe", func(*Can) Means { return carried }, func(*protocol.Outcome) bool { return true }},
	{"block", func(c *Can) Means { return c.Block }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Reason = protocol.Block, &hook, mark
		return out.Event.Spec().Block != protocol.BlockFails
	}},
	{"stop", func(c *Can) Means { return c.Stop }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Reason = protocol.Stop, &hook, mark
		return out.Event.Spec().CanStop()
	}},
	{"ask", func(c *Can) Means { return c.Ask }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Reason = protocol.Ask, &hook, mark
		return out.Event.Spec().Ask != protocol.AskFails
	}},
	{"allow", func(c *Can) Means { return c.Allow }, func(out *protocol.Outcome) bool {
		out.Action, out.By = protocol.Allow, &hook
		return out.Event.Event == protocol.PermissionRequest
	}},
	{"continue", func(c *Can) Means { return c.Continue }, func(out *protocol.Outcome) bool {
		out.Action, out.By, out.Messages = protocol.Continue, &hook, []protocol.Message{{Role: protocol.RoleUser, Content: protocol.TextContent(mark)}}
		return out.Event.Spec().Continue != protocol.ContinueFails
	}},
	{"change", func(c *Can) Means { return c.Change }, func(out *protocol.Outcome) bool {
		out.Action, out.By = protocol.Modify, &hook
		out.Runs = []protocol.Run{{Hook: hook, Action: protocol.Modify}}
		data := out.Event.Data
		switch {
		case out.Event.Event == protocol.ToolCallStart || out.Event.Event == protocol.PermissionRequest:
			args := jsonspan.Get(data, "args")
			data = set(data, "args", set(args, "command", jsonspan.Quote(mark)))
		case out.Event.Event == protocol.PromptSubmit:
			data = set(data, "prompt", jsonspan.Quote(mark))
		case out.Event.Event == protocol.ToolCallEnd:
			data = set(data, "result", []byte(`{"content":[{"type":"text","text":"`+mark+`"}],"isError":false}`))
		case out.Event.Event == protocol.SubagentStop:
			data = set(data, "response", jsonspan.Quote(mark))
		case out.Event.Event == protocol.CompactStart:
			data = set(data, "instructions", jsonspan.Quote(mark))
		default:
			return false
		}
		out.Event.Data = data
		return true
	}},
	{"context", func(c *Can) Means { return c.Context }, func(out *protocol.Outcome) bool {
		out.Context = []protocol.HookText{{Hook: hook, Text: mark}}
		return out.Event.Spec().Kind != protocol.Notice
	}},
	{"notice", func(c *Can) Means { return c.Notice }, func(out *protocol.Outcome) bool {
		out.Notices = []protocol.HookText{{Hook: hook, Text: mark}}
		return true
	}},
}

// sample is an input of an event as the agent would send it: a captured one where there
// is one, else what its documents say.
func sample(t *testing.T, a *Agent, row *Row) *Call {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", a.Name, row.Name+".*json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		files = []string{filepath.Join("testdata", a.Name, row.Name+".json")}
	}
	for _, path := range files { // a call of a shell, where there is one
		if strings.Contains(strings.ToLower(path), "bash") || strings.Contains(path, "shell") {
			files[0] = path
		}
	}
	stdin, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	call, err := a.Read(row.Name, stdin, limits)
	if err != nil {
		t.Fatal(err)
	}
	call.Event.Data = protocol.Complete(call.Event.Spec(), call.Event.Data)
	return call
}

// TestEveryCell: at each event of each agent, each part of an outcome is written where the
// table says that the agent can carry it out, and else told as lost; and what cannot be
// carried out at something that can be refused refuses it, unless it is only a text.
func TestEveryCell(t *testing.T) {
	for _, a := range Agents {
		for i := range a.Rows {
			row := &a.Rows[i]
			t.Run(a.Name+"/"+row.Name, func(t *testing.T) {
				var lines []byte
				for _, p := range parts {
					call := sample(t, a, row)
					out := protocol.Outcome{Action: protocol.Observe, Event: call.Event}
					if !p.say(&out) {
						continue
					}
					answer := call.Answer(&out)
					lines = append(lines, line(t, p.name, answer)...)
					check(t, row, p, answer)
				}
				golden(t, filepath.Join("testdata", a.Name, row.Name+".answers.golden"), lines)
			})
		}
	}
}

func check(t *testing.T, row *Row, p part, answer Answer) {
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
		if p.name == "ask" || p.name == "change" || p.name == "stop" {
			refused := strings.Contains(said, "hook") || strings.Contains(said, mark)
			gate := row.Can.Block.Possible()
			if gate != refused {
				t.Errorf("%s: cannot; refused %v, can be refused %v: %q", p.name, refused, gate, said)
			}
		}
	}
	if answer.Stdout != nil && len(answer.Stdout) > 0 && answer.Stdout[0] == '{' {
		var object map[string]any
		if err := json.Unmarshal(answer.Stdout, &object); err != nil {
			t.Errorf("%s: %v in %s", p.name, err, answer.Stdout)
		}
	}
}

// line is an answer as golden files have it.
func line(t *testing.T, name string, a Answer) []byte {
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
