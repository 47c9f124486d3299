//go:build unix

package integration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The fault kit: a small hook per fault, each asked twice, once as a hook that
// fails open (onFailure=continue) and once as a guard (onFailure=block). The
// event must be answered in time, the failure must have its right name, and
// nothing may be left alive.
//
// want is what the run comes to: "block" where the hook's no counts whatever
// its rule, "observe" or "modify" where it is heard, else a failure kind.
var faultKit = []struct {
	name   string
	hook   hookFile
	want   string
	detail string // the record's detail holds this
}{
	// Starting.
	{"not executable", hookFile{body: "#!/bin/sh\nHEADER\n" + sayNo, mode: 0o644}, "spawn", "executable"},
	{"no interpreter line", hookFile{body: "HEADER\n" + sayNo}, "spawn", "interpreter"},
	{"interpreter missing", hookFile{body: "#!/no/such/interpreter\nHEADER\n" + sayNo}, "spawn", "/no/such/interpreter"},
	{"interpreter not on PATH", hookFile{body: "#!/usr/bin/env no-such-python\nHEADER\n" + sayNo}, "spawn", "no-such-python"},
	{"interpreter line ends with CRLF", hookFile{body: "#!/bin/sh\r\nHEADER\r\n" + sayNo}, "spawn", "line end"},
	{"empty file", hookFile{body: "", side: true}, "spawn", "empty"},
	{"a folder in the hook's place", hookFile{entry: `{"name":"HOOK","ENTRY":0}`, folder: true}, "gone", ""},
	{"text file busy", hookFile{body: "#!/bin/sh\nHEADER\n" + sayNo, spoil: keepOpen}, "spawn", "busy"},
	{"another owner", hookFile{body: "#!/bin/sh\nHEADER\n" + sayNo, spoil: giveAway}, "spawn", "another user"},
	{"writable by others", hookFile{body: "#!/bin/sh\nHEADER\n" + sayNo, mode: 0o757}, "spawn", "writable"},
	{"writable folder", hookFile{body: "#!/bin/sh\nHEADER\n" + sayNo, spoil: openFolder}, "spawn", "writable"},
	{"no such file", hookFile{entry: `{"name":"HOOK","ENTRY":0}`, absent: true}, "gone", ""},

	// Ending.
	{"exits 0 and says nothing", sh(`exit 0`), "observe", ""},
	{"exits 1", sh(`echo "it broke" >&2; exit 1`), "exit", `exit code 1; last line of stderr: "it broke"`},
	{"exits 2 and says nothing", sh(`exit 2`), "block", ""},
	{"exits 2 with its reason on stderr", sh(`echo "because" >&2; exit 2`), "block", ""},
	{"exits 3", sh(`exit 3`), "exit", "3"},
	{"exits 126", sh(`exit 126`), "exit", "126"},
	{"exits 127", sh(`no-such-command; exit $?`), "exit", "127"},
	{"exits 139", sh(`exit 139`), "exit", "139"},
	{"exits 255", sh(`exit 255`), "exit", "255"},
	{"segmentation fault", sh(`kill -SEGV $$`), "signal", "SEGV"},
	{"killed", sh(`kill -9 $$`), "signal", "KILL"},
	{"stops itself", faultyHook("stops-itself"), "timeout", ""},
	{"sleeps", sh(`sleep 30`), "timeout", "timed out after"},
	{"says no, then sleeps", sh(sayNo + `; sleep 30`), "block", ""},
	{"says nothing to object, then sleeps", sh(`echo '{"action":"observe"}'; sleep 30`), "timeout", ""},
	{"says no, exits 1", sh(sayNo + `; exit 1`), "block", ""},
	{"says no, then is killed", sh(sayNo + `; kill -9 $$`), "block", ""},

	// Leaving something behind.
	{"a background child holds the pipe", sh(`sleep 30 & ` + sayNo), "block", ""},
	{"a daemon in its own session holds the pipe", faultyHook("daemon-holds-pipe"), "block", ""},
	{"a pipeline and a second child outlive the limit", sh(`sleep 31 | cat & sleep 32; true`), "timeout", ""},
	{"setsid child", faultyHook("setsid"), "timeout", ""},
	{"double fork", faultyHook("double-fork"), "timeout", ""},
	{"ignores TERM", faultyHook("ignores-term"), "timeout", ""},
	{"shell that ignores TERM", sh(`trap '' TERM INT HUP; while :; do sleep 0.2; done`), "timeout", ""},
	{"storm of 100 processes", faultyHook("storm"), "timeout", ""},

	// Writing.
	{"banner before the answer", sh(`echo "hello from profile"; ` + sayNo), "block", ""},
	{"banner, and nothing to object", sh(`echo "hello from profile"; echo '{"action":"observe"}'`), "observe", ""},
	{"two documents, the second says no", sh(`echo '{"note":"x"}'; ` + sayNo), "block", ""},
	{"change, then no", sh(`echo '{"action":"modify","changes":{"args":{"command":"x"}}}'; ` + sayNo), "block", ""},
	{"two documents, neither says no", sh(`echo '{"action":"observe"}'; echo '{"action":"observe"}'`), "reply", ""},
	{"only text", sh(`echo fine`), "reply", ""},
	{"BOM", sh(`printf '\357\273\277'; ` + sayNo), "block", ""},
	{"UTF-16 that says no", faultyHook("utf-16"), "block", ""},
	{"UTF-16", faultyHook("utf-16-observe"), "reply", "UTF-16"},
	{"invalid UTF-8", sh(`printf '{"action":"modify","changes":{"args":{"command":"\377"}}}'`), "reply", ""},
	{"lone surrogate in the reason", sh(`printf '{"action":"block","reason":"a\\udc00b"}'`), "block", ""},
	{"NaN", sh(`echo '{"action":"modify","changes":{"args":{"n":NaN}}}'`), "reply", "/changes/args/n, line 1, byte 42"},
	{"number beyond every float", sh(`echo '{"action":"modify","changes":{"args":{"n":1e400}}}'`), "modify", ""},
	{"integer beyond 2^53", sh(`echo '{"action":"modify","changes":{"args":{"n":9007199254740993}}}'`), "modify", ""},
	{"depth of 100,000", faultyHook("deep"), "reply", ""},
	{"repeated key", sh(`echo '{"action":"modify","changes":{"args":{"a":1,"a":2}}}'`), "reply", ""},
	{"half a document", sh(`printf '{"action":"bl'`), "reply", "byte 13"},
	{"a string", sh(`echo '"ok"'`), "reply", ""},
	{"a number", sh(`echo 42`), "reply", ""},
	{"an empty object", sh(`echo '{}'`), "observe", ""},
	{"string of 64 MiB", faultyHook("big-string"), "output", ""},
	{"answer for another event", sh(`echo '{"id":"01JANOTHER","action":"observe"}'`), "reply", ""},
	{"no for another event", sh(`echo '{"id":"01JANOTHER","action":"block","reason":"said no"}'`), "block", ""},
	{"answer of another event's kind", sh(`echo '{"action":"modify","response":{"message":{"role":"assistant","content":"x"}}}'`), "reply", "response"},
	{"unknown action", sh(`echo '{"action":"blokc"}'`), "reply", "blokc"},
	{"action null", sh(`echo '{"action":null}'`), "reply", "null"},
	{"action a number", sh(`echo '{"action":7}'`), "reply", "7"},
	{"wrong type of a field", sh(`echo '{"action":"observe","context":7}'`), "reply", ""},
	{"patch of a missing path", sh(`echo '{"action":"modify","patch":[{"op":"replace","path":"/args/none","value":1}]}'`), "reply", ""},
	{"patch of a protected field", sh(`echo '{"action":"modify","patch":[{"op":"replace","path":"/name","value":"x"}]}'`), "reply", "name"},
	{"change that is no change", sh(`echo '{"action":"modify"}'`), "reply", ""},
	{"stdout flood", faultyHook("flood-stdout"), "output", ""},
	{"stderr flood, then no", sh(`head -c 5000000 /dev/zero | tr '\0' x >&2; ` + sayNo), "block", ""},
	{"a character at a time", faultyHook("drips"), "block", ""},
	{"a long answer of three-byte characters", faultyHook("long-answer"), "block", ""},
	{"disk full", sh(`echo x >/dev/full || exit 1`), "exit", "1"},

	// Reading.
	{"does not read", sh(sayNo), "block", ""},
	{"reads all", sh(`x=$(cat); ` + sayNo), "block", ""},
	{"closes stdin", faultyHook("closes-stdin"), "block", ""},
	{"reads half", faultyHook("reads-half"), "block", ""},

	// Meddling.
	{"rewrites itself while it runs", sh(`printf '#!/bin/sh\nexit 1\n' >"$HOOK_FILE.new"; mv "$HOOK_FILE.new" "$HOOK_FILE"; ` + sayNo), "block", ""},
	{"starts the agent again", sh(`o=$(HOOKD fire tool-call-start --json --data '{"toolCallId":"c","name":"bash","kind":"shell","args":{}}'); case $o in *depth*block*|*block*depth*) ` + sayNo + ` ;; esac`), "block", ""},
	{"deletes the project", sh(`rm -rf "$HOOK_PROJECT_DIR"; ` + sayNo), "block", ""},
}

