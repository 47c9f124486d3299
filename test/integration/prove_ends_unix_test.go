//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// dueEvents tell of what has happened: each hook that keeps account must hear of them.
var dueEvents = []protocol.EventName{
	protocol.ToolCallEnd, protocol.ToolCallError, protocol.StepStop, protocol.SubagentStop, protocol.AgentEnd, protocol.AgentError, protocol.SessionEnd,
}

// accountant is a hook that needs a moment before it writes the event down.
func accountant(file, class string, sleep float64) string {
	var names []string
	for _, name := range dueEvents {
		names = append(names, string(name))
	}
	return fmt.Sprintf("#!/bin/sh\n# hook: events=%s %s timeout=20s onFailure=continue\nevent=$(cat)\nsleep %g\nprintf '%%s\\n' \"$event\" >>\"$HOOK_PROJECT_DIR/%s\"\n",
		strings.Join(names, ","), class, sleep, file)
}

const (
	longCall  = "turns:\n- toolCalls:\n  - {name: bash, args: {command: 'touch started; sleep 20'}}\n- text: done\n"
	shortCall = "turns:\n- toolCalls:\n  - {name: bash, args: {command: 'touch started'}}\n- text: done\n"
	subCall   = "turns:\n- toolCalls:\n  - {name: spawn_subagent, args: {prompt: go}}\n- toolCalls:\n  - {name: bash, args: {command: 'touch started; sleep 20'}}\n- text: done\n"
	manyCalls = "turns:\n- toolCalls:\n  - {name: bash, args: {command: 'touch started; sleep 20'}}\n  - {name: bash, args: {command: 'sleep 21'}}\n  - {name: bash, args: {command: 'sleep 22'}}\n"
)

// endedRun is a run of hookd that ends in some way.
type endedRun struct {
	t      *testing.T
	box    *box
	hookd  *exec.Cmd
	stderr bytes.Buffer
	in     io.WriteCloser
	master *os.File // of the terminal it has
}

func (r *endedRun) start(args ...string) {
	r.t.Helper()
	r.hookd = r.box.command(append(args, "--allow", "bash", "--model", "scripted:model.yaml")...)
	r.hookd.Stderr = &r.stderr
	startIn(r.t, r.hookd)
}

func (r *endedRun) started() {
	r.t.Helper()
	for wait := time.Now(); !exists(filepath.Join(r.box.project, "started")); time.Sleep(5 * time.Millisecond) {
		if time.Since(wait) > 20*time.Second {
			r.t.Fatalf("the tool was not started: %s", r.stderr.String())
		}
	}
}

