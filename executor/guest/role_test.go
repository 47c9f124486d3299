package guest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// refusing returns a hook of a layer that refuses every tool call.
func refusing(name string, layer protocol.Layer) *executor.Hook {
	h := executor.HookOf(protocol.GoHook{
		Name: name, Layer: layer, Events: []protocol.EventName{protocol.ToolCallStart}, Can: protocol.CanBlock,
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: protocol.Block, Reason: "no by " + name}, nil
		},
	})
	return h
}

func event(host, command string) protocol.Event {
	return protocol.Event{
		Protocol: protocol.Version, Event: protocol.ToolCallStart, ID: protocol.NewID(), Time: time.Now(), Cwd: "/p", Project: "/p",
		Agent: protocol.Agent{ID: "main", Host: host}, Session: protocol.Session{ID: "session of " + host},
		Data: protocol.RawMessage(`{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":"` + command + `"},"host":{"hook_event_name":"PreToolUse"}}`),
	}
}

// mutable is a source whose set a test changes.
type mutable struct{ set *executor.Set }

func (m *mutable) Current() *executor.Set { return m.set }

func setOf(t *testing.T, change func(*executor.Set), hooks ...*executor.Hook) *executor.Set {
	t.Helper()
	s := executor.Set{Generation: 1, Project: "/p", Settings: schema.DefaultSettings(), Hooks: hooks}
	if change != nil {
		change(&s)
	}
	set, errs := executor.NewSet(s)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return set
}

