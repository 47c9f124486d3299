//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/discover"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

func TestAsking(t *testing.T) {
	tests := []struct {
		name, script string
		want         string // status
		events       string
		saw          string
	}{
		{"an object", `[ "$1" = hook ] && [ "$HOOK_ACTION" = describe ] && [ -z "$(cat)" ] && echo '{"events":["tool-call-start","agent-stop"],"can":"block","timeout":"2s"}'`, "ready", "tool-call-start agent-stop", ""},
		{"byte order mark", `printf '\357\273\277{"events":["agent-stop"]}\n'`, "ready", "agent-stop", ""},
		{"one word of kodelet's", `echo before_tool_call`, "ready", "tool-call-start", ""},
		{"one of acai's", `[ "$TOOL_ACTION" = describe ] && echo '{"name":"x","timing":"before","event":"step-start","parameters":[]}'`, "ready", "step-start", ""},
		{"an event that hookd has nothing like", `echo '{"name":"x","timing":"before","event":"tool-call-lifecycle"}'`, "rejected", "", "hookd has none like it"},
		{"another word", `echo hello`, "rejected", "", "neither an object"},
		{"nothing", `exit 0`, "rejected", "", "answered nothing"},
		{"a failure", `echo oops >&2; exit 3`, "rejected", "", "exit code 3: oops"},
		{"a signal", `kill -SEGV $$`, "rejected", "", "SIGSEGV"},
		{"half an object", `printf '{"events":["agent-'`, "rejected", "", "cannot be read"},
		{"two objects", `echo '{"events":["agent-stop"]}'; echo '{}'`, "rejected", "", "cannot be read"},
		{"too much", `head -c 100000 /dev/zero | tr '\0' x`, "rejected", "", "output over"},
		{"unknown field", `echo '{"events":["tool-call-start"],"can":"block","tymeout":"2s"}'`, "rejected!settings", "tool-call-start", "timeout"},
		{"a field only settings have", `echo '{"events":["tool-call-start"],"can":"block","enabled":true}'`, "rejected!settings", "tool-call-start", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.userHook("x", "#!/bin/sh\n"+test.script+"\n")
			begin := time.Now()
			s := w.load()
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("took %s", took)
			}
			if got := status(s, "x"); got != test.want {
				t.Errorf("status %q, want %q: %s", got, test.want, find(s, "x").Why)
			}
			var events []string
			for _, e := range find(s, "x").Events {
				events = append(events, string(e))
			}
			if got := strings.Join(events, " "); got != test.events {
				t.Errorf("events %q, want %q", got, test.events)
			}
			if test.want == "ready" && find(s, "x").DescribedBy != schema.FromProgram {
				t.Errorf("described by %q", find(s, "x").DescribedBy)
			}
			if !said(s, test.saw) {
				t.Errorf("nobody says %q: %v", test.saw, s.Findings)
			}
		})
	}
}

