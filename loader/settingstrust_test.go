//go:build unix

package loader

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
)

// stateOf is whether the project's settings count, as the snapshot says.
func stateOfSettings(s *Snapshot) candidate.SettingsState {
	for _, info := range s.Settings {
		if info.Layer == protocol.Project {
			return info.State
		}
	}
	return ""
}

func TestStatesOfSettings(t *testing.T) {
	w := newWorld(t)
	check := func(want candidate.SettingsState, steps int, plan trust.State) {
		t.Helper()
		s := w.load()
		if got := stateOfSettings(s); got != want {
			t.Errorf("state %q, want %q", got, want)
		}
		if got := s.Set.Settings.Agent.Limits.Steps; got != steps {
			t.Errorf("steps %d, want %d", got, steps)
		}
		if got := planItem(w.plan(), candidate.SettingsRecord).State; got != plan {
			t.Errorf("hookd trust shows %q, want %q", got, plan)
		}
	}
	const five, six = `{"agent":{"limits":{"steps":5}}}`, `{"agent":{"limits":{"steps":6}}}`
	check("", 20, "")
	w.settings(`{"$schema":"./acai.schema.json","hooks":{"use":[]}}`)
	check(candidate.SettingsInForce, 20, "") // as hookd init writes them: there is nothing to allow
	w.settings(five)
	check(candidate.SettingsUntrusted, 20, trust.StateNew)
	w.allow()
	check(candidate.SettingsInForce, 5, trust.StateTrusted)
	w.settings(six)
	check(candidate.SettingsChanged, 5, trust.StateChanged)
	w.settings(`{`)
	check(candidate.SettingsChanged, 5, trust.StateChanged)
	w.remove(w.path(".acai", "acai.json"))
	check(candidate.SettingsGone, 5, trust.StateGone)
	w.settings(six)
	w.allow()
	check(candidate.SettingsInForce, 6, trust.StateTrusted)
	w.settings(five) // back to what was allowed before
	check(candidate.SettingsChanged, 6, trust.StateChanged)
	if at := planItem(w.plan(), candidate.SettingsRecord).AllowedBefore; at == nil || time.Since(*at) > time.Minute {
		t.Errorf("allowed before: %v", at)
	}
	if err := w.trust().Deny(context.Background(), candidate.SettingsRecord); err != nil {
		t.Fatal(err)
	}
	check(candidate.SettingsDenied, 20, trust.StateDenied)
	w.allow()
	check(candidate.SettingsInForce, 5, trust.StateTrusted)
	w.remove(w.path(".acai", "acai.json"))
	w.allow() // accepts that they are gone
	check("", 20, "")
}

// Settings that nobody allowed and that may hold guards refuse what these guard,
// and nothing else.
func TestWaitingSettingsRefuse(t *testing.T) {
	tests := []struct{ name, settings, shell, read string }{
		{"nothing that guards", `{"agent":{"limits":{"steps":5}},"hooks":{"timeout":"1s"}}`, "observe", "observe"},
		{"a command that observes", `{"hooks":{"use":[{"name":"x","command":["true"],"can":"observe","events":["tool-call-start"]}]}}`, "observe", "observe"},
		{"a command that guards", `{"hooks":{"use":[{"name":"x","command":["true"],"can":"block","match":{"tool":"bash"},"events":["tool-call-start"]}]}}`, "block", "observe"},
		{"denied commands", `{"agent":{"tools":{"bash":{"deny":["rm"]}}}}`, "block", "observe"},
		{"a list of tools that is none", `{"agent":{"tools":[{"bash":{"deny":["rm"]}}]}}`, "block", "observe"},
		{"a group of nothing", `{"agent":{"tools":{"bash":null}}}`, "block", "observe"},
		{"a group that is there twice", `{"agent":{"tools":{"bash":{"deny":["rm"]},"bash":{}}}}`, "block", "block"},
		{"no agent", `{"agent":[]}`, "block", "observe"},
		{"a required name", `{"hooks":{"required":["x.sh"]}}`, "block", "block"},
		{"a file made a guard", `{"hooks":{"use":[{"name":"new.sh","can":"block","match":{"tool":"bash"},"events":["tool-call-start"]}]}}`, "block", "observe"},
		{"an allowed observer made a guard", `{"hooks":{"use":[{"name":"old.sh","can":"block","events":["tool-call-start"]}]}}`, "block", "block"},
		{"a rule for all", `{"hooks":{"onFailure":"block"}}`, "block", "observe"},
		{"a faulty entry", `{"hooks":{"use":[{"name":"x","can":"blok","events":["tool-call-start"]}]}}`, "block", "block"},
		{"cannot be read", `{"hooks":`, "block", "block"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.hook("old.sh", "#!/bin/sh\n# hook: events=tool-call-start can=observe\n")
			w.allow()
			w.hook("new.sh", "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash\n")
			w.settings(test.settings)
			s := w.load()
			fire := func(data string) string { return string(w.fireEvent(s.Set, protocol.ToolCallStart, data).Action) }
			if got := fire(`{"toolCallId":"c","name":"bash","kind":"shell","args":{},"parallel":1}`); got != test.shell {
				t.Errorf("bash: %s, want %s", got, test.shell)
			}
			if got := fire(`{"toolCallId":"c","name":"read_file","kind":"read","args":{},"parallel":1}`); got != test.read {
				t.Errorf("read_file: %s, want %s", got, test.read)
			}
		})
	}
}

