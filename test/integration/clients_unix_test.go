//go:build unix

package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
)

// missing says what a program that a test or a page needs lacks here, "" if nothing.
// "typescript" is a node that runs TypeScript files as they stand.
func missing(program string) string {
	switch program {
	case "":
		return ""
	case "typescript":
		out, err := exec.Command("node", "-p", "process.features.typescript").Output()
		if err != nil {
			return "node is not on this machine"
		}
		if can := strings.TrimSpace(string(out)); can != "strip" && can != "transform" {
			return "this node does not run TypeScript; version 22.18 does"
		}
		return ""
	}
	if _, err := exec.LookPath(program); err != nil {
		return program + " is not on this machine"
	}
	return ""
}

// driver is a program that plays jobs with one of the clients of examples/clients.
type driver struct {
	t       *testing.T
	box     *box
	process *os.Process
	killed  bool
	in      io.Writer
	out     *bufio.Reader
}

type job struct {
	Command      []string        `json:"command,omitempty"`
	Socket       string          `json:"socket,omitempty"`
	Text         string          `json:"text"`
	Timeout      int             `json:"timeout"` // ms, as the others
	Grace        int             `json:"grace"`
	Cancel       int             `json:"cancel,omitempty"`
	Pause        bool            `json:"pause,omitempty"` // before the event, until there is a file go
	Capabilities map[string]bool `json:"capabilities,omitempty"`
}

type played struct {
	Action, By, Reason, Failure, Command, Error, Kind, AfterClose string
	Refused, Well                                                 bool
	Context                                                       []string
	Step, Code, Took, All                                         int
}

const answersByWord = `#!/bin/sh
# hook: events=tool-call-start can=modify onFailure=block timeout=60s
command=$("$HOOKD" get data.args.command) || exit 1
case $command in
block) echo '{"action":"block","reason":"not in this house"}' ;;
stop) echo '{"action":"stop","reason":"enough"}' ;;
change) echo '{"action":"modify","changes":{"args":{"command":"echo changed"}}}' ;;
ask) echo '{"action":"ask","reason":"really?"}' ;;
tell) echo '{"action":"observe","context":"the tests are red"}' ;;
crash) exit 3 ;;
wait) sleep 300 & echo $! >"$HOME/waits.tmp"; mv "$HOME/waits.tmp" "$HOME/waits"; wait ;;
esac
`

// A language that there is a client for.
type language struct{ name, needs, program, driver, host string }

var languages = []language{
	{"python", "python3", "python3", "drive.py", "host.py"},
	{"typescript", "typescript", "node", "drive.mjs", "host.ts"},
}

// eachLanguage runs a test with each language, with a user's hook that answers by the
// command's word, and sees that no process is left.
func eachLanguage(t *testing.T, test func(t *testing.T, l language, b *box)) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			if why := missing(l.needs); why != "" {
				t.Skipf("the client in %s cannot run here: %s", l.name, why)
			}
			t.Parallel()
			b := newBox(t)
			b.path = filepath.Dir(binary)
			b.script(t, "words.sh", answersByWord)
			test(t, l, b)
			if left := aliveAfter(b.folder, 5*time.Second); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}

// command runs a program of the language in the box.
func (l language) command(t *testing.T, b *box, args ...string) *exec.Cmd {
	t.Helper()
	program := l.program
	if program == "python3" { // that of a version manager needs the person's home
		out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
		if err != nil {
			t.Fatal(err)
		}
		program = strings.TrimSpace(string(out))
	}
	c := b.command()
	run := exec.Command(program, args...)
	run.Dir, run.Env, run.Stderr = c.Dir, append(c.Env, "PYTHONDONTWRITEBYTECODE=1"), os.Stderr
	return run
}

func clientsFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join(root(t), "examples", "clients"))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// eachClient runs a test with a driver in each language.
func eachClient(t *testing.T, test func(d *driver)) {
	eachLanguage(t, func(t *testing.T, l language, b *box) {
		script, err := filepath.Abs(filepath.Join("testdata", "clients", l.driver))
		if err != nil {
			t.Fatal(err)
		}
		run := l.command(t, b, script, clientsFolder(t))
		in, err := run.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := run.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { run.Process.Kill(); run.Wait() })
		d := &driver{t: t, box: b, process: run.Process, in: in, out: bufio.NewReader(out)}
		test(d)
		in.Close()
		if err := run.Wait(); err != nil && !d.killed {
			t.Errorf("the driver: %v", err)
		}
	})
}