func fire(t *testing.T, r *Role, e *executor.Executor, ev protocol.Event) protocol.Outcome {
	t.Helper()
	outcome, err := r.For(e.Gate(), &ev).Fire(t.Context(), ev)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func by(o protocol.Outcome) string {
	if o.By == nil {
		return ""
	}
	return *o.By
}

func TestSelfProtectionIsForOtherAgentsOnly(t *testing.T) {
	source := &mutable{setOf(t, nil)}
	e := executor.New(source, executor.Options{})
	defer e.Close(context.Background())
	r := New(source, Options{Home: "/home/u"})
	const line = "rm .claude/settings.json"
	if o := fire(t, r, e, event("claude", line)); o.Action != protocol.Block || by(o) != "self-protection" {
		t.Errorf("%+v", o)
	}
	for _, host := range []string{"", "hookd", "some other host"} {
		if o := fire(t, r, e, event(host, line)); o.Action != protocol.Observe {
			t.Errorf("host %q: %+v", host, o)
		}
	}
	source.set = setOf(t, func(s *executor.Set) { s.Settings.Hooks.SelfProtection = schema.Off })
	if o := fire(t, r, e, event("claude", line)); o.Action != protocol.Observe {
		t.Errorf("switched off: %+v", o)
	}
}

// What is undecided is a question where the agent can put one to the person.
func TestUndecidedIsAskedWhereTheAgentCanAsk(t *testing.T) {
	source := &mutable{setOf(t, nil)}
	e := executor.New(source, executor.Options{})
	defer e.Close(context.Background())
	r := New(source, Options{})
	if o := fire(t, r, e, event("claude", "rm .claude/$X")); o.Action != protocol.Ask {
		t.Errorf("claude: %+v", o)
	}
	// Of an event of its own at which it cannot ask, the guard says it.
	ev := event("claude", "rm .claude/$X")
	ev.Data = protocol.RawMessage(strings.Replace(string(ev.Data), "PreToolUse", "PreSkillShellCommand", 1))
	if o := fire(t, r, e, ev); o.Action != protocol.Observe || len(o.Notices) != 1 {
		t.Errorf("claude, PreSkillShellCommand: %+v", o)
	}
	o := fire(t, r, e, event("codex", "rm .claude/$X"))
	if o.Action != protocol.Observe || len(o.Notices) != 1 || !strings.Contains(o.Notices[0].Text, ".claude") {
		t.Errorf("codex: %+v", o)
	}
}

func TestMonitorReachesWhatAPersonMayLoosen(t *testing.T) {
	state := t.TempDir()
	required := refusing("required", protocol.User)
	required.Required = true
	untrusted := refusing("untrusted", protocol.Project)
	untrusted.Asker, untrusted.Status = nil, executor.Untrusted
	untrusted.Fault = &protocol.Failure{Kind: protocol.FailUntrusted, Detail: "nobody allowed it"}
	gone := refusing("gone", protocol.Project)
	gone.Asker, gone.Fault = nil, &protocol.Failure{Kind: protocol.FailGone, Detail: "it is gone"}
	for name, c := range map[string]struct {
		hook   *executor.Hook
		change func(*executor.Set)
		line   string
		want   protocol.Action
	}{
		"user":            {refusing("u", protocol.User), nil, "ls", protocol.Observe},
		"project":         {refusing("p", protocol.Project), nil, "ls", protocol.Observe},
		"gone":            {gone, nil, "ls", protocol.Observe},
		"managed":         {refusing("m", protocol.Managed), nil, "ls", protocol.Block},
		"required":        {required, nil, "ls", protocol.Block},
		"untrusted":       {untrusted, nil, "ls", protocol.Block},
		"self-protection": {refusing("u", protocol.User), nil, "rm .claude/settings.json", protocol.Block},
		"settings": {refusing("u", protocol.User), func(s *executor.Set) {
			s.Refuse = &protocol.Failure{Kind: protocol.FailSettings, Detail: "unreadable"}
		}, "ls", protocol.Block},
	} {
		source := &mutable{setOf(t, c.change, c.hook)}
		e := executor.New(source, executor.Options{})
		r := New(source, Options{StateDir: state})
		now := time.Now()
		if o := fire(t, r, e, event("claude", c.line)); o.Action != protocol.Block {
			t.Errorf("%s: not monitored: %+v", name, o)
		}
		// The same session obeys a monitor that begins, and one that ends.
		if err := StartMonitor(state, "claude", now, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if o := fire(t, r, e, event("claude", c.line)); o.Action != c.want {
			t.Errorf("%s: monitored: %+v", name, o)
		}
		if o := fire(t, r, e, event("codex", c.line)); o.Action != protocol.Block {
			t.Errorf("%s: another agent: %+v", name, o)
		}
		if err := StopMonitor(state, "claude"); err != nil {
			t.Fatal(err)
		}
		if o := fire(t, r, e, event("claude", c.line)); o.Action != protocol.Block {
			t.Errorf("%s: monitored no more: %+v", name, o)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// The person is told at the start of a session.
func TestSessionStartTellsOfMonitorAndInstall(t *testing.T) {
	state := t.TempDir()
	source := &mutable{setOf(t, nil)}
	e := executor.New(source, executor.Options{})
	defer e.Close(context.Background())
	r := New(source, Options{StateDir: state, Broken: func(_ context.Context, agent, _ string) string {
		if agent == "claude" {
			return "hookd is not asked: disableAllHooks"
		}
		return ""
	}})
	now := time.Now()
	if err := StartMonitor(state, "claude", now, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	start := func(host string) string {
		ev := event(host, "")
		ev.Event, ev.Data = protocol.SessionStart, protocol.RawMessage(`{"source":"startup","tools":[]}`)
		var all []string
		for _, n := range fire(t, r, e, ev).Notices {
			all = append(all, n.Text)
		}
		return strings.Join(all, "\n")
	}
	if text := start("claude"); !strings.Contains(text, "only watch for Claude Code until") || !strings.Contains(text, "disableAllHooks") {
		t.Errorf("%q", text)
	}
	if text := start("codex"); text != "" {
		t.Errorf("%q", text)
	}
}

// A monitor counts only if it is the person's: in their state, theirs to write, and not
// over.
func TestMonitorsThatDoNotCount(t *testing.T) {
	now := time.Now()
	state := t.TempDir()
	path := filepath.Join(state, "monitor.json")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	good := `{"v":1,"monitors":[{"agent":"claude","since":"` + now.UTC().Format(time.RFC3339) + `","until":"` + now.Add(time.Hour).UTC().Format(time.RFC3339) + `"}]}`
	write(good, 0o600)
	if !MonitorOf(state, "claude", now).On() || MonitorOf(state, "codex", now).On() || MonitorOf(state, "claude", now.Add(2*time.Hour)).On() {
		t.Error("a good monitor")
	}
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"torn":              {good[:40], 0o600},
		"another version":   {strings.Replace(good, `"v":1`, `"v":2`, 1), 0o600},
		"writable by group": {good, 0o660},
		"no end":            {`{"v":1,"monitors":[{"agent":"claude"}]}`, 0o600},
		"for ever":          {`{"v":1,"monitors":[{"agent":"claude","since":"` + now.UTC().Format(time.RFC3339) + `","until":"2999-01-01T00:00:00Z"}]}`, 0o600},
		"begins tomorrow":   {`{"v":1,"monitors":[{"agent":"claude","since":"` + now.Add(24*time.Hour).UTC().Format(time.RFC3339) + `","until":"` + now.Add(48*time.Hour).UTC().Format(time.RFC3339) + `"}]}`, 0o600},
		"empty":             {"", 0o600},
		"too large":         {good + strings.Repeat(" ", mostState), 0o600},
	} {
		write(c.text, c.mode)
		if MonitorOf(state, "claude", now).On() {
			t.Errorf("%s: counts", name)
		}
	}
	// What a project brings along is no word of the person's.
	write(good, 0o600)
	source := &mutable{setOf(t, func(s *executor.Set) { s.Project = filepath.Dir(state) }, refusing("u", protocol.User))}
	e := executor.New(source, executor.Options{})
	defer e.Close(context.Background())
	if o := fire(t, New(source, Options{StateDir: state}), e, event("claude", "ls")); o.Action != protocol.Block {
		t.Errorf("state in the project: %+v", o)
	}

	// Neither is what lies in a clone without a project: its settings can name it to hooks as
	// the state folder.
	clone := filepath.Join(t.TempDir(), "clone")
	for name, c := range map[string]struct {
		mark, cwd, home string
		counts          bool
	}{
		"below the working directory": {"", "clone", "home", false},
		"in a checkout":               {".git", "elsewhere", "home", false},
		"in a project":                {".acai", "elsewhere", "home", false},
		"elsewhere":                   {"", "elsewhere", "home", true},
		"in the home that is the working directory": {"", "clone", "clone", true},
		"in a home that is a checkout":              {".git", "clone/sub", "clone", true},
		"in a home with hooks":                      {".acai", "elsewhere", "clone", true},
	} {
		base := filepath.Join(clone, name)
		place := func(at string) string { return filepath.Join(base, at) }
		inClone := filepath.Join(place("clone"), "x", "hookd")
		for _, dir := range []string{inClone, place("elsewhere"), place("home"), place("clone/sub"), filepath.Join(place("clone"), c.mark)} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := StartMonitor(inClone, "claude", now, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		source := &mutable{setOf(t, func(*executor.Set) {}, refusing("u", protocol.User))}
		e := executor.New(source, executor.Options{})
		ev := event("claude", "ls")
		ev.Cwd = place(c.cwd)
		o := fire(t, New(source, Options{StateDir: inClone, Home: place(c.home)}), e, ev)
		if watched := o.Action != protocol.Block; watched != c.counts {
			t.Errorf("%s: %+v", name, o)
		}
		e.Close(context.Background())
	}
}

// A monitor that another user wrote does not count, and neither does one in another user's
// folder.
func TestMonitorOfAnotherUserDoesNotCount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give a file to another user; CI runs this as root")
	}
	now := time.Now()
	for _, of := range []string{"monitor.json", "."} {
		state := t.TempDir()
		if err := StartMonitor(state, "claude", now, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if !MonitorOf(state, "claude", now).On() {
			t.Fatal("it does not count at all")
		}
		if err := os.Chown(filepath.Join(state, of), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if MonitorOf(state, "claude", now).On() {
			t.Errorf("%s of another user counts", of)
		}
	}
}

func TestStartMonitorRefusesOddEnds(t *testing.T) {
	state, now := t.TempDir(), time.Now()
	for _, until := range []time.Time{now, now.Add(-time.Hour), now.Add(LongestMonitor + time.Hour)} {
		if err := StartMonitor(state, "claude", now, until); err == nil {
			t.Errorf("%v", until)
		}
	}
	if err := StartMonitor(state, "claude", now, now.Add(DefaultMonitor)); err != nil {
		t.Fatal(err)
	}
	if err := StartMonitor(state, "codex", now, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	list, err := Monitors(state, now)
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	for _, agent := range []string{"claude", "codex", "codex"} {
		if err := StopMonitor(state, agent); err != nil {
			t.Error(err)
		}
	}
	if entries, _ := os.ReadDir(state); len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
}

// A marker takes one mark, and nothing that is no marker is written.
func TestMarkerTakesOneMark(t *testing.T) {
	state := t.TempDir()
	m, err := NewMarker(state)
	if err != nil {
		t.Fatal(err)
	}
	if mark, seen := m.Seen(); seen {
		t.Errorf("seen before: %+v", mark)
	}
	first := Mark{"claude", "SessionStart", "/usr/bin/hookd", true}
	environ := []string{"A=b", MarkerVar + "=" + m.Token}
	taken, second := TakeMarker(state, environ), TakeMarker(state, environ)
	if taken.Token() != m.Token || second != nil || second.Token() != "" {
		t.Errorf("taken %q, and by a second call %q", taken.Token(), second.Token())
	}
	if mark, seen := m.Seen(); seen {
		t.Errorf("seen before the call was answered: %+v", mark)
	}
	for _, err := range []error{taken.Leave(first), second.Leave(Mark{Agent: "codex", Event: "Stop", Program: "/evil"})} {
		if err != nil {
			t.Error(err)
		}
	}
	if mark, seen := m.Seen(); !seen || mark != first {
		t.Errorf("%+v, %v", mark, seen)
	}
	outside := filepath.Join(state, "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"", "../outside", strings.Repeat("a", 32), strings.Repeat("/", 32), strings.ToUpper(m.Token)} {
		if other := TakeMarker(state, []string{MarkerVar + "=" + token}); other != nil {
			t.Errorf("%q was taken", token)
		}
	}
	if text, _ := os.ReadFile(outside); len(text) > 0 {
		t.Errorf("written: %s", text)
	}
	if err := m.Remove(); err != nil {
		t.Error(err)
	}
	if err := taken.Leave(first); err != nil { // too late: nobody waits any more
		t.Error(err)
	}
	if entries, _ := os.ReadDir(filepath.Join(state, "verify")); len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
}
