//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// editor is a client's side of hookd acp, where hookd's own loop is the agent.
type editor struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	read   io.Closer
	stderr *bytes.Buffer
}

// openEditor starts hookd acp with a model that plays a script, and opens a session in which
// everything runs without a question.
func openEditor(t *testing.T, b *box, script string) (e *editor, session string) {
	t.Helper()
	model := filepath.Join(b.folder, "model.yaml")
	if err := os.WriteFile(model, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	e = &editor{t: t, cmd: b.command("acp", "--model", "scripted:"+model, "--allow", "*"), stderr: &bytes.Buffer{}}
	in, err := e.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.in, e.read, e.out, e.cmd.Stderr = in, out, bufio.NewReader(out), e.stderr
	startIn(t, e.cmd)
	e.say(1, "initialize", `{"protocolVersion":1}`)
	e.until(`"id":1,`)
	e.say(2, "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, b.project))
	var opened struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal([]byte(e.until(`"id":2,`)), &opened); err != nil || opened.Result.SessionID == "" {
		t.Fatalf("%v; stderr: %s", err, e.stderr)
	}
	return e, opened.Result.SessionID
}

func (e *editor) say(id int, method, params string) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		e.t.Fatal(err)
	}
}

// until reads lines until one holds a text.
func (e *editor) until(text string) string {
	e.t.Helper()
	for {
		line, err := e.out.ReadString('\n')
		if err != nil {
			e.t.Fatalf("%v; stderr: %s", err, e.stderr)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}

// However a client or hookd ends, the session that works has its end, in time, and nothing that a
// command of it has started is left. Nothing but the protocol is on stdout.
func TestEndsOfALoopInAnEditor(t *testing.T) {
	for name, test := range map[string]struct {
		end    func(e *editor)
		within time.Duration
		exit   int // -1: killed
		ended  bool
	}{
		"the client closes its stream": {func(e *editor) { e.in.Close() }, 4 * time.Second, 0, true},
		"the client is gone":           {func(e *editor) { e.in.Close(); e.read.Close() }, 4 * time.Second, 0, true},
		"a signal":                     {func(e *editor) { e.cmd.Process.Signal(syscall.SIGTERM) }, 4 * time.Second, 130, true},
		"hookd is killed":              {func(e *editor) { e.cmd.Process.Kill() }, 2 * time.Second, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			hook := filepath.Join(b.home, ".acai", "hooks", "end.sh")
			os.MkdirAll(filepath.Dir(hook), 0o755)
			if err := os.WriteFile(hook, []byte("#!/bin/sh\n# hook: events=session-end can=observe\necho ended >> \"$HOME/ended\"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			e, session := openEditor(t, b, "turns:\n- toolCalls: [{name: bash, args: {command: 'echo works; (setsid sleep 61 &) ; sleep 62'}}]\n")
			e.say(3, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}`, session))
			e.until("works\\n```")
			began := time.Now()
			test.end(e)
			e.cmd.Wait()
			if took, exit := time.Since(began), e.cmd.ProcessState.ExitCode(); took > test.within || exit != test.exit && !(exit == 1 && name == "the client is gone") {
				t.Errorf("exit code %d after %v; stderr: %s", exit, took, e.stderr)
			}
			if left := aliveAfter(b.folder, killedBound()); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
			if said, _ := os.ReadFile(filepath.Join(b.home, "ended")); test.ended != (string(said) == "ended\n") {
				t.Errorf("session-end was told: %q", said)
			}
		})
	}
}

// A guard of a project refuses until somebody looks at it, and the session says first how.
func TestAProjectCountsInAnEditorWhenItWasAllowed(t *testing.T) {
	b := newBox(t)
	guard := filepath.Join(b.project, ".acai", "hooks", "guard.sh")
	os.MkdirAll(filepath.Dir(guard), 0o755)
	if err := os.WriteFile(guard, []byte("#!/bin/sh\n# hook: events=prompt-submit can=block\necho '{\"action\":\"block\",\"reason\":\"by the project\"}'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	e, session := openEditor(t, b, "turns:\n- text: x\n")
	prompt := fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}`, session)
	e.say(3, "session/prompt", prompt)
	e.until("hookd trust shows them and asks")
	if got := e.until(`"id":3,`); !strings.Contains(got, "the check guard.sh could not be made (untrusted)") || !strings.Contains(got, "refusal") {
		t.Error(got)
	}
	if out, err := b.command("trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	deadline := time.Now().Add(10 * time.Second)
	for id := 4; ; id++ { // the change of the decision is noticed
		e.say(id, "session/prompt", prompt)
		got := e.until(fmt.Sprintf(`"id":%d,`, id))
		if strings.Contains(got, "by the project") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(got)
		}
		time.Sleep(20 * time.Millisecond)
	}
	e.in.Close()
	if err := e.cmd.Wait(); err != nil {
		t.Errorf("%v; stderr: %s", err, e.stderr)
	}
}