// begin starts a job. The daemon leaves its process id in the file pid.
func (d *driver) begin(j job) {
	d.t.Helper()
	if j.Command == nil && j.Socket == "" {
		j.Command = []string{"/bin/sh", "-c", `echo $$ >"$HOME/pid"; exec "$0" serve`, binary}
	}
	if j.Timeout == 0 {
		j.Timeout = 30_000
	}
	if j.Grace == 0 {
		j.Grace = 15_000
	}
	line, err := json.Marshal(j)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		d.t.Fatal(err)
	}
}

func (d *driver) end() (p played) {
	d.t.Helper()
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		d.t.Fatalf("the driver ended: %v", err)
	}
	if err := json.Unmarshal(line, &p); err != nil {
		d.t.Fatalf("%v: %s", err, line)
	}
	return p
}

func (d *driver) play(j job) played {
	d.t.Helper()
	d.begin(j)
	return d.end()
}

// daemonAt waits until the hook of the command "wait" runs, or the driver pauses, and
// returns the daemon.
func (d *driver) daemonAt() (pid int) {
	d.t.Helper()
	waits := filepath.Join(d.box.home, "waits")
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if os.Remove(waits) != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(d.box.home, "pid"))
		if err != nil {
			d.t.Fatal(err)
		}
		return number(strings.TrimSpace(string(text)))
	}
	d.t.Fatal("the hook did not start, or the driver did not pause")
	return 0
}

func TestClientsReturnTheOutcome(t *testing.T) {
	eachClient(t, func(d *driver) {
		for _, c := range []struct {
			text string
			can  map[string]bool
			want played
		}{
			{"ls", nil, played{Action: "observe", Command: "ls"}},
			{"block", nil, played{Action: "block", Refused: true, By: "words.sh", Reason: "not in this house", Command: "block"}},
			{"stop", nil, played{Action: "stop", Refused: true, By: "words.sh", Reason: "enough", Command: "stop"}},
			{"change", nil, played{Action: "modify", By: "words.sh", Command: "echo changed"}},
			{"ask", nil, played{Action: "block", Refused: true, By: "words.sh", Reason: "really?", Command: "ask"}},
			{"ask", map[string]bool{"ask": true}, played{Action: "ask", Refused: true, By: "words.sh", Reason: "really?", Command: "ask"}},
			{"tell", nil, played{Action: "observe", Command: "tell", Context: []string{"the tests are red"}}},
			{"crash", nil, played{Action: "block", Refused: true, By: "words.sh", Failure: "exit", Command: "crash"}},
		} {
			got := d.play(job{Text: c.text, Capabilities: c.can})
			if c.want.Context == nil {
				c.want.Context = []string{}
			}
			if c.want.Failure != "" && got.Failure != "" {
				c.want.Reason = got.Reason
			}
			c.want.Step, c.want.Well, c.want.AfterClose, c.want.Took, c.want.All = 1, true, "refused", got.Took, got.All
			if !reflect.DeepEqual(got, c.want) {
				d.t.Errorf("%s:\n got %+v\nwant %+v", c.text, got, c.want)
			}
			if got.All > 15_000 {
				d.t.Errorf("%s took %d ms", c.text, got.All)
			}
		}
	})
}

