//go:build unix

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// person is somebody at a terminal in which hookd runs.
type person struct {
	t       *testing.T
	box     *box
	hookd   *exec.Cmd
	master  *os.File
	slave   *os.File
	before  *term.State
	reading sync.WaitGroup

	drawn func(piece []byte) // hears what is printed, nil for nobody

	mu   sync.Mutex
	seen bytes.Buffer
}

// sitDown starts hookd in a terminal of 24 lines and 80 columns.
func sitDown(t *testing.T, b *box, termName string, args ...string) *person {
	t.Helper()
	return sitDownWith(t, b, termName, func(*person) {}, args...)
}

// sitDownWith is sitDown, with change called before hookd is started.
func sitDownWith(t *testing.T, b *box, termName string, change func(*person), args ...string) *person {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal to be had: %v", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, box: b, master: master, slave: slave, hookd: b.command(args...)}
	if p.before, err = term.GetState(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	p.hookd.Env = append(p.hookd.Env, "TERM="+termName)
	p.hookd.Stdin, p.hookd.Stdout, p.hookd.Stderr = slave, slave, slave
	change(p)
	p.hookd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.hookd.Start(); err != nil {
		t.Fatal(err)
	}
	p.reading.Go(func() {
		piece := make([]byte, 4096)
		for {
			n, err := master.Read(piece)
			p.mu.Lock()
			p.seen.Write(piece[:n])
			p.mu.Unlock()
			if p.drawn != nil {
				p.drawn(piece[:n])
			}
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		p.hookd.Process.Kill()
		slave.Close()
		master.Close()
		p.reading.Wait()
	})
	return p
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// screen is all that was printed since the last call of sees.
func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// sees waits until a text was printed, and forgets what came before its end.
func (p *person) sees(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		p.mu.Lock()
		at := bytes.Index(p.seen.Bytes(), []byte(text))
		if at >= 0 {
			p.seen.Next(at + len(text))
		}
		p.mu.Unlock()
		if at >= 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("did not see %q in:\n%q", text, p.screen())
		}
	}
}

// leaves waits for hookd's end: its exit code, and the terminal as it was.
func (p *person) leaves(code int) {
	p.t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.hookd.Wait() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		p.t.Fatalf("hookd did not end; it shows %q", p.screen())
	}
	if got := p.hookd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d: %q", got, code, p.screen())
	}
	after, err := term.GetState(int(p.slave.Fd()))
	if err != nil {
		p.t.Fatal(err)
	}
	if before, after := fmt.Sprint(*p.before), fmt.Sprint(*after); before != after {
		p.t.Errorf("the terminal was %s and is %s", before, after)
	}
	if left := aliveAfter(p.box.folder, time.Second); len(left) > 0 {
		p.t.Errorf("left alive: %s", strings.Join(left, "; "))
	}
}

