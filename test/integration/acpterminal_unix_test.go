//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// editorWithTerminals is an editor that runs hookd acp and has one terminal.
type editorWithTerminals struct {
	*proxied
	box     *box
	session string
	over    chan struct{} // closed when hookd says no more

	mu     sync.Mutex
	told   strings.Builder // by hookd
	screen *exec.Cmd       // what runs in the terminal
	shown  bytes.Buffer    // in the terminal
}

// Write shows what the terminal's program prints.
func (e *editorWithTerminals) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shown.Write(p)
}

// startEditor starts hookd acp, whose model runs a command at the prompt.
func startEditor(t *testing.T, b *box, command string) *editorWithTerminals {
	t.Helper()
	model := filepath.Join(b.folder, "model.yaml")
	script := fmt.Sprintf("turns:\n- toolCalls: [{name: bash, args: {command: %q}}]\n- text: done\n", command)
	if err := os.WriteFile(model, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &proxied{t: t, cmd: b.command("acp", "--allow", "bash", "--model", "scripted:"+model), stderr: &bytes.Buffer{}}
	e := &editorWithTerminals{proxied: p, box: b, over: make(chan struct{})}
	p.start()
	go func() {
		defer close(e.over)
		for {
			frame, err := p.out.ReadString('\n')
			if err != nil {
				return
			}
			e.obey(frame)
		}
	}()
	p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}`)
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, b.project))
	e.await(func() bool {
		_, rest, known := strings.Cut(e.told.String(), `"sessionId":"`)
		e.session, _, _ = strings.Cut(rest, `"`)
		return known
	})
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, e.session))
	return e
}

// obey does what hookd asks about the terminal. That a program in it has left is not told.
func (e *editorWithTerminals) obey(frame string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told.WriteString(frame)
	var asked struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Command string
			Args    []string
			Env     []struct{ Name, Value string }
		}
	}
	if err := json.Unmarshal([]byte(frame), &asked); err != nil {
		e.t.Error(err)
	}
	result := "{}"
	switch asked.Method {
	case "terminal/create":
		result = `{"terminalId":"t"}`
		e.screen = exec.Command(asked.Params.Command, asked.Params.Args...)
		e.screen.Dir, e.screen.Stdout, e.screen.Stderr = e.box.project, e, e
		for _, v := range asked.Params.Env {
			e.screen.Env = append(e.screen.Env, v.Name+"="+v.Value)
		}
		if err := e.screen.Start(); err != nil {
			e.t.Error(err)
		}
	case "terminal/release":
	default:
		return
	}
	_, _ = fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", asked.ID, result) // hookd may be gone
}

// await waits until something is so.
func (e *editorWithTerminals) await(is func() bool) {
	e.t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		e.mu.Lock()
		now, told := is(), e.told.String()
		e.mu.Unlock()
		switch {
		case now:
			return
		case time.Now().After(until):
			e.t.Fatalf("it does not come to that; told %s; stderr: %s", told, e.stderr)
		}
	}
}

// Whatever ends a command that an editor shows, hookd's end, the editor's, the terminal's or a
// cancel, ends all that the command has started, also what has left its session and its environment,
// and the screen. No socket is left.
func TestEndsOfACommandInATerminal(t *testing.T) {
	const ended = `the person ended it: its terminal in the editor was closed; output so far:\nhere\n`
	for name, test := range map[string]struct {
		end  func(e *editorWithTerminals)
		exit int    // of hookd; -1: killed
		told string // after it
	}{
		"hookd is killed":              {func(e *editorWithTerminals) { e.cmd.Process.Kill() }, -1, ""},
		"the editor closes its stream": {func(e *editorWithTerminals) { e.in.Close() }, 0, ""},
		"a signal":                     {func(e *editorWithTerminals) { e.cmd.Process.Signal(syscall.SIGTERM) }, 130, ""},
		"the terminal is killed":       {func(e *editorWithTerminals) { e.screen.Process.Kill() }, 0, ended},
		"the terminal is interrupted":  {func(e *editorWithTerminals) { e.screen.Process.Signal(syscall.SIGINT) }, 0, ended},
		"a cancel": {func(e *editorWithTerminals) {
			e.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + e.session + `"}}`)
		}, 0, `"stopReason":"cancelled"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			e := startEditor(t, b, `(env -i PATH="$PATH" setsid sleep 62 >/dev/null 2>&1 &); echo here; sleep 61`)
			e.await(func() bool { return strings.HasSuffix(e.shown.String(), "\nhere\n") })
			if runtime.GOOS == "linux" {
				e.await(func() bool { return strings.Contains(strings.Join(alive(b.folder), ";"), "sleep 62") })
			}
			test.end(e)
			if test.told != "" {
				e.await(func() bool {
					told := e.told.String()
					return strings.Contains(told, test.told) && strings.Contains(told, `{"jsonrpc":"2.0","id":3,`)
				})
				e.await(func() bool { return strings.Contains(e.told.String(), `"terminal/release"`) })
				e.in.Close()
			}
			<-e.over
			e.cmd.Wait()
			if exit := e.cmd.ProcessState.ExitCode(); exit != test.exit {
				t.Errorf("exit code %d; stderr: %s", exit, e.stderr)
			}
			leaves := time.AfterFunc(10*time.Second, func() {
				t.Error("the screen does not leave")
				e.screen.Process.Kill()
			})
			_ = e.screen.Wait()
			leaves.Stop()
			if left := aliveAfter(b.folder, killedBound()); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
			if left, err := filepath.Glob(filepath.Join(b.folder, "hookd-acp-*")); err != nil || len(left) > 0 {
				t.Errorf("left: %v %v", left, err)
			}
		})
	}
}
