package acpagent

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// cancelBound is how soon a cancelled prompt is answered, whatever it was at. The loop promises
// control within 250 ms; the rest is for a loaded machine.
const cancelBound = 3 * time.Second

// A cancel ends the turn wherever it is, and the session works on.
func TestCancelInEveryState(t *testing.T) {
	for name, test := range map[string]struct {
		script, hook string
		reached      func(c *client, m *rpc.Message) bool // nil: right after the prompt
	}{
		"right after the prompt": {script: "turns:\n- {text: x, hang: true}\n- text: after"},
		"while a hook judges the prompt": {
			script:  "turns:\n- text: after",
			hook:    `case $(cat) in *first*) touch "$HOME/judging"; sleep 60 ;; esac`,
			reached: func(c *client, _ *rpc.Message) bool { return false },
		},
		"while the answer streams": {
			script:  "turns:\n- {text: abc, chunk: 1, hang: true}\n- text: after",
			reached: func(_ *client, m *rpc.Message) bool { return kindOf(m) == acp.AgentMessageChunk },
		},
		"while a tool runs": {
			script:  "turns:\n- toolCalls: [{name: bash, args: {command: 'echo here; sleep 60'}}]\n- text: after",
			reached: func(_ *client, m *rpc.Message) bool { return strings.Contains(string(m.Params), "here\\n```") },
		},
		"while the person is asked": {
			script:  "turns:\n- toolCalls: [{name: bash, args: {command: 'true'}}]\n- text: after",
			reached: func(_ *client, m *rpc.Message) bool { return m.Method == acp.SessionRequestPermission },
		},
	} {
		for way, cancel := range map[string]func(c *client, session string, id int){
			"session/cancel":  func(c *client, session string, _ int) { c.notify(acp.SessionCancel, object{"sessionId": session}) },
			acp.CancelRequest: func(c *client, _ string, id int) { c.notify(acp.CancelRequest, object{"requestId": id}) },
		} {
			t.Run(name+" by "+strings.TrimPrefix(way, "$/"), func(t *testing.T) {
				c := newClient(t, test.script)
				if test.hook != "" {
					c.hook("judge.sh", "events=prompt-submit can=block", test.hook)
				}
				c.start()
				c.initialize(object{})
				session := c.session()
				if name == "while a tool runs" {
					c.call(acp.SessionSetMode, object{"sessionId": session, "modeId": "run"}, nil)
				}
				id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("first")})
				switch {
				case test.hook != "":
					awaitFile(t, filepath.Join(c.folder, "home/judging"))
				case test.reached != nil:
					c.until(func(m *rpc.Message) bool { return test.reached(c, m) })
				}
				began := time.Now()
				cancel(c, session, id)
				m := c.wait(id)
				if took := time.Since(began); took > cancelBound || m.Error != nil || !strings.Contains(string(m.Result), `"stopReason":"cancelled"`) {
					t.Errorf("after %v: %s %v", took, m.Result, m.Error)
				}
				if name == "right after the prompt" {
					return // whether the script's first turn was played is open
				}
				if ended := c.prompt(session, text("again")...); ended.StopReason != acp.EndTurn {
					t.Errorf("the session does not go on: %+v", ended)
				}
			})
		}
	}
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s does not appear", path)
}

// A question follows all that was shown before it, however much that is and however slowly the
// client reads.
func TestAQuestionKeepsItsPlace(t *testing.T) {
	const pieces = 5000
	c := newClient(t, fmt.Sprintf("turns:\n- {text: %q, chunk: 4, toolCalls: [{name: bash, args: {command: 'true'}}]}\n- text: after", numbers(pieces)))
	c.start()
	c.initialize(object{})
	session := c.session()
	id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})
	var said strings.Builder
	chunks := 0
	asked := c.until(func(m *rpc.Message) bool {
		if kindOf(m) == acp.AgentMessageChunk {
			var params struct{ Update acp.Chunk }
			if err := json.Unmarshal(m.Params, &params, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatal(err)
			}
			said.WriteString(*params.Update.Content.Text)
			chunks++
		}
		return m.Method == acp.SessionRequestPermission
	})
	if chunks != pieces || said.String() != numbers(pieces) {
		t.Errorf("%d updates came before the question, in order: %v", chunks, said.String() == numbers(pieces))
	}
	c.raw(string(rpc.AppendResult(nil, asked.ID, []byte(`{"outcome":{"outcome":"cancelled"}}`))))
	if m := c.wait(id); !strings.Contains(string(m.Result), "end_turn") {
		t.Errorf("%s %v", m.Result, m.Error)
	}
}