const sayNo = `echo '` + okBlock + `'`

// hookFile is one hook of the fault kit. HEADER in a body is its comment header.
type hookFile struct {
	body   string
	mode   os.FileMode // 0: executable
	side   bool        // the rules stand in a side file
	entry  string      // the rules stand in a settings entry
	folder bool
	absent bool
	limit  time.Duration // 0: limit
	spoil  func(t *testing.T, path string)
	run    string // the mode, "" for once
}

// keepOpen holds the file open for writing, as an editor or a copy does.
func keepOpen(t *testing.T, path string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
}

func giveAway(t *testing.T, path string) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give a file to another user; CI runs this as root")
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
}

func openFolder(t *testing.T, path string) {
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
}

// patient gives a hook time to do its damage on a busy machine, where it is not
// its time that is to run out.
func patient(h hookFile) hookFile {
	h.limit = 20 * time.Second
	return h
}

// sh is a hook of one line of shell.
func sh(line string) hookFile { return hookFile{body: "#!/bin/sh\nHEADER\n" + line + "\n"} }

// faultyHook is a hook that becomes the fault kit's own program.
func faultyHook(kind string) hookFile {
	return hookFile{body: "#!/bin/sh\nHEADER\nexec FAULTY " + kind + "\n"}
}

func (h hookFile) within() time.Duration { return cmp.Or(h.limit, limit) }