// What waiting settings require is switched off no more than what others require.
func TestWaitingRequiredIsNotSwitchedOff(t *testing.T) {
	w := newWorld(t)
	w.settings(`{"hooks":{"required":["x.sh"]}}`)
	if err := w.trust().Disable(context.Background(), "acai.json", nil); err == nil {
		t.Error("it is switched off")
	}
	opts := w.options()
	opts.Without = []string{"acai.json"}
	s, err := Load(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.fire(s.Set); got.Action != protocol.Block {
		t.Errorf("it is left out: %s", got.Action)
	}
}

// A hook is allowed together with the settings that make it what it is.
func TestTrustOfOneHookSettlesTheSettings(t *testing.T) {
	w := newWorld(t)
	w.hook("a.sh", blocks)
	w.settings(`{"hooks":{"use":[{"name":"a.sh","priority":7}]}}`)
	w.allow(w.plan().WithSettings([]string{"a.sh"})...)
	s := w.load()
	if got := status(s, "a.sh"); got != "ready" || find(s, "a.sh").Priority != 7 || stateOfSettings(s) != candidate.SettingsInForce {
		t.Errorf("%s, priority %d, settings %s", got, find(s, "a.sh").Priority, stateOfSettings(s))
	}
}

// Nothing is allowed, or forgotten, that was not named: settings that somebody denied
// or that vanished least of all.
func TestNothingIsSettledUnnamed(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(w *world)
		named  []string // what a person who names the hook is shown
		state  candidate.SettingsState
	}{
		{"new", func(w *world) { w.settings(`{"agent":{"limits":{"steps":5}}}`) }, []string{"a.sh", candidate.SettingsRecord}, candidate.SettingsUntrusted},
		{"changed", func(w *world) {
			w.settings(`{"agent":{"limits":{"steps":5}}}`)
			w.allow()
			w.settings(`{"agent":{"limits":{"steps":6}}}`)
		}, []string{"a.sh", candidate.SettingsRecord}, candidate.SettingsChanged},
		{"gone", func(w *world) {
			w.settings(`{"agent":{"limits":{"steps":5}}}`)
			w.allow()
			w.remove(w.path(".acai", "acai.json"))
		}, []string{"a.sh", candidate.SettingsRecord}, candidate.SettingsGone},
		{"denied", func(w *world) {
			w.settings(`{"agent":{"limits":{"steps":5}}}`)
			if err := w.trust().Deny(context.Background(), candidate.SettingsRecord); err != nil {
				w.t.Fatal(err)
			}
		}, []string{"a.sh"}, candidate.SettingsDenied},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.hook("a.sh", blocks)
			test.before(w)
			if got := w.plan().WithSettings([]string{"a.sh"}); !slices.Equal(got, test.named) {
				t.Errorf("named %q", got)
			}
			w.allow("a.sh")
			if s := w.load(); stateOfSettings(s) != test.state || status(s, "a.sh") != "ready" {
				t.Errorf("settings %s, the hook %s", stateOfSettings(s), status(s, "a.sh"))
			}
		})
	}
}