// awaits waits until a file of the project is there.
func (p *person) awaits(name string) {
	p.t.Helper()
	for range 1000 {
		if _, err := os.Stat(filepath.Join(p.box.project, name)); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("%s did not appear; hookd shows %q", name, p.screen())
}

// sleepers are the processes of the story's tool.
func (p *person) sleepers() (list []string) {
	for _, process := range alive(p.box.folder) {
		if strings.Contains(process, "sleep") {
			list = append(list, process)
		}
	}
	return list
}

const sleepyAgent = `
turns:
- text: I wait.
  toolCalls:
  - {id: c1, name: bash, args: {command: "echo working; setsid sleep 71 & touch started; sleep 70"}}
- text: the answer
- text: one more
`

func sleepyBox(t *testing.T) *box {
	t.Helper()
	b := newBox(t)
	if err := os.WriteFile(filepath.Join(b.project, "agent.yaml"), []byte(sleepyAgent), 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTerminalAbort asserts that an abort during a tool gives the prompt back
// within 250 ms, that the tool's whole tree is gone, that the next prompt works,
// and that the terminal is as it was.
func TestTerminalAbort(t *testing.T) {
	for name, keys := range map[string]string{"esc": "\x1b", "ctrl-c": "\x03"} {
		t.Run(name, func(t *testing.T) {
			p := sitDown(t, sleepyBox(t), "xterm-256color", "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
			p.sees("/help lists the commands")
			p.types("go\r")
			p.awaits("started")
			began := time.Now()
			p.types(keys)
			p.sees("aborted")
			took := time.Since(began)
			t.Logf("the prompt was back after %v", took)
			if took > 250*time.Millisecond+busySlack {
				t.Errorf("the prompt was back after %v", took)
			}
			for deadline := time.Now().Add(time.Second); len(p.sleepers()) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("left alive: %s", p.sleepers())
				}
			}
			p.types("more\r")
			p.sees("the answer")
			p.types("\x04")
			p.sees("hookd run --continue goes on with it")
			p.leaves(0)
		})
	}
}

// busySlack is what a machine that is busy with other tests may take.
const busySlack = 250 * time.Millisecond

// TestTerminalKeysAndCommands goes through the chat's commands.
func TestTerminalKeysAndCommands(t *testing.T) {
	p := sitDown(t, sleepyBox(t), "xterm-256color", "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
	p.sees("/help lists the commands") // before that the terminal itself reads the keys
	p.types("/help\r")
	p.sees("put a summary in the place")
	p.types("/hooks\r")
	p.sees("no hooks")
	p.types("/model scripted:agent.yaml\r")
	p.sees("model:")
	p.types("/model nonsense\r")
	p.sees("nonsense")
	p.types("/sessions\r")
	p.sees("open")
	p.types("/quitt\r")
	p.sees("did you mean /quit?")
	p.types("\x03\x03")
	p.leaves(0)
}

// TestTerminalSignals asserts that the terminal is as it was after a signal in
// the middle of a turn, and that the session can be gone on with.
func TestTerminalSignals(t *testing.T) {
	for name, c := range map[string]struct {
		termName string
		signal   syscall.Signal
		state    string
	}{
		"term": {"xterm", syscall.SIGTERM, "closed"}, "hangup": {"xterm", syscall.SIGHUP, "closed"}, "term on a dumb terminal": {"dumb", syscall.SIGTERM, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := sleepyBox(t)
			p := sitDown(t, b, c.termName, "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
			p.sees("›")
			p.types("go\r")
			p.awaits("started")
			if err := p.hookd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			p.leaves(130)
			goOn(t, b, c.state)
		})
	}
}

// TestKilledSessionIsResumable asserts that kill -9 in the middle of a turn
// leaves nothing alive and a session that goes on.
func TestKilledSessionIsResumable(t *testing.T) {
	b := sleepyBox(t)
	p := sitDown(t, b, "xterm", "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
	p.sees("›")
	p.types("go\r")
	p.awaits("started")
	p.hookd.Process.Kill()
	p.hookd.Wait()
	if left := aliveAfter(b.folder, 2*time.Second); len(left) > 0 {
		t.Errorf("left alive: %s", strings.Join(left, "; "))
	}
	goOn(t, b, "interrupted")
}

// goOn lists the session and continues it.
func goOn(t *testing.T, b *box, state string) {
	t.Helper()
	list, err := b.command("sessions", "list", "--json").Output()
	if err != nil || !strings.Contains(string(list), `"state":"`+state+`"`) || !strings.Contains(string(list), `"prompt":"go"`) {
		t.Errorf("want a session that is %s: %s, %v", state, list, err)
	}
	script := filepath.Join(b.project, "next.yaml")
	if err := os.WriteFile(script, []byte("turns:\n- expect: [{in: messages, contains: go}, {in: lastMessage, contains: and now}]\n  text: resumed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := b.command("run", "and now", "--allow", "bash", "--continue", "--model", "scripted:next.yaml").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "resumed") {
		t.Errorf("going on: %s, %v", out, err)
	}
}

// TestSessionInUse asserts that a second process says clearly why it does not
// take the session.
func TestSessionInUse(t *testing.T) {
	b := sleepyBox(t)
	p := sitDown(t, b, "xterm", "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
	p.sees("›")
	c := b.command("run", "x", "--allow", "bash", "--continue", "--model", "scripted:agent.yaml")
	out, _ := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(out), "in use") || !strings.Contains(string(out), "another hookd run, or an editor, has it open") {
		t.Errorf("exit code %d: %s", code, out)
	}
	p.types("\x04")
	p.leaves(0)
}

// TestDumbTerminal asserts the line by line conversation: no escape sequences,
// questions and commands answered, an interrupt that aborts.
func TestDumbTerminal(t *testing.T) {
	b := sleepyBox(t)
	p := sitDown(t, b, "dumb", "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
	p.sees("hookd · scripted:agent.yaml · ")
	p.sees("0 hooks")
	p.sees("›")
	p.types("go\r")
	p.awaits("started")
	p.sees("│ working")
	began := time.Now()
	p.types("\x03")
	p.sees("■ aborted")
	if took := time.Since(began); took > 250*time.Millisecond+busySlack {
		t.Errorf("the prompt was back after %v", took)
	}
	p.types("more\r")
	p.sees("the answer")
	if screen := p.screen(); strings.Contains(screen, "\x1b") {
		t.Errorf("escape sequences on a dumb terminal: %q", screen)
	}
	p.types("/quit\r")
	p.leaves(0)
}

// TestDumbTerminalInterruptedTwice asserts that the second of two interrupts ends a
// conversation line by line, also while a tool runs, and that hooks are told that it was
// interrupted.
func TestDumbTerminalInterruptedTwice(t *testing.T) {
	for name, inTurn := range map[string]bool{"between turns": false, "in a turn": true} {
		t.Run(name, func(t *testing.T) {
			b := sleepyBox(t)
			b.script(t, "end.sh", "#!/bin/sh\n# hook: events=session-end can=observe\ncat > \"$HOOK_PROJECT_DIR/end.json\"\n")
			p := sitDown(t, b, "dumb", "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
			p.sees("›")
			p.types("go\r")
			p.awaits("started")
			p.sees("│ working")
			p.types("\x03")
			if !inTurn {
				p.sees("■ aborted")
				p.sees("›")
			}
			time.Sleep(20 * time.Millisecond) // the same wish twice counts once
			p.types("\x03")
			p.leaves(0)
			event, err := os.ReadFile(filepath.Join(b.project, "end.json"))
			if err != nil || !strings.Contains(string(event), `"reason":"interrupted"`) {
				t.Errorf("session-end was %s, %v", event, err)
			}
		})
	}
}

// TestDumbTerminalStreams asserts that a conversation line by line prints answers to
// stdout, and what is wrong with a line to stderr: a turn that cannot start, a command that
// does not exist.
func TestDumbTerminalStreams(t *testing.T) {
	b := sleepyBox(t)
	b.settings(t, `{"agent": {"compaction": {"recipe": "nowhere"}}}`)
	answers, err := os.Create(filepath.Join(b.folder, "answers"))
	if err != nil {
		t.Fatal(err)
	}
	defer answers.Close()
	p := sitDownWith(t, b, "dumb", func(p *person) { p.hookd.Stdout = answers }, "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
	for _, line := range []struct{ typed, stderr string }{
		{"/compact\r", "✗ compact: "}, {"/modle\r", "there is no /modle; did you mean /model?"}, {"/show 7\r", "nothing is folded under #7"}, {"/model\r", ""},
	} {
		p.sees("› ")
		p.types(line.typed)
		p.sees(line.stderr)
	}
	p.sees("› ")
	p.types("/quit\r")
	p.leaves(0)
	text, err := os.ReadFile(answers.Name())
	if want := "model: scripted:agent.yaml\n"; err != nil || string(text) != want {
		t.Errorf("stdout has %q, want %q (%v)", text, want, err)
	}
}

// Another conversation begins in the same process: the first one ends for its hooks, the
// second one knows nothing of it, and what was sent is still in the history.
func TestTerminalBeginsAnew(t *testing.T) {
	t.Parallel()
	for _, termName := range []string{"xterm", "dumb"} {
		t.Run(termName, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			ends := filepath.Join(b.folder, "ends")
			b.script(t, "ends.sh", "#!/bin/sh\n# hook: events=session-end can=observe timeout=10s\necho end >> '"+ends+"'\n")
			if err := os.WriteFile(filepath.Join(b.project, "turns.yaml"), []byte("turns:\n- text: hello\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := sitDown(t, b, termName, "run", "--model", "scripted:turns.yaml")
			enter, ready := "\r", "/help lists the commands"
			if termName == "dumb" {
				enter, ready = "\n", "› "
			}
			p.sees(ready)
			p.types("first" + enter)
			p.sees("hello")
			p.sees("1 step")
			p.types("/new" + enter)
			if termName == "dumb" {
				p.sees("/new") // the terminal shows what is typed
			}
			p.sees(ready)
			p.types("second" + enter)
			p.sees("hello") // the script begins anew too: a turn that is left over would be none
			p.sees("1 step")
			p.types("/quit" + enter)
			p.leaves(0)
			out, _, _ := b.runs(t, nil, "sessions", "list")
			if strings.Count(out, "closed") != 2 || !strings.Contains(out, "first") || !strings.Contains(out, "second") {
				t.Errorf("the sessions:\n%s", out)
			}
			if text, err := os.ReadFile(ends); strings.Count(string(text), "end") != 2 {
				t.Errorf("hooks saw the ends %q, %v", text, err)
			}
		})
	}
}