// limit is the time limit of the hooks whose limit is to be reached.
const limit = 1500 * time.Millisecond

// slack is what an answer may be late by: what the design allows, and the start
// of hookd itself on a busy machine.
const slack = 250 * time.Millisecond

func TestFaultKit(t *testing.T) {
	for _, fault := range faultKit {
		if fault.want != "timeout" && !strings.Contains(fault.hook.body, "sleep") {
			fault.hook = patient(fault.hook)
		}
		for _, rule := range []string{"continue", "block"} {
			t.Run(strings.ReplaceAll(fault.name, " ", "-")+"/"+rule, func(t *testing.T) {
				t.Parallel()
				box := newBox(t)
				box.install(t, "fault.sh", fault.hook, rule)
				began := time.Now()
				o, exit := box.fire(t)
				took := time.Since(began)
				checkFault(t, o, exit, fault.want, rule, fault.detail)
				if run := o.run("fault.sh"); run != nil && run.TookMs > ms(fault.hook.within()+slack) {
					t.Errorf("the hook was waited for %v ms, its limit is %v", run.TookMs, fault.hook.within())
				}
				if took > fault.hook.within()+5*time.Second {
					t.Errorf("hookd took %v in all", took)
				}
				if left := aliveAfter(box.folder, 2*time.Second); len(left) > 0 {
					t.Errorf("still alive: %s", strings.Join(left, "; "))
				}
			})
		}
	}
}

func checkFault(t *testing.T, o outcome, exit int, want, rule, detail string) {
	t.Helper()
	run := o.run("fault.sh")
	if run == nil {
		t.Fatalf("no run of the hook in %+v", o)
	}
	failure := ""
	if run.Failure != nil {
		failure = *run.Failure
	}
	answered := want == "block" || want == "observe" || want == "modify"
	switch {
	case answered && failure != "":
		t.Errorf("failure %s (%s), want %s", failure, run.Detail, want)
	case !answered && failure != want:
		t.Errorf("failure %q action %q (%s), want failure %s", failure, run.Action, run.Detail, want)
	case !answered && !strings.Contains(run.Detail+run.Remedy, detail):
		t.Errorf("detail %q, remedy %q, want it to name %q", run.Detail, run.Remedy, detail)
	case answered && run.Action != want:
		t.Errorf("action %q, want %q", run.Action, want)
	}
	refused := want == "block" || (!answered && rule == "block")
	if got := o.Action == "block"; got != refused {
		t.Errorf("outcome %s (%s), want refused %v", o.Action, o.Reason, refused)
	}
	if refused && o.Reason == "" {
		t.Error("refused without a reason")
	}
	if !answered && refused {
		if model := fmt.Sprintf("blocked: the check fault.sh could not be made (%s)", want); o.Reason != model {
			t.Errorf("the model reads %q, want %q", o.Reason, model)
		}
	}
	wantExit := 0
	if refused {
		wantExit = 2
	}
	if exit != wantExit {
		t.Errorf("exit code %d, want %d", exit, wantExit)
	}
}

// A box is a machine of its own: home, state folder and project.
type box struct {
	folder, home, project string
	path                  string // put before PATH, "" for nothing
}