func (r *endedRun) model(script string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.box.project, "model.yaml"), []byte(script), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// ways are those in which a run can end. Each returns when the end has begun.
var ways = map[string]func(r *endedRun){
	"the prompt is done": func(r *endedRun) { r.model(shortCall); r.start("run", "go") },
	"a limit of steps": func(r *endedRun) {
		r.model(shortCall)
		r.box.settings(r.t, `{"agent":{"limits":{"steps":1}}}`)
		r.start("run", "go")
	},
	"a limit of time": func(r *endedRun) {
		r.model(longCall)
		r.box.settings(r.t, `{"agent":{"limits":{"time":"600ms"}}}`)
		r.start("run", "go")
	},
	"a signal INT":                  signalled(longCall, syscall.SIGINT),
	"a signal TERM":                 signalled(longCall, syscall.SIGTERM),
	"a signal QUIT":                 signalled(longCall, syscall.SIGQUIT),
	"a signal TERM, twice at once":  signalled(longCall, syscall.SIGTERM, syscall.SIGTERM),
	"a signal HUP, several times":   signalled(longCall, syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP),
	"a signal INT, several calls":   signalled(manyCalls, syscall.SIGINT),
	"the abort of the parent agent": signalled(subCall, syscall.SIGINT),
	"a terminal that is closed": func(r *endedRun) {
		r.model(longCall)
		r.inTerminal("run", "go")
		r.started()
		r.master.Close()
	},
	"a conversation in a terminal that is closed": func(r *endedRun) {
		r.model(longCall)
		r.inTerminal("run")
		time.Sleep(500 * time.Millisecond)
		io.WriteString(r.master, "go\r")
		r.started()
		r.master.Close()
	},
	"a model that is lost": func(r *endedRun) {
		r.model("turns:\n- toolCalls:\n  - {name: bash, args: {command: 'true'}}\n- {text: half, fail: the connection was lost}\n")
		r.start("run", "go")
	},
	"a stop by a hook": func(r *endedRun) {
		r.model(shortCall)
		r.box.script(r.t, "stop.sh", "#!/bin/sh\n# hook: events=tool-call-end can=block\necho '{\"action\":\"stop\",\"reason\":\"enough\"}'\n")
		r.start("run", "go")
	},
	"a refusal by a hook": func(r *endedRun) {
		r.model(shortCall)
		r.box.script(r.t, "no.sh", "#!/bin/sh\n# hook: events=inference-end can=block\necho '{\"action\":\"block\",\"reason\":\"no\"}'\n")
		r.start("run", "go")
	},
	"a modifier that is slow at agent-end": func(r *endedRun) {
		r.model(shortCall)
		r.box.script(r.t, "slow.sh", "#!/bin/sh\n# hook: events=agent-end timeout=30s\ntouch \"$HOOK_PROJECT_DIR/asked\"\nexec sleep 25\n")
		r.start("run", "go")
		for !exists(filepath.Join(r.box.project, "asked")) && r.hookd.ProcessState == nil {
			time.Sleep(5 * time.Millisecond)
		}
		r.hookd.Process.Signal(syscall.SIGTERM)
	},
	"a reader that has gone": func(r *endedRun) {
		r.model(longCall)
		r.hookd = r.box.command("run", "--json", "go", "--allow", "bash", "--model", "scripted:model.yaml")
		r.hookd.Stderr = &r.stderr
		out, err := r.hookd.StdoutPipe()
		if err != nil {
			r.t.Fatal(err)
		}
		startIn(r.t, r.hookd)
		r.started()
		out.Close()
		r.hookd.Process.Signal(syscall.SIGTERM) // it has nothing to write until then
	},
	"a reader that has stopped": func(r *endedRun) {
		r.model("turns:\n- toolCalls:\n  - {name: bash, args: {command: 'head -c 90000 /dev/zero | tr \\\\0 x; touch started; sleep 20'}}\n- text: done\n")
		r.hookd = r.box.command("run", "--json", "go", "--allow", "bash", "--model", "scripted:model.yaml")
		r.hookd.Stderr = &r.stderr
		reader, err := r.hookd.StdoutPipe()
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { reader.Close() })
		startIn(r.t, r.hookd)
		r.started()
		time.Sleep(300 * time.Millisecond) // it writes what nobody reads
		r.hookd.Process.Signal(syscall.SIGTERM)
	},
	"a script whose input ends": func(r *endedRun) { r.model(shortCall); r.driven("go"); r.in.Close() },
	"a script that aborts": func(r *endedRun) {
		r.model(longCall)
		r.driven("go")
		r.started()
		io.WriteString(r.in, "{\"abort\":true}\n")
		r.in.Close()
	},
}

func signalled(model string, signals ...syscall.Signal) func(r *endedRun) {
	return func(r *endedRun) {
		r.model(model)
		r.start("run", "go")
		r.started()
		for _, s := range signals {
			r.hookd.Process.Signal(s)
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func (r *endedRun) driven(prompt string) {
	r.t.Helper()
	r.hookd = r.box.command("run", "--json", "--allow", "bash", "--model", "scripted:model.yaml")
	r.hookd.Stderr = &r.stderr
	var err error
	if r.in, err = r.hookd.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	startIn(r.t, r.hookd)
	fmt.Fprintf(r.in, "{\"prompt\":%q}\n", prompt)
}

func (r *endedRun) inTerminal(args ...string) {
	r.t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		r.t.Skipf("there is no terminal here: %v", err)
	}
	r.master = hungUpAtOnce(r.t, master)
	r.hookd = r.box.command(append(args, "--allow", "bash", "--model", "scripted:model.yaml")...)
	r.hookd.Env = append(r.hookd.Env, "TERM=xterm")
	r.hookd.Stdin, r.hookd.Stdout, r.hookd.Stderr = slave, slave, slave
	r.hookd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	startIn(r.t, r.hookd)
	slave.Close()
	go io.Copy(io.Discard, r.master)
}

// hungUpAtOnce is the same terminal, whose Close does not wait for a Read.
func hungUpAtOnce(t *testing.T, master *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	master.Close()
	again := os.NewFile(uintptr(fd), "terminal")
	t.Cleanup(func() { again.Close() })
	return again
}

// TestTheEndIsTold is G24: whatever ends a run, each event that is due reaches the
// hooks that are to hear of it, and the record.
func TestTheEndIsTold(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" {
		t.Skip("its terminals end otherwise")
	}
	var runs, due atomic.Int64
	t.Cleanup(func() {
		prove.Figure(t, "G24", "%d ways to end × %d: %d events due to an observer of 300 ms and to a hook that is waited for, 0 of them missing in its account or in the record",
			len(ways), runs.Load()/int64(len(ways)), due.Load())
	})
	for name, end := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range prove.Size(1, 50) {
				t.Run("", func(t *testing.T) {
					t.Parallel()
					due.Add(int64(ends(t, end)))
					runs.Add(1)
				})
			}
		})
	}
}