// A program is asked once per content, not once per load, and not at all if
// something else names its events.
func TestAskedOnce(t *testing.T) {
	w := newWorld(t)
	log := filepath.Join(t.TempDir(), "log")
	text := "#!/bin/sh\necho x >>" + log + "\necho '{\"events\":[\"agent-stop\"]}'\n"
	w.userHook("asked", text)
	w.userHook("told", "#!/bin/sh\n# hook: events=agent-stop\necho x >>"+log+"\n")
	w.userHook("wrong", "#!/bin/sh\n# hook: evnts=agent-stop\necho x >>"+log+"\n")
	count := func() int { raw, _ := os.ReadFile(log); return strings.Count(string(raw), "x") }
	for range 3 {
		if s := w.load(); status(s, "asked") != "ready" {
			t.Fatalf("asked: %s", status(s, "asked"))
		}
	}
	if n := count(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	w.userHook("asked", text+"# changed\n")
	w.load()
	if n := count(); n != 2 {
		t.Errorf("asked %d times after a change", n)
	}
}

// An answer is kept in the state folder, and one that a crash left torn is none.
func TestAnswersAreKept(t *testing.T) {
	w := newWorld(t)
	log := filepath.Join(t.TempDir(), "log")
	w.userHook("asked", "#!/bin/sh\necho x >>"+log+"\necho '{\"events\":[\"agent-stop\"]}'\n")
	w.load()
	kept := filepath.Join(w.state, "describe")
	tear := func(folder string, change func([]byte) []byte) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		text, err := os.ReadFile(files[0])
		if err == nil {
			err = os.WriteFile(files[0], change(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cut := func(text []byte) []byte { return text[:len(text)-3] }
	zeros := func(text []byte) []byte { return append(text[:len(text)/2], make([]byte, len(text)/2)...) }
	nothing := func([]byte) []byte { return nil }
	asked := 1
	for _, step := range []struct {
		name   string
		lose   func()
		asking int // again
	}{
		{"nothing is lost", func() {}, 0},
		{"it is lost", func() { os.RemoveAll(kept) }, 1},
		{"it is cut", func() { tear(kept, cut) }, 1},
		{"it ends in zeros", func() { tear(kept, zeros) }, 1},
		{"it is empty", func() { tear(kept, nothing) }, 1},
	} {
		step.lose()
		asked += step.asking
		s := w.load()
		raw, _ := os.ReadFile(log)
		if n := strings.Count(string(raw), "x"); n != asked || status(s, "asked") != "ready" {
			t.Errorf("%s: asked %d times, not %d, and it is %s", step.name, n, asked, status(s, "asked"))
		}
		asked = strings.Count(string(raw), "x")
	}
}

// Several are asked at once, and one that hangs holds up the load for its limit
// and no longer, and leaves nothing behind.
func TestAskingManyAtOnce(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.userHook(name, "#!/bin/sh\nsleep 0.3\necho '{\"events\":[\"agent-stop\"]}'\n")
	}
	begin := time.Now()
	s := w.load()
	if took := time.Since(begin); took > 1100*time.Millisecond {
		t.Errorf("one after the other: %s", took)
	}
	if got := names(s.Set); got != "a b c d" {
		t.Errorf("hooks %q", got)
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	w.userHook("hangs", "#!/bin/sh\ntrap '' TERM\nsleep 61 & echo $! >"+pidFile+"\nwait\nsleep 62\n")
	begin = time.Now()
	s = w.load()
	if took := time.Since(begin); took < discover.AskTimeout || took > discover.AskTimeout+time.Second {
		t.Errorf("took %s", took)
	}
	if got := names(s.Set); got != "a b c d" || !said(s, "no answer within 5s") {
		t.Errorf("hooks %q, findings %v", got, s.Findings)
	}
	raw, _ := os.ReadFile(pidFile)
	hooktest.Eventually(t, 2*time.Second, "its child ends", func() bool {
		return !hooktest.Alive(strings.TrimSpace(string(raw)))
	})
	begin = time.Now()
	w.load()
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it is asked again at once: %s", took)
	}
}

// An aborted load leaves nothing behind.
func TestAskingAborted(t *testing.T) {
	w := newWorld(t)
	w.userHook("hangs", "#!/bin/sh\nsleep 63\n")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := Load(ctx, w.options()); err == nil {
		t.Error("no error")
	}
	if took := time.Since(begin); took > 1500*time.Millisecond {
		t.Errorf("took %s", took)
	}
}

// A guard of the project that names no events guards everything until it can be
// asked, and what it said counts once it is changed.
func TestAskedGuardOfAProject(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "mark")
	w.hook("g", "#!/bin/sh\n# hook: can=block\n[ \"$1\" = hook ] && { echo >"+mark+"; echo '{\"events\":[\"tool-call-start\"]}'; exit 0; }\necho '{\"action\":\"block\",\"reason\":\"no\"}'\n")
	if outcome := w.fire(w.load().Set); outcome.Failure != protocol.FailUntrusted || exists(mark) {
		t.Fatalf("failure %q, ran %v", outcome.Failure, exists(mark))
	}
	w.allow()
	s := w.load()
	if outcome := w.fire(s.Set); outcome.Reason != "no" || !exists(mark) {
		t.Errorf("reason %q, asked %v", outcome.Reason, exists(mark))
	}
	w.hook("g", "#!/bin/sh\n")
	s = w.load()
	if outcome := w.fire(s.Set); outcome.Failure != protocol.FailUntrusted {
		t.Errorf("changed: %s %s", outcome.Action, outcome.Failure)
	}
	if n := len(find(s, "g").Events); n != 1 {
		t.Errorf("it fails at %d events", n)
	}
	// With the answer forgotten it fails everywhere.
	os.RemoveAll(filepath.Join(w.state, "describe"))
	s = w.load()
	if n := len(find(s, "g").Events); n != len(candidate.Everywhere()) || status(s, "g") != "changed!untrusted" {
		t.Errorf("forgotten: %s at %d events", status(s, "g"), n)
	}
}

// TestManagedAnswersAreAskedFor: what lies in the state folder is in the hands of
// the user whom the managed layer binds, so an answer of a managed hook counts only
// from the hook itself. Nor does the same program speak for it as a hook of the
// user's.
func TestManagedAnswersAreAskedFor(t *testing.T) {
	const guard = `#!/bin/sh
case $HOOK_ACTION in describe) echo '{"events":["tool-call-start"],"can":"block"}' ;; *) echo '{"action":"block","reason":"policy"}' ;; esac
`
	w := newWorld(t)
	w.write(filepath.Join(w.managed, "hooks", "m"), guard, 0o755)
	w.userHook("m", guard)
	eventsOf := func() string {
		t.Helper()
		for _, h := range w.load().Set.Hooks {
			if h.Layer == protocol.Managed && h.Name == "m" {
				return strings.TrimSpace(string(h.Status)) + " at " + string(h.Events[0])
			}
		}
		return "none"
	}
	const want = "ready at tool-call-start"
	if got := eventsOf(); got != want {
		t.Fatal(got)
	}
	files, err := filepath.Glob(filepath.Join(w.state, "describe", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v: not even the user's hook was kept", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		forged := strings.Replace(string(text), "tool-call-start", "agent-stop", 1)
		if err := os.WriteFile(file, []byte(forged), 0o600); err != nil || forged == string(text) {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if got := eventsOf(); got != want {
		t.Errorf("behind a forged answer: %s", got)
	}
}