func newBox(t *testing.T) *box {
	t.Helper()
	folder, err := os.MkdirTemp("", "hb-") // short: the path of a socket in it may have 103 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	b := &box{folder: folder, home: filepath.Join(folder, "home"), project: filepath.Join(folder, "proj")}
	for _, f := range []string{filepath.Join(b.home, ".acai", "hooks"), filepath.Join(b.project, ".acai"), filepath.Join(folder, "state")} {
		if err := os.MkdirAll(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// install puts a hook into the user layer, which needs no trust.
func (b *box) install(t *testing.T, name string, h hookFile, rule string) {
	t.Helper()
	path := filepath.Join(b.home, ".acai", "hooks", name)
	can, mode := "block", cmp.Or(h.run, "once")
	if strings.Contains(h.body, `"modify"`) {
		can = "modify" // a blocker's change would fail for another reason
	}
	header := fmt.Sprintf("# hook: events=tool-call-start,notification can=%s onFailure=%s timeout=%s run=%s", can, rule, h.within(), mode)
	body := strings.NewReplacer("HEADER", header, "FAULTY", faultyPath(t), "HOOKD", binary).Replace(h.body)
	permissions := h.mode
	if permissions == 0 {
		permissions = 0o755
	}
	var err error
	switch {
	case h.folder:
		err = os.Mkdir(path, 0o755)
	case !h.absent:
		err = os.WriteFile(path, []byte(body), 0o600)
		err = errors.Join(err, os.Chmod(path, permissions))
	}
	if h.entry != "" {
		fields := fmt.Sprintf(`"events":["tool-call-start","notification"],"can":"block","onFailure":%q,"timeout":%q,"run":%q`, rule, h.within(), mode)
		entry := strings.NewReplacer("HOOK", name, `"ENTRY":0`, fields).Replace(h.entry)
		err = errors.Join(err, os.WriteFile(filepath.Join(b.home, ".acai", "acai.json"), []byte(`{"hooks":{"use":[`+entry+`]}}`), 0o644))
	}
	if h.side {
		side := fmt.Sprintf(`{"events":["tool-call-start","notification"],"can":"block","onFailure":%q,"timeout":%q,"run":%q}`, rule, h.within(), mode)
		err = errors.Join(err, os.WriteFile(path+".hook.json", []byte(side), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.spoil != nil {
		h.spoil(t, path)
	}
}

func faultyPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("faulty")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command is hookd in the box, with nothing of this test's environment but what
// it needs.
func (b *box) command(args ...string) *exec.Cmd {
	c := exec.Command(binary, args...)
	c.Dir = b.project
	c.Env = []string{
		"PATH=" + strings.TrimPrefix(b.path+":"+os.Getenv("PATH"), ":"), "HOME=" + b.home, "LANG=C.UTF-8",
		"XDG_STATE_HOME=" + filepath.Join(b.folder, "state"), "TMPDIR=" + b.folder,
	}
	return c
}

// fire fires one shell call and returns the outcome and the exit code.
func (b *box) fire(t *testing.T) (outcome, int) {
	t.Helper()
	return b.fireEvent(t, "tool-call-start", call("bash", "shell", map[string]any{"command": "ls"}))
}

// fireEvent fires an event and returns the outcome and the exit code.
func (b *box) fireEvent(t *testing.T, event, data string) (outcome, int) {
	t.Helper()
	c := b.command("fire", event, "--json", "--data", "-")
	c.Stdin = strings.NewReader(data)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	var o outcome
	if err := json.Unmarshal(stdout.Bytes(), &o); err != nil {
		t.Fatalf("%v\nstdout: %s\nstderr: %s", err, stdout.Bytes(), stderr.Bytes())
	}
	return o, c.ProcessState.ExitCode()
}

// outcome is what a program reads of `fire --json`.
type outcome struct {
	Action  string          `json:"action"`
	By      *string         `json:"by"`
	Reason  string          `json:"reason"`
	Event   json.RawMessage `json:"event"`
	Notices []struct{ Hook, Text string }
	Context []struct{ Hook, Text string }
	Runs    []run `json:"runs"`
}

type run struct {
	Hook     string   `json:"hook"`
	Action   string   `json:"action"`
	Would    string   `json:"would"`
	Reason   string   `json:"reason"`
	Failure  *string  `json:"failure"`
	Detail   string   `json:"detail"`
	Remedy   string   `json:"remedy"`
	Rule     string   `json:"rule"`
	Exit     *int     `json:"exit"`
	ByExit   bool     `json:"byExit"`
	TookMs   float64  `json:"tookMs"`
	Changed  []string `json:"changed"`
	Stderr   string   `json:"stderr"`
	Warnings []string `json:"warnings"`
	Skipped  *string  `json:"skipped"`
}

func (o outcome) run(hook string) *run {
	for i := range o.Runs {
		if o.Runs[i].Hook == hook {
			return &o.Runs[i]
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