// ends lets a run end in a way, and returns how many events were due to each of its
// two accountants.
func ends(t *testing.T, end func(*endedRun)) int {
	b := newBox(t)
	b.script(t, "observer.sh", accountant("observed", "can=observe", 0.3))
	b.script(t, "auditor.sh", accountant("audited", "", 0.05)) // of the default class
	r := &endedRun{t: t, box: b}
	end(r)
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- r.hookd.Wait() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatalf("hookd did not end: %s", r.stderr.String())
	}
	took := time.Since(began)
	if bound := 8*time.Second + killedBound(); took > bound { // hooks.drain is 5s
		t.Errorf("the end took %s", took)
	}
	if left := aliveAfter(b.folder, time.Second); len(left) > 0 {
		t.Errorf("left alive: %s", strings.Join(left, "; "))
	}
	recorded := r.recorded()
	checkTold(t, recorded)
	due := 0
	for _, e := range recorded {
		if slices.Contains(dueEvents, e.Event) {
			due++
		}
	}
	for _, file := range []string{"observed", "audited"} {
		heard := r.heard(file)
		for _, e := range recorded {
			if slices.Contains(dueEvents, e.Event) && !slices.Contains(heard, e.ID) && !(file == "audited" && r.wasCut(e)) {
				t.Errorf("%s (%s) is not in what was %s; stderr: %s", e.Event, e.ToolCallID, file, r.stderr.String())
			}
		}
	}
	return due
}

// wasCut reports whether the auditor was being asked about the event when the end
// came, which the record and the person know then.
func (r *endedRun) wasCut(e record.Event) bool {
	said := r.master != nil || strings.Contains(r.stderr.String(), "cut off by the end of hookd: auditor.sh at ")
	return said && slices.ContainsFunc(e.Runs, func(run protocol.Run) bool {
		return run.Hook == "auditor.sh" && run.Failure == protocol.FailAborted
	})
}

// recorded are the events that were due, as the record has them.
func (r *endedRun) recorded() (list []record.Event) {
	folder := filepath.Join(r.box.folder, "state", "hookd", "records")
	files, err := os.ReadDir(folder)
	if err != nil || len(files) == 0 {
		r.t.Fatalf("no record: %v", err)
	}
	for _, f := range files {
		session, isRecord := strings.CutSuffix(f.Name(), ".jsonl")
		if !isRecord {
			continue
		}
		for line, problem := range record.Read(folder, session) {
			var e record.Event
			if problem != nil {
				r.t.Error(problem)
			} else if line.Kind == record.KindEvent && line.Decode(&e) == nil {
				list = append(list, e)
			}
		}
	}
	return list
}

// heard are the ids of the events that an accountant wrote down.
func (r *endedRun) heard(file string) (ids []string) {
	text, _ := os.ReadFile(filepath.Join(r.box.project, file))
	for line := range strings.Lines(string(text)) {
		var e struct{ ID string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			r.t.Errorf("%s: %v: %s", file, err, line)
		}
		if slices.Contains(ids, e.ID) {
			r.t.Errorf("%s has event %s twice", file, e.ID)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// checkTold asserts that whatever began has its end in the record.
func checkTold(t *testing.T, events []record.Event) {
	t.Helper()
	count := map[string]int{}
	for _, e := range events {
		switch e.Event {
		case protocol.ToolCallStart:
			count["call "+e.ToolCallID]++
		case protocol.ToolCallEnd, protocol.ToolCallError:
			count["call "+e.ToolCallID]--
		case protocol.AgentStart:
			count["agent "+e.Agent]++
		case protocol.AgentEnd, protocol.AgentError:
			count["agent "+e.Agent]--
		case protocol.SubagentStart:
			count["sub-agents"]++
		case protocol.SubagentStop:
			count["sub-agents"]--
		case protocol.SessionStart:
			count["session"]++
		case protocol.SessionEnd:
			count["session"]--
		}
	}
	for what, n := range count {
		if n != 0 {
			t.Errorf("%s: %+d of its end are missing in the record", what, n)
		}
	}
	if len(events) < 5 {
		t.Errorf("only %d events are recorded", len(events))
	}
}

// TestExampleAuditorMissesNoCall: a call with an effect has its beginning and its end
// in the account of examples/hooks/audit.sh, whatever ended the run.
func TestExampleAuditorMissesNoCall(t *testing.T) {
	for name, end := range map[string]func(*endedRun){
		"INT": ways["a signal INT"], "TERM": ways["a signal TERM"], "HUP": ways["a signal HUP, several times"], "terminal": ways["a terminal that is closed"],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.installExample(t, "audit.sh")
			r := &endedRun{t: t, box: b}
			end(r)
			r.hookd.Wait()
			var events []string
			account, _ := os.ReadFile(filepath.Join(b.project, ".acai", "audit.jsonl"))
			for line := range strings.Lines(string(account)) {
				var e struct{ Event string }
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Error(err)
				}
				events = append(events, e.Event)
			}
			if got := strings.Join(events, " "); got != "tool-call-start tool-call-error" {
				t.Errorf("the account has %s", got)
			}
		})
	}
}