// A daemon that dies with an event in flight, or hangs, refuses at once or when the
// caller's time is over, and closing leaves nobody.
func TestClientsRefuseWhenTheDaemonDiesOrHangs(t *testing.T) {
	eachClient(t, func(d *driver) {
		d.begin(job{Text: "wait"})
		killed := time.Now()
		syscall.Kill(d.daemonAt(), syscall.SIGKILL)
		got := d.end()
		if got.Kind != "HookdError" || !strings.Contains(got.Error, "gone") || got.Well || time.Since(killed) > 20*time.Second || got.All-got.Took > 3000 {
			d.t.Errorf("killed: %+v", got)
		}

		// While hooks run, hookd wakes a daemon that was stopped. So it is stopped before.
		d.begin(job{Text: "ls", Timeout: 3000, Grace: 1000, Pause: true})
		pid := d.daemonAt()
		syscall.Kill(pid, syscall.SIGSTOP)
		writeFile(d.t, filepath.Join(d.box.home, "go"), "", 0o644)
		got = d.end()
		if got.Kind != "HookdTimeout" || got.Well || got.Took < 3000 || got.Took > 8000 || got.All-got.Took < 900 || got.All-got.Took > 6000 {
			d.t.Errorf("stopped: %+v", got)
		}
		if syscall.Kill(pid, 0) == nil {
			d.t.Error("the stopped daemon is still there")
		}
	})
}

// An agent that is killed with an event in flight leaves no daemon and no hook.
func TestClientsLeaveNobodyWhenTheAgentIsKilled(t *testing.T) {
	eachClient(t, func(d *driver) {
		d.begin(job{Text: "wait"})
		daemon := d.daemonAt()
		if left := alive(d.box.folder); len(left) == 1 {
			d.t.Errorf("nothing runs but %s", left)
		}
		d.killed = true
		d.process.Kill()
		for end := time.Now().Add(5 * time.Second); syscall.Kill(daemon, 0) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				d.t.Fatal("the daemon lives on")
			}
		}
	})
}

// The hosts do what the hooks say, and run nothing where they cannot ask them.
func TestExampleHosts(t *testing.T) {
	eachLanguage(t, func(t *testing.T, l language, b *box) {
		host := filepath.Join(clientsFolder(t), l.host)
		run := func(code int, stderr string, commands ...string) string {
			t.Helper()
			var errors strings.Builder
			c := l.command(t, b, append([]string{host}, commands...)...)
			c.Stderr = &errors
			began := time.Now()
			out, _ := c.Output()
			if took := time.Since(began); c.ProcessState.ExitCode() != code || !strings.Contains(errors.String(), stderr) || took > 20*time.Second {
				t.Errorf("%s: ends with %d after %v, want %d: %s", commands, c.ProcessState.ExitCode(), took, code, &errors)
			}
			return string(out)
		}
		const want = `hello
refused by words.sh: not in this house
changed
sh-tell
the tests are red
refused by words.sh: really?
given
`
		b.script(t, "after.sh", "#!/bin/sh\n# hook: events=tool-call-start can=modify onFailure=block\n"+
			`case $("$HOOKD" get data.args.command) in given) echo '{"action":"modify","result":{"content":"given","isError":false}}' ;; esac`+"\n")
		b.script(t, "told.sh", "#!/bin/sh\n# hook: events=tool-call-end can=modify onFailure=block\n"+
			`case $("$HOOKD" get data.args.command) in tell) echo '{"action":"modify","changes":{"result":{"content":"sh-tell","isError":false}}}' ;; esac`+"\n")
		if got := run(0, "", "echo hello", "block", "change", "tell", "ask", "given"); got != want {
			t.Errorf("prints:\n%s\nwant:\n%s", got, want)
		}
		if got := run(1, "stopped by words.sh: enough", "stop", "touch ran"); got != "" {
			t.Errorf("after a stop: %s", got)
		}
		b.path = b.folder // a hookd that is none
		writeFile(t, filepath.Join(b.folder, "hookd"), "#!/bin/sh\nread -r a; echo hello\n", 0o755)
		run(1, "hookd", "touch ran")
		if _, err := os.Lstat(filepath.Join(b.project, "ran")); err == nil {
			t.Error("a command ran whose hooks were not asked")
		}
	})
}

