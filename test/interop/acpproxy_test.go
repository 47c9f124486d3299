//go:build interop && unix

package interop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/modelserver"
)

// acpEditor is a client of an agent that hookd acp guards. It allows what it is asked, once.
type acpEditor struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Scanner
	ids   int
	text  string   // what the agent and hookd said
	asked []string // titles of permissions that the person was asked for
	check *frameChecker
	log   string // what the agent read
}

type acpFrame struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Update struct {
			SessionUpdate string
			Content       json.RawMessage
		}
		ToolCall struct{ Title string }
		Options  []struct{ OptionID, Kind string }
	}
	Result json.RawMessage
	Error  json.RawMessage
}

// guardedAgent starts an agent that hookd acp guards.
func guardedAgent(t *testing.T, b *box, flags, env []string, agent ...string) *acpEditor {
	t.Helper()
	argv := append(append([]string{"acp"}, flags...), "--")
	return startEditor(t, b, env, exec.Command(binary, append(argv, b.recorded(agent)...)...))
}

// recorded is the command of an agent with a record of what it reads.
func (b *box) recorded(agent []string) []string {
	return append([]string{"sh", "-c", `tee "$0" | "$@"`, filepath.Join(b.folder, "read-by-agent")}, agent...)
}

// startEditor starts what is an agent to the editor, with the agent proper somewhere in it.
func startEditor(t *testing.T, b *box, env []string, c *exec.Cmd) *acpEditor {
	t.Helper()
	e := &acpEditor{t: t, check: newFrameChecker(t), log: filepath.Join(b.folder, "read-by-agent")}
	c.Dir, c.Stderr = b.project, os.Stderr
	c.Env = append(append(os.Environ(), "HOME="+b.home, "XDG_STATE_HOME="+filepath.Join(b.folder, "state")), env...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	e.in, e.out = in, bufio.NewScanner(out)
	e.out.Buffer(nil, 16<<20)
	limit := time.AfterFunc(2*time.Minute, func() { c.Process.Kill() })
	t.Cleanup(func() {
		in.Close()
		c.Wait()
		limit.Stop()
		e.checkRead()
	})
	return e
}

// checkRead holds each frame that the agent has read against the schema.
func (e *acpEditor) checkRead() {
	text, err := os.ReadFile(e.log)
	if err != nil || len(text) == 0 {
		e.t.Errorf("what the agent has read: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		f := acpFrame{}
		if err := json.Unmarshal([]byte(line), &f); err == nil && f.Method == "" && strings.Contains(string(f.Result), `"outcome"`) {
			e.check.asked["agent "+string(f.ID)] = "session/request_permission" // also where the client was not asked
		}
		if err := e.check.check("client", line); err != nil {
			e.t.Errorf("the agent has read %s: %v", line, err)
		}
	}
}

func (e *acpEditor) say(frame map[string]any) {
	e.t.Helper()
	frame["jsonrpc"] = "2.0"
	line, err := json.Marshal(frame)
	if err != nil {
		e.t.Fatal(err)
	}
	if method, is := frame["method"].(string); is {
		e.check.asked["client "+fmt.Sprint(e.ids)] = method
	}
	if _, err := e.in.Write(append(line, '\n')); err != nil {
		e.t.Fatal(err)
	}
}

// call calls a method of the agent, and answers what is asked meanwhile.
func (e *acpEditor) call(method string, params map[string]any) json.RawMessage {
	e.t.Helper()
	e.ids++
	id := fmt.Sprint(e.ids)
	e.say(map[string]any{"id": e.ids, "method": method, "params": params})
	for e.out.Scan() {
		line := e.out.Text()
		if err := e.check.check("agent", line); err != nil {
			e.t.Errorf("%s: %v", line, err)
		}
		f := acpFrame{}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			e.t.Fatalf("%s: %v", line, err)
		}
		switch {
		case f.Method == "" && string(f.ID) == id && f.Error != nil:
			return f.Error
		case f.Method == "" && string(f.ID) == id:
			return f.Result
		case f.Method == "session/update" && f.Params.Update.SessionUpdate == "agent_message_chunk":
			var content struct{ Text string }
			_ = json.Unmarshal(f.Params.Update.Content, &content)
			e.text += content.Text
		case f.Method == "session/request_permission":
			e.asked = append(e.asked, f.Params.ToolCall.Title)
			for _, o := range f.Params.Options {
				if o.Kind == "allow_once" {
					e.say(map[string]any{"id": f.ID, "result": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o.OptionID}}})
					break
				}
			}
		case f.ID != nil && f.Method != "":
			e.say(map[string]any{"id": f.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
		}
	}
	e.t.Fatalf("the connection ended: %v", e.out.Err())
	return nil
}

func (e *acpEditor) open(cwd string, before ...func()) (session string) {
	e.t.Helper()
	e.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	for _, do := range before {
		do()
	}
	var result struct{ SessionID string }
	answer := e.call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}})
	if err := json.Unmarshal(answer, &result); err != nil || result.SessionID == "" {
		e.t.Fatalf("%v: %s", err, answer)
	}
	return result.SessionID
}

