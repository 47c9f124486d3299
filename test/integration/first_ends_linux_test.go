package integration

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// orphaning is a hook of the user that keeps account, slowly, and leaves an orphan
// each time.
func orphaning(events string, sleep float64) string {
	return fmt.Sprintf("#!/bin/sh\n# hook: events=%s can=observe timeout=70s\n(setsid sleep 0.05 >/dev/null 2>&1 &)\ntouch \"$HOOK_PROJECT_DIR/asked\"\n"+
		"sleep %g\necho \"$HOOK_EVENT\" >>\"$HOOK_PROJECT_DIR/account\"\n", events, sleep)
}

const firstTool = "touch started; setsid sleep 62 & sleep 61"

// firstEnd is a hookd that is process 1 and is about to end.
type firstEnd struct {
	t      *testing.T
	p      *account
	outer  *exec.Cmd
	first  *os.Process
	stderr *bytes.Buffer
}

func (f *firstEnd) awaits(name string) {
	f.t.Helper()
	for wait := time.Now(); !exists(filepath.Join(f.p.folder, "proj", name)); time.Sleep(10 * time.Millisecond) {
		if time.Since(wait) > 20*time.Second {
			f.t.Fatalf("%s did not appear: %s", name, f.stderr)
		}
	}
}

// ends sends a signal and returns how long the end took.
func (f *firstEnd) ends(signal syscall.Signal) time.Duration {
	f.t.Helper()
	began := time.Now()
	f.first.Signal(signal)
	ended := make(chan struct{})
	go func() { f.outer.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		f.t.Fatalf("still there 20 s after %s: %s", signal, f.stderr)
	}
	return time.Since(began)
}

func (f *firstEnd) account() []string { return strings.Fields(f.p.read("proj/account")) }

// starts of hookd as process 1, each in a project with a tool that does not end.
var firstStarts = map[string]func(t *testing.T, p *account, how string) *firstEnd{
	"run": func(t *testing.T, p *account, how string) *firstEnd {
		p.toolCall(t, firstTool)
		f := &firstEnd{t: t, p: p, stderr: &bytes.Buffer{}}
		f.outer = asFirst(t, p, how, "run", "go", "--allow", "bash,write", "--model", "scripted:model.yaml")
		f.outer.Stderr = f.stderr
		startIn(t, f.outer)
		return f
	},
	"conversation": func(t *testing.T, p *account, how string) *firstEnd {
		p.toolCall(t, firstTool)
		master, slave, err := pty.Open()
		if err != nil {
			t.Skipf("there is no terminal here: %v", err)
		}
		f := &firstEnd{t: t, p: p, stderr: &bytes.Buffer{}}
		f.outer = asFirst(t, p, how, "run", "--allow", "bash,write", "--model", "scripted:model.yaml")
		f.outer.Env = append(slices.DeleteFunc(f.outer.Env, func(e string) bool { return strings.HasPrefix(e, "TERM=") }), "TERM=dumb")
		f.outer.Stdin, f.outer.Stdout, f.outer.Stderr = slave, slave, f.stderr
		startIn(t, f.outer)
		t.Cleanup(func() { master.Close(); slave.Close() })
		io.WriteString(master, "go\n")
		return f
	},
}

// TestFirstProcessTellsTheEnd: as process 1 hookd ends as anywhere else: its tools
// and what they left are gone, observers hear of the end, no dead stay in the table.
func TestFirstProcessTellsTheEnd(t *testing.T) {
	needsNamespaces(t)
	for _, how := range firsts {
		for name, start := range firstStarts {
			t.Run(how+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := firstAccount(t, how)
				p.write(t, "home/.acai/hooks/account.sh", orphaning("tool-call-start,tool-call-error,agent-end,session-end", 0.3))
				f := start(t, p, how)
				f.first = firstBelow(t, f.outer.Process.Pid)
				f.awaits("started")
				f.awaits("account")
				if _, zombies := offspringAfter(t, f.first.Pid, 5*time.Second); zombies > 0 {
					t.Errorf("%d dead are in the process table", zombies)
				}
				took := f.ends(syscall.SIGTERM)
				if took > 8*time.Second {
					t.Errorf("the end took %s", took)
				}
				want := []string{"tool-call-start", "tool-call-error", "agent-end", "session-end"}
				if got := f.account(); !slices.Equal(got, want) {
					t.Errorf("the account has %v: %s", got, f.stderr)
				}
			})
		}
	}
}

// offspringAfter waits until none of a process's children is dead.
func offspringAfter(t *testing.T, parent int, patience time.Duration) (pids []int, zombies int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if pids, zombies = offspring(t, parent); zombies == 0 || time.Now().After(end) {
			return pids, zombies
		}
	}
}

// TestFirstProcessDrains: a daemon that is process 1 waits for its observers at a
// TERM, and a second TERM cuts them off and says so.
func TestFirstProcessDrains(t *testing.T) {
	needsNamespaces(t)
	for _, how := range firsts {
		for _, second := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", how, second), func(t *testing.T) {
				t.Parallel()
				p := firstAccount(t, how)
				sleep := 0.5
				if second {
					sleep = 60
				}
				p.write(t, "home/.acai/hooks/account.sh", orphaning("prompt-submit", sleep))
				k := serveBy(t, &box{folder: p.folder, project: filepath.Join(p.folder, "proj")}, asFirst(t, p, how, "serve"))
				f := &firstEnd{t: t, p: p, outer: k.cmd, stderr: k.stderr, first: firstBelow(t, k.cmd.Process.Pid)}
				k.call("event/fire", k.event("go"))
				f.awaits("asked")
				if !second {
					if took := f.ends(syscall.SIGTERM); took > 5*time.Second {
						t.Errorf("the end took %s", took)
					}
					if got := f.account(); !slices.Equal(got, []string{"prompt-submit"}) {
						t.Errorf("the account has %v", got)
					}
					return
				}
				f.first.Signal(syscall.SIGTERM)
				time.Sleep(300 * time.Millisecond)
				if took := f.ends(syscall.SIGTERM); took > 3*time.Second {
					t.Errorf("the end took %s after the second signal", took)
				}
				if said := f.stderr.String(); !strings.Contains(said, "cut off by the end of hookd: account.sh at prompt-submit") {
					t.Errorf("it says %q", said)
				}
			})
		}
	}
}