// One hash stands for the hooks and the settings of a project.
func TestExpectCoversSettings(t *testing.T) {
	w := newWorld(t)
	w.hook("a.sh", blocks)
	w.settings(`{"agent":{"limits":{"steps":5}}}`)
	hash := w.plan().Hash
	w.settings(`{"agent":{"limits":{"steps":6}}}`)
	if w.plan().Hash == hash {
		t.Error("the hash does not cover the settings")
	}
	if err := w.trust().Expect(context.Background(), hash); err == nil {
		t.Error("other settings were expected")
	}
	w.settings(`{"agent":{"limits":{"steps":5}}}`)
	w.userSettings(`{"hooks":{"trust":{"hashes":["` + hash + `"]}}}`)
	s := w.load()
	if s.Set.Settings.Agent.Limits.Steps != 5 || status(s, "a.sh") != "ready" {
		t.Errorf("a listed project does not count: steps %d, %s", s.Set.Settings.Agent.Limits.Steps, status(s, "a.sh"))
	}
	w.settings(`{"agent":{"limits":{"steps":6}}}`)
	if s := w.load(); s.Set.Settings.Agent.Limits.Steps != 20 || status(s, "a.sh") == "ready" {
		t.Errorf("another project counts: steps %d, %s", s.Set.Settings.Agent.Limits.Steps, status(s, "a.sh"))
	}
}

// A template that a person had written is allowed as it is, and nothing with it.
func TestAllowWritten(t *testing.T) {
	w := newWorld(t)
	w.hook("old.sh", blocks)
	w.hook("new.sh", blocks)
	if err := w.trust().AllowWritten(context.Background(), "new.sh", blocks+"# not what was written"); err == nil {
		t.Error("a file that was swapped is allowed")
	}
	if err := w.trust().AllowWritten(context.Background(), "new.sh", blocks); err != nil {
		t.Fatal(err)
	}
	if s := w.load(); status(s, "new.sh") != "ready" || status(s, "old.sh") != "untrusted!untrusted" {
		t.Errorf("new.sh %s, old.sh %s", status(s, "new.sh"), status(s, "old.sh"))
	}
	w.hook("third.sh", blocks)
	w.settings(`{"hooks":{"use":[{"name":"third.sh","priority":7}]}}`)
	if err := w.trust().AllowWritten(context.Background(), "third.sh", blocks); err == nil {
		t.Error("it is allowed although settings wait")
	}
}