func (e *acpEditor) prompt(session, text string) (stop string) {
	e.t.Helper()
	e.text, e.asked = "", nil
	var result struct{ StopReason string }
	answer := e.call("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
	if err := json.Unmarshal(answer, &result); err != nil {
		e.t.Fatalf("%v: %s", err, answer)
	}
	return result.StopReason
}

// guards are hooks of the user that refuse prompts with a secret, and one call.
func (b *box) guards(t *testing.T, match string) {
	t.Helper()
	b.write(t, "home/.acai/hooks/prompts.sh", "#!/bin/sh\n# hook: events=prompt-submit can=block\ncase $(cat) in *secret*) \"$HOOKD\" reply block 'no secrets' ;; esac\n", 0o755)
	b.write(t, "home/.acai/hooks/calls.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block "+match+"\ncase $(cat) in *keep-out*) \"$HOOKD\" reply block 'not that' ;; esac\n", 0o755)
	b.write(t, "home/.acai/hooks/stop.sh", "#!/bin/sh\n# hook: events=agent-stop can=block\ncase $(cat) in *'\"continued\":0'*) \"$HOOKD\" reply block 'and once more' ;; esac\n", 0o755)
}

// TestGuardedExampleAgents: the example agents of two SDKs work under hookd acp; hooks refuse
// a prompt and a change, and have a turn go on.
func TestGuardedExampleAgents(t *testing.T) {
	for name, agent := range map[string]func() []string{
		"Go": func() []string {
			return []string{filepath.Join(peer(t, "github.com/coder/acp-go-sdk/example/agent@v0.13.5"), "agent")}
		},
		"TypeScript": func() []string {
			return []string{"node", filepath.Join(peer(t, "@agentclientprotocol/sdk@0.14.1"), "dist", "examples", "agent.js")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.guards(t, "")
			e := guardedAgent(t, b, nil, nil, agent()...)
			session := e.open(b.project)
			if stop := e.prompt(session, "a secret"); stop != "refusal" || !strings.Contains(e.text, "the hook prompts.sh refused this prompt: no secrets") {
				t.Errorf("%s: %s", stop, e.text)
			}
			if stop := e.prompt(session, "go"); stop != "end_turn" || len(e.asked) != 2 || !strings.Contains(e.text, "the hook stop.sh has the agent go on: and once more") {
				t.Errorf("%s, asked %q: %s", stop, e.asked, e.text)
			}
			b.write(t, "home/.acai/hooks/calls.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block match.tool=@write\n\"$HOOKD\" reply block 'not that'\n", 0o755)
			for end := time.Now().Add(5 * time.Second); ; time.Sleep(100 * time.Millisecond) { // edits of hooks count at once, as soon as they are seen
				stop := e.prompt(session, "go")
				if len(e.asked) == 0 && stop == "end_turn" && strings.Contains(e.text, "the hook calls.sh refused the call of") && strings.Contains(e.text, "skip") {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("%s, asked %q: %s", stop, e.asked, e.text)
				}
			}
		})
	}
}

// TestGuardedGemini: Gemini CLI works under hookd acp. It asks about commands, of which hooks
// refuse one; a mode in which it does not ask is not left to it.
func TestGuardedGemini(t *testing.T) {
	program := filepath.Join(peer(t, "@google/gemini-cli@0.61.0"), "bundle", "gemini.js")
	shell := call("run_shell_command", "command", "description", "a step")
	m := newAgentModel(t, gemini, []step{
		{turn: modelserver.Turn{Calls: []modelserver.Call{shell("touch keep-out")}, Input: 1, Output: 1}},
		{turn: modelserver.Turn{Calls: []modelserver.Call{shell("touch ran")}, Input: 1, Output: 1}},
		{turn: modelserver.Turn{Text: "all done", Input: 1, Output: 1}},
	})
	b := newBox(t)
	b.guards(t, "match.tool=bash")
	e := guardedAgent(t, b, []string{"--mode", "default"},
		[]string{"GOOGLE_GEMINI_BASE_URL=" + m.url, "GEMINI_API_KEY=none", "GEMINI_TELEMETRY_ENABLED=false", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		"node", program, "--acp", "--model", "gemini-2.5-flash")
	session := e.open(b.project, func() { e.call("authenticate", map[string]any{"methodId": "gemini-api-key"}) })
	if answer := e.call("session/set_mode", map[string]any{"sessionId": session, "modeId": "yolo"}); !strings.Contains(string(answer), "stays in the mode") {
		t.Errorf("%s", answer)
	}
	stop := e.prompt(session, "go")
	_, refused := os.Stat(filepath.Join(b.project, "keep-out"))
	_, ran := os.Stat(filepath.Join(b.project, "ran"))
	if stop != "end_turn" || refused == nil || ran != nil || len(e.asked) != 1 || !strings.Contains(e.text, "the hook calls.sh refused the call of bash: not that") || !strings.Contains(e.text, "all done") {
		t.Errorf("%s, asked %q, files %v %v: %s", stop, e.asked, refused, ran, e.text)
	}
}

// TestGuardedWithACPX: acpx, a client for the command line that allows all, works with an agent
// under hookd acp, and shows what a hook refused.
func TestGuardedWithACPX(t *testing.T) {
	program := filepath.Join(filepath.Dir(peer(t, "acpx@0.19.1")), ".bin", "acpx")
	agent := filepath.Join(peer(t, "github.com/coder/acp-go-sdk/example/agent@v0.13.5"), "agent")
	b := newBox(t)
	b.write(t, "home/.acai/hooks/calls.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block match.tool=@write\n\"$HOOKD\" reply block 'not that'\n", 0o755)
	out := string(b.acpRun(t, program, "--agent", binary+" acp -- "+agent, "--cwd", b.project, "--approve-all", "exec", "hello"))
	if !strings.Contains(out, "hookd: the hook calls.sh refused the call of write_file: not that") || !strings.Contains(out, "skip the configuration update") {
		t.Error(out)
	}
}