// The caller's time and a cancellation end the hooks; the daemon goes on.
func TestClientsEndAnEvent(t *testing.T) {
	eachClient(t, func(d *driver) {
		got := d.play(job{Text: "wait", Timeout: 1500})
		if got.Kind != "HookdTimeout" || !got.Well || got.Took < 1500 || got.Took > 6000 || got.All > 10_000 {
			d.t.Errorf("time-out: %+v", got)
		}
		got = d.play(job{Text: "wait", Cancel: 1000})
		if got.Kind != "HookdError" || !strings.Contains(got.Error, "cancelled") || !got.Well || got.Took < 1000 || got.Took > 6000 || got.All > 10_000 {
			d.t.Errorf("cancelled: %+v", got)
		}
	})
}

// Whatever a daemon writes that is not an outcome raises, and never passes.
func TestClientsRefuseGarbage(t *testing.T) {
	const event = `"event":{"event":"tool-call-start","step":1,"data":{"args":{"command":"ls"}}}`
	const rest = `"by":null,"reason":"",` + event + `,"context":[],"notices":[],"messages":[],"callback":null,"generation":1,"runs":[]`
	answer := func(result string) string { return `{"jsonrpc":"2.0","id":3,"result":` + result + "}\n" }
	good := answer(`{"action":"observe",` + rest + `}`)
	lines := map[string]string{
		"no JSON":             "hello\n",
		"no object":           "[]\n",
		"null":                "null\n",
		"no version":          strings.Replace(good, `"jsonrpc":"2.0",`, "", 1),
		"text as id":          strings.Replace(good, `"id":3`, `"id":"3"`, 1),
		"true as id":          strings.Replace(good, `"id":3`, `"id":true`, 1),
		"another id":          strings.Replace(good, `"id":3`, `"id":7`, 1),
		"no id":               strings.Replace(good, `"id":3,`, ``, 1),
		"result and error":    strings.Replace(good, `"id":3`, `"id":3,"error":{"code":1,"message":"x"}`, 1),
		"neither":             `{"jsonrpc":"2.0","id":3}` + "\n",
		"error that is none":  `{"jsonrpc":"2.0","id":3,"error":5}` + "\n",
		"empty result":        answer(`{}`),
		"null result":         answer(`null`),
		"true result":         answer(`true`),
		"no action":           answer(`{` + rest + `}`),
		"unknown action":      answer(`{"action":"approve",` + rest + `}`),
		"action of a type":    answer(`{"action":["observe"],` + rest + `}`),
		"event without data":  answer(`{"action":"observe",` + strings.Replace(rest, `"data":{"args":{"command":"ls"}}`, `"data":null`, 1) + `}`),
		"no context":          answer(`{"action":"observe",` + strings.Replace(rest, `"context":[],`, ``, 1) + `}`),
		"no UTF-8":            strings.Replace(good, `"reason":""`, "\"reason\":\"\xff\"", 1),
		"no number of JSON":   strings.Replace(good, `"generation":1`, `"generation":NaN`, 1),
		"deep":                `{"jsonrpc":"2.0","id":3,"result":` + strings.Repeat("[", 200_000) + "\n",
		"cut before its line": strings.TrimSuffix(good, "\n"),
		"end":                 "",
	}
	eachClient(t, func(d *driver) {
		// The control: what these are made of is an outcome.
		if got := d.play(d.fake(good)); got.Action != "observe" || got.Error != "" {
			d.t.Errorf("a good answer: %+v", got)
		}
		for name, line := range lines {
			got := d.play(d.fake(line))
			if got.Kind != "HookdError" || len(got.Error) < len("the daemon is gone") || got.Action != "" || got.Took > 4000 || got.All > 8000 {
				d.t.Errorf("%s: %+v", name, got)
			}
		}
		for _, command := range [][]string{{"/nowhere/hookd"}, {"/bin/sh", "-c", "exit 3"}, {"/bin/echo", "hello"}} {
			if got := d.play(job{Command: command, Text: "ls", Timeout: 5000, Grace: 1000}); got.Kind != "HookdError" || got.Took > 4000 {
				d.t.Errorf("%s: %+v", command, got)
			}
		}
	})
}