// While a person follows changes, those of the settings are allowed as well.
func TestFollowSettings(t *testing.T) {
	w := newWorld(t)
	w.settings(`{"agent":{"limits":{"steps":5}}}`)
	w.allow()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	reports := make(chan string, 10)
	go func() {
		done <- w.trust().Follow(ctx, func(hook, _ string, err error) {
			if err != nil {
				hook += " " + err.Error()
			}
			reports <- hook
		})
	}()
	for steps := 6; steps < 9; steps++ {
		time.Sleep(100 * time.Millisecond)
		w.settings(`{"agent":{"limits":{"steps":` + string(rune('0'+steps)) + `}}}`)
		select {
		case got := <-reports:
			if got != candidate.SettingsRecord {
				t.Errorf("reported %q", got)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a change was not followed")
		}
		if s := w.load(); s.Set.Settings.Agent.Limits.Steps != steps {
			t.Errorf("steps %d, want %d", s.Set.Settings.Agent.Limits.Steps, steps)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// To follow a hook settles nothing of settings that are new.
func TestFollowLeavesNewSettingsAlone(t *testing.T) {
	w := newWorld(t)
	w.hook("a.sh", blocks)
	w.allow()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	reports := make(chan string, 10)
	go func() {
		done <- w.trust().Follow(ctx, func(hook, _ string, err error) { reports <- hook })
	}()
	time.Sleep(100 * time.Millisecond)
	w.settings(`{"agent":{"tools":{"env":["SECRET"]}}}`)
	w.hook("a.sh", blocks+"#\n")
	select {
	case got := <-reports:
		if got != "a.sh" {
			t.Errorf("reported %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a change was not followed")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if s := w.load(); stateOfSettings(s) != candidate.SettingsUntrusted || len(s.Set.Settings.Agent.Tools.Env) > 0 || status(s, "a.sh") != "ready" {
		t.Errorf("settings %s, %q; the hook %s", stateOfSettings(s), s.Set.Settings.Agent.Tools.Env, status(s, "a.sh"))
	}
}

// Settings and folders that others could have written do not count, in any layer
// (findings-2, N2), wherever nothing is asked either.
func TestWhoseSettings(t *testing.T) {
	loosened := `{"agent":{"limits":{"steps":5}},"hooks":{"use":[{"name":"cmd","command":["true"],"events":["tool-call-start"]}]}}`
	open := map[string]func(path string){
		"writable by all":       func(path string) { os.Chmod(path, 0o666|os.FileMode(mode(path)&0o111)) },
		"writable by its group": func(path string) { os.Chmod(path, 0o664|os.FileMode(mode(path)&0o111)); os.Chown(path, -1, 12345) },
		"another owner":         func(path string) { os.Chown(path, 12345, -1) },
	}
	if os.Geteuid() != 0 {
		delete(open, "another owner")
		delete(open, "writable by its group")
	}
	for how, loosen := range open {
		for _, layer := range []string{"user", "project", "always"} {
			for _, part := range []string{"acai.json", "."} {
				t.Run(strings.Join([]string{how, layer, part}, " "), func(t *testing.T) {
					w := newWorld(t)
					folder := w.path(".acai")
					switch layer {
					case "user":
						folder = w.home + "/.acai"
					case "always":
						w.userSettings(`{"hooks":{"trust":{"always":["` + w.project + `"]}}}`)
					}
					w.write(folder+"/acai.json", loosened, 0o644)
					loosen(folder + "/" + part)
					s := w.load()
					if s.Set.Settings.Agent.Limits.Steps == 5 || status(s, "cmd") == "ready" {
						t.Errorf("it counts: steps %d, cmd %s", s.Set.Settings.Agent.Limits.Steps, status(s, "cmd"))
					}
					if !slices.ContainsFunc(s.Settings, func(info SettingsInfo) bool { return info.State == candidate.SettingsUnreadable }) && !hasFinding(s.Findings, report.FolderIgnored, "") {
						t.Errorf("nothing says so: %v %v", s.Settings, s.Findings)
					}
				})
			}
		}
	}
}

func mode(path string) os.FileMode {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Mode().Perm()
}

// trust.always lifts the question, and no check of owner and mode (N2).
func TestAlwaysChecksOwners(t *testing.T) {
	w := newWorld(t)
	w.userSettings(`{"hooks":{"trust":{"always":["` + w.project + `"]}}}`)
	w.hook("guard.sh", blocks)
	if got := status(w.load(), "guard.sh"); got != "ready" {
		t.Fatalf("%s", got)
	}
	os.Chmod(w.hookPath("guard.sh"), 0o777)
	if got := status(w.load(), "guard.sh"); got != "broken!spawn" {
		t.Errorf("a hook that others may write: %s", got)
	}
	os.Chmod(w.hookPath("guard.sh"), 0o755)
	os.Chmod(w.path(".acai", "hooks"), 0o777)
	if got := status(w.load(), "guard.sh"); got != "broken!spawn" {
		t.Errorf("a folder that others may write: %s", got)
	}
}

// A person names the folders of other owners that are all right: a container's
// mounted checkout, a team's shared one.
func TestLiftedFolders(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	for _, path := range []string{w.project, w.path(".acai"), w.path(".acai", "hooks"), w.hookPath("guard.sh")} {
		os.Chown(path, 12345, 12345)
		os.Chmod(path, 0o775)
	}
	if _, err := Load(context.Background(), w.options()); err == nil {
		t.Error("a folder of another user is a project")
	}
	w.userSettings(`{"hooks":{"trust":{"folders":[{"path":"` + w.project + `","owners":["12345"],"groupWrite":true},{"path":"/nowhere"}]}}}`)
	w.allow()
	s := w.load()
	if got := status(s, "guard.sh"); got != "ready" {
		t.Errorf("%s: %v", got, s.Findings)
	}
	if !hasFinding(s.Findings, report.ChecksLifted, "") || !hasFinding(s.Findings, report.ChecksNotLifted, "") {
		t.Errorf("check does not show it: %v", s.Findings)
	}
	os.Chown(w.hookPath("guard.sh"), 23456, -1)
	if got := planItem(w.plan(), "guard.sh").Problem; got == nil {
		t.Error("a third user's hook can be allowed")
	}
}