// numbers is a text of so many pieces of four characters.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%04d", i)
	}
	return b.String()
}

// Only the id of an option that allows is a yes.
func TestOnlyAnOptionThatAllowsIsAYes(t *testing.T) {
	for name, test := range map[string]struct {
		answer string // result, or error
		runs   bool
	}{
		"allowed":           {`"result":{"outcome":{"outcome":"selected","optionId":"allow"}}`, true},
		"allowed for good":  {`"result":{"outcome":{"outcome":"selected","optionId":"allow-always","_meta":{"x":1}},"more":2}`, true},
		"rejected":          {`"result":{"outcome":{"outcome":"selected","optionId":"reject"}}`, false},
		"another option":    {`"result":{"outcome":{"outcome":"selected","optionId":"yes"}}`, false},
		"no option":         {`"result":{"outcome":{"outcome":"selected"}}`, false},
		"cancelled":         {`"result":{"outcome":{"outcome":"cancelled","optionId":"allow"}}`, false},
		"of another form":   {`"result":{"outcome":"allow"}`, false},
		"nothing":           {`"result":null`, false},
		"an error":          {`"error":{"code":-32603,"message":"allow"}`, false},
		"a result to boot":  {`"result":{"outcome":{"outcome":"selected","optionId":"allow"}},"error":{"code":1,"message":"no"}`, false},
		"an unknown answer": {`"result":{"outcome":{"outcome":"approved","optionId":"allow"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, "turns:\n- toolCalls: [{name: bash, args: {command: 'touch ran'}}]\n- text: after")
			c.start()
			c.initialize(object{})
			session := c.session()
			id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})
			asked := c.until(func(m *rpc.Message) bool { return m.Method == acp.SessionRequestPermission })
			c.raw(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,` + test.answer + `}`)
			c.wait(id)
			if _, err := os.Stat(filepath.Join(c.project, "ran")); (err == nil) != test.runs {
				t.Errorf("ran: %v", err == nil)
			}
		})
	}
}

// A client that goes away ends all that it began, in time, and leaves no process.
func TestAClientThatGoesAwayEndsAll(t *testing.T) {
	c := newClient(t, "turns:\n- toolCalls: [{name: bash, args: {command: 'echo $$ > new; mv new pid; sleep 60'}}]")
	c.start()
	c.initialize(object{})
	session, other := c.session(), c.session()
	c.call(acp.SessionSetMode, object{"sessionId": session, "modeId": "run"}, nil)
	c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})
	c.send(acp.SessionPrompt, object{"sessionId": other, "prompt": text("wait for a yes")})
	c.until(func(m *rpc.Message) bool { return m.Method == acp.SessionRequestPermission })
	pid := filepath.Join(c.project, "pid")
	awaitFile(t, pid)
	began := time.Now()
	c.end()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the end took %v", took)
	}
	written, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(written)))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(id); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("the command %d still runs", id)
	}
}

// A hook may ask about a prompt, too: the client gets a question of its own for it.
func TestAQuestionAboutAPrompt(t *testing.T) {
	for option, stop := range map[string]acp.StopReason{"allow": acp.EndTurn, "reject": acp.Refusal} {
		t.Run(option, func(t *testing.T) {
			c := newClient(t, "turns:\n- text: x")
			c.hook("ask.sh", "events=prompt-submit can=block", `echo '{"action":"ask","reason":"send it?"}'`)
			c.answer = chooses(option)
			c.start()
			c.initialize(object{})
			if ended := c.prompt(c.session(), text("go")...); ended.StopReason != stop {
				t.Errorf("%+v", ended)
			}
			if all := string(c.transcript()); !strings.Contains(all, "your hook ask.sh asks before prompt-submit: send it?") {
				t.Error(all)
			}
		})
	}
}

// A client that reads nothing does not keep the agent from hearing a cancel, and from ending.
func TestAClientThatDoesNotReadIsHeard(t *testing.T) {
	c := newClient(t, fmt.Sprintf("turns:\n- {text: %q, chunk: 4}\n", numbers(10_000)))
	c.frames = make(chan rpc.Message) // nobody takes what comes
	c.start()
	c.initialize(object{})
	session := c.session()
	id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	c.notify(acp.SessionCancel, object{"sessionId": session})
	time.Sleep(100 * time.Millisecond)
	m := c.wait(id) // reads all that was said before
	if took := time.Since(began); took > 10*time.Second || !strings.Contains(string(m.Result), `"cancelled"`) {
		t.Errorf("after %v: %s %v", took, m.Result, m.Error)
	}
}