// fake is a job with a daemon that answers two requests well, writes a line to the third,
// and ends at the end of its input; after an incomplete line at once.
func (d *driver) fake(line string) job {
	d.t.Helper()
	file := filepath.Join(d.box.folder, "line")
	if err := os.WriteFile(file, []byte(line), 0o644); err != nil {
		d.t.Fatal(err)
	}
	last := `cat >/dev/null`
	if !strings.HasSuffix(line, "\n") {
		last = "exit 0"
	} else if strings.Contains(line, `"action":"observe"`) {
		last = `read -r a; echo '{"jsonrpc":"2.0","id":4,"result":{}}'; read -r a; echo '{"jsonrpc":"2.0","id":5,"result":{}}'; cat >/dev/null`
	}
	script := `read -r a; echo '{"jsonrpc":"2.0","id":1,"result":{"version":1}}'
read -r a; echo '{"jsonrpc":"2.0","id":2,"result":{"id":"s","key":"k"}}'
read -r a; cat "$0"; ` + last
	return job{Command: []string{"/bin/sh", "-c", script, file}, Text: "ls", Timeout: 5000, Grace: 300}
}

func TestClientsConnectToASocketThatIsTheUsers(t *testing.T) {
	eachClient(t, func(d *driver) {
		folder, err := os.MkdirTemp("", "hookd-c") // a socket's path is short
		if err != nil {
			d.t.Fatal(err)
		}
		defer os.RemoveAll(folder)
		path := filepath.Join(folder, "s")
		c := d.box.command("serve", "--socket="+path)
		if err := c.Start(); err != nil {
			d.t.Fatal(err)
		}
		defer c.Wait()
		defer c.Process.Signal(syscall.SIGTERM)
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Lstat(path); err == nil {
				break
			}
		}
		for range 2 { // a client that has gone leaves the daemon to the next
			if got := d.play(job{Socket: path, Text: "block"}); got.Reason != "not in this house" || !got.Refused || !got.Well {
				d.t.Errorf("%+v", got)
			}
		}
		if err := os.Chmod(folder, 0o755); err != nil {
			d.t.Fatal(err)
		}
		for _, wrong := range []string{path, filepath.Join(folder, "none"), filepath.Join(d.box.home, "pid")} {
			if got := d.play(job{Socket: wrong, Text: "ls"}); got.Kind != "HookdError" || !strings.Contains(got.Error, wrong) {
				d.t.Errorf("%s: %+v", wrong, got)
			}
		}
	})
}

// The types of both clients name every member of the outcome, and its actions.
func TestClientsKnowTheWholeOutcome(t *testing.T) {
	for file, form := range map[string]string{"hookd.py": "\n    %s: ", "hookd.ts": "\n  %s: "} {
		text, err := os.ReadFile(filepath.Join(root(t), "examples", "clients", file))
		if err != nil {
			t.Fatal(err)
		}
		source := strings.ReplaceAll(string(text), "?:", ":")
		for field := range fieldsOf(reflect.TypeFor[protocol.Outcome]()) {
			if !strings.Contains(source, fmt.Sprintf(form, field)) {
				t.Errorf("%s: the outcome has no %s", file, field)
			}
		}
		for _, action := range []protocol.Action{protocol.Observe, protocol.Block, protocol.Modify, protocol.Ask, protocol.Allow, protocol.Stop, protocol.Continue, protocol.Callback} {
			if !strings.Contains(source, `"`+string(action)+`"`) {
				t.Errorf("%s: there is no action %s", file, action)
			}
		}
	}
}

func fieldsOf(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names[name] = true
		}
	}
	return names
}

// What hookd schema outcome prints describes what hookd fire prints.
func TestOutcomesFitTheirSchema(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.script(t, "words.sh", answersByWord)
	text, err := b.command("schema", "outcome").Output()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"ls", "block", "stop", "change", "ask", "tell", "crash"} {
		c := b.command("fire", "tool-call-start", "--json", "--explain", "--data", call("bash", "shell", map[string]any{"command": word}))
		out, _ := c.Output() // it ends with the outcome's code
		var outcome any
		if err := json.Unmarshal(out, &outcome); err != nil {
			t.Fatalf("%s: %v\n%s", word, err, out)
		}
		if err := r.Validate(outcome); err != nil {
			t.Errorf("%s: %v\n%s", word, err, out)
		}
	}
}
