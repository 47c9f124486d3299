package chat

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// hasty is a person who presses y all the time: before the question, as it comes up, and
// at every part of it. seen is what was on the screen when a yes was taken.
type hasty struct {
	t        *testing.T
	r        *rand.Rand
	seen     string
	agreed   protocol.RawMessage
	tooEarly int
}

func (h *hasty) Approve(_ context.Context, q agentloop.Question) (agentloop.Answer, error) {
	s := newScene(h.t, 40+h.r.IntN(100))
	size := tea.WindowSizeMsg{Width: 40 + h.r.IntN(100), Height: 3 + h.r.IntN(50)}
	s.tell(size)
	s.press("y", "y", "enter", "y") // what was typed before
	s.took()
	s.tell(askMsg{q, make(chan agentloop.Answer, 1)})
	var seen []string
	for range 20_000 {
		if s.press("y", "1", "y"); len(s.took()) > 0 {
			h.tooEarly++ // nothing is drawn yet, or not for long enough
		}
		s.screen.view()
		a := s.screen.asked[0]
		seen = append(seen, a.lines[a.at:a.end()]...)
		if s.press("y"); len(s.took()) > 0 {
			h.tooEarly++
		}
		s.at = s.at.Add(minPause)
		whole := a.end() == len(a.lines)
		s.press("y")
		if done := s.took(); len(done) > 0 {
			if !whole {
				h.tooEarly++
			}
			h.seen, h.agreed = unbroken(seen), q.Call.Args
			return done[0].(answerEffect).answer, nil
		}
		s.press(" ")
	}
	return agentloop.Answer{}, nil
}

// hiding is a command whose end is out of sight in one of many ways.
func hiding(r *rand.Rand, end string) string {
	n := 200 + r.IntN(5000)
	pad := []string{
		"true" + strings.Repeat(" ", n) + ";", strings.Repeat("# x\n", n), "true" + strings.Repeat("\n", n), "echo '" + strings.Repeat("x", n) + "';",
		"true" + strings.Repeat("\u00a0", n) + ";", "true;\x1b[2K\x1b[1G", "true; \u202e", "true;\r", "true" + strings.Repeat("\t", n) + ";", strings.Repeat("漢", n) + ";",
		"true; " + strings.Repeat("\u200b", n), "true; \x1b]0;title\a", "true; \x1b[8m", "true; " + strings.Repeat("\u2800", n), strings.Repeat("\v\f", n),
	}
	return pad[r.IntN(len(pad))] + pad[r.IntN(len(pad))] + end
}

// TestNothingRunsUnseen lets a hasty person agree to calls with hidden ends, which hooks
// change before and after one of them asks: what ran is what was on the screen, to the
// byte. It is a proof of G25.
func TestNothingRunsUnseen(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 25))
	calls := prove.Size(40, 500)
	unseen, ran := 0, 0
	for i := range calls {
		end := fmt.Sprintf("touch END-%d", i)
		late := fmt.Sprintf("touch LATE-%d", i)
		person := &hasty{t: t, r: r}
		var got protocol.RawMessage
		bash := &recorder{func(args protocol.RawMessage) { got = args }}
		hooks := changing(r, late)
		gate, err := executor.Static(hooks...)
		if err != nil {
			t.Fatal(err)
		}
		args, err := protocol.Marshal(map[string]string{"command": hiding(r, end)})
		if err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("turns:\n- toolCalls:\n  - {id: c, name: bash, args: %s}\n- text: done\n", args)
		scripted, err := model.Parse("script.yaml", []byte(script))
		if err != nil {
			t.Fatal(err)
		}
		loop, err := agentloop.New(agentloop.Options{
			Gate: gate, Model: scripted, Tools: []tool.Tool{bash}, Approver: person, NoDefaults: true,
			Consent: agentloop.Consent{Asks: func(*protocol.Call) (bool, *protocol.Answered) { return true, nil }},
			Limits:  agentloop.Limits{},
		})
		if err != nil {
			t.Fatal(err)
		}
		run, err := loop.Run(t.Context(), "go!")
		if err != nil {
			t.Fatal(err)
		}
		for range run.Events() { // somebody must read them
			continue
		}
		_ = run.Wait() // the loop may not end the turn by itself: only the call counts
		if got == nil {
			t.Errorf("call %d did not run", i)
			continue
		}
		ran++
		last := end
		if strings.Contains(string(got), "LATE") {
			last = late
		}
		if person.tooEarly > 0 || string(got) != string(person.agreed) || !strings.Contains(person.seen, last) {
			unseen++
			t.Errorf("call %d: %d early, agreed to what ran: %v, end seen: %v", i, person.tooEarly, string(got) == string(person.agreed), strings.Contains(person.seen, last))
		}
	}
	if ran < calls*9/10 {
		t.Errorf("only %d of %d calls ran at all", ran, calls)
	}
	prove.Figure(t, "G25", "%d calls with hidden ends and late changes, y pressed before and all through the question: %d ran unseen", calls, unseen)
}

// changing are hooks that ask and change in one reply, change after that, and try to
// change at the question itself, in random company.
func changing(r *rand.Rand, late string) (hooks []protocol.GoHook) {
	add := func(name string, event protocol.EventName, layer protocol.Layer, reply protocol.Reply) {
		hooks = append(hooks, protocol.GoHook{
			Name: name, Layer: layer, Events: []protocol.EventName{event}, OnFailure: protocol.RuleContinue,
			Func: func(context.Context, *protocol.Event) (protocol.Reply, error) { return reply, nil },
		})
	}
	command := func(prefix string) protocol.RawMessage {
		encoded, _ := protocol.Marshal(map[string]any{"args": map[string]string{"command": prefix + hiding(r, late)}})
		return encoded
	}
	if r.IntN(2) == 0 {
		add("a-asks", protocol.ToolCallStart, protocol.Project, protocol.Reply{Action: protocol.Ask, Reason: "really?", Changes: command("a")})
	}
	if r.IntN(2) == 0 {
		add("b-changes", protocol.ToolCallStart, protocol.User, protocol.Reply{Action: protocol.Modify, Changes: command("b")})
	}
	if r.IntN(2) == 0 {
		add("c-changes", protocol.PermissionRequest, protocol.User, protocol.Reply{Action: protocol.Observe, Changes: command("c")})
	}
	if r.IntN(2) == 0 {
		add("d-asks", protocol.ToolCallStart, protocol.Managed, protocol.Reply{Action: protocol.Ask, Reason: strings.Repeat("why? ", r.IntN(300))})
	}
	return hooks
}

// recorder is a tool that keeps what it is to run.
type recorder struct{ ran func(protocol.RawMessage) }

func (*recorder) Describe() tool.Description {
	return tool.Description{Name: "bash", Kind: protocol.KindShell}
}

func (r *recorder) Run(_ context.Context, args protocol.RawMessage) (protocol.Result, error) {
	r.ran(args)
	return tool.OK("ran"), nil
}
