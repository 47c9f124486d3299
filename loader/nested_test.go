//go:build unix

package loader

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// inner is a world whose project lies in the project of another one, with the
// same home and state.
func (w *world) inner(parts ...string) *world {
	w.t.Helper()
	in := *w
	in.project = w.path(parts...)
	if err := os.MkdirAll(filepath.Join(in.project, ".acai", "hooks"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return &in
}

// F62: the guards of a project hold in the projects inside it, and no inner
// project adjusts an outer one.
func TestOuterGuardsHold(t *testing.T) {
	for name, prepare := range map[string]func(inner *world){
		"an inner project that was allowed": func(inner *world) {
			inner.hook("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=observe\n")
			inner.allow()
		},
		"with settings against it": func(inner *world) {
			inner.settings(`{"hooks":{"enabled":false,"discover":false,"maxHooks":1,"budget":"100ms","timeout":"10ms","onFailure":"continue"}}`)
			inner.allow()
		},
		"an inner project that nobody allowed": func(inner *world) { inner.hook("o.sh", "#!/bin/sh\n# hook: events=session-start can=observe\n") },
		"an empty inner folder":                func(inner *world) {},
		"denied hooks": func(inner *world) {
			inner.hook("guard.sh", blocks)
			if err := inner.trust().Deny(t.Context(), "guard.sh"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			outer := newWorld(t)
			outer.hook("guard.sh", blocks)
			outer.settings(`{"agent":{"tools":{"bash":{"deny":["rm"]}},"limits":{"steps":5}},"hooks":{"required":["guard.sh"]}}`)
			outer.allow()
			inner := outer.inner("packages", "api")
			prepare(inner)
			s := inner.load()
			if got := status(s, "../../guard.sh"); got != "ready" {
				t.Fatalf("the outer guard is %q: %v", got, s.Findings)
			}
			if h := find(s, "../../guard.sh"); h.Outer != 1 || h.Layer != protocol.Project {
				t.Errorf("outer %d, layer %s", h.Outer, h.Layer)
			}
			if outcome := inner.fire(s.Set); outcome.Action != protocol.Block || outcome.By == nil || *outcome.By != "../../guard.sh" {
				t.Errorf("outcome %s by %s", outcome.Action, *outcome.By)
			}
			if got := s.Set.Settings.Agent.Tools.Bash.Deny; len(got) != 1 || s.Set.Settings.Agent.Limits.Steps != 5 {
				t.Errorf("the outer settings do not hold: %v", s.Set.Settings.Agent)
			}
		})
	}
}

// The lists of inner and outer settings unite; single values only get tighter.
func TestInnerSettingsTighten(t *testing.T) {
	outer := newWorld(t)
	outer.settings(`{"agent":{"limits":{"steps":9},"tools":{"bash":{"deny":["a"]}},"model":"anthropic:outer"}}`)
	outer.allow()
	inner := outer.inner("in")
	inner.settings(`{"agent":{"limits":{"steps":50},"tools":{"bash":{"deny":["b"]}},"model":"anthropic:inner"}}`)
	inner.allow()
	a := inner.load().Set.Settings.Agent
	if a.Limits.Steps != 9 || len(a.Tools.Bash.Deny) != 2 || a.Model != "anthropic:inner" {
		t.Errorf("steps %d, deny %v, model %s", a.Limits.Steps, a.Tools.Bash.Deny, a.Model)
	}
}

// Each project's hooks start in their own root and are told of it.
func TestOuterHooksStartInTheirRoot(t *testing.T) {
	outer := newWorld(t)
	outer.hook("where.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\nprintf '{\"action\":\"block\",\"reason\":\"%s %s\"}' \"$PWD\" \"$HOOK_PROJECT_DIR\"\n")
	outer.allow()
	inner := outer.inner("in")
	if outcome := inner.fire(inner.load().Set); outcome.Reason != outer.project+" "+outer.project {
		t.Errorf("it starts in %q", outcome.Reason)
	}
}

// An outer hook that is changed or gone fails in the inner project, too.
func TestOuterGuardThatVanished(t *testing.T) {
	outer := newWorld(t)
	outer.hook("guard.sh", blocks)
	outer.allow()
	inner := outer.inner("in")
	os.Remove(outer.hookPath("guard.sh"))
	s := inner.load()
	if got := status(s, "../guard.sh"); got != "gone!gone" {
		t.Errorf("%q", got)
	}
	os.RemoveAll(outer.path(".acai"))
	if outcome := inner.fire(inner.load().Set); outcome.Action != protocol.Block {
		t.Errorf("outcome %s", outcome.Action)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// whereHook refuses with the folder that it starts in.
const whereHook = "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash can=block\nprintf '{\"action\":\"block\",\"reason\":\"%s\"}' \"$PWD\"\n"

// at loads from a working directory, as a person there would.
func (w *world) at(dir string) *Snapshot {
	w.t.Helper()
	opts := w.options()
	opts.Project, opts.Cwd = "", dir
	s, err := Load(w.t.Context(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// F52: hooks and tools work in the checkout that is worked in.
func TestWorktrees(t *testing.T) {
	setup := func(t *testing.T, committed bool) *world {
		w := newWorld(t)
		w.hook("where.sh", whereHook)
		w.settings(`{"agent":{"limits":{"steps":5}}}`)
		w.write(w.path("file"), "x", 0o644)
		git(t, w.project, "init", "-q")
		add := []string{"add", "file"}
		if committed {
			add = append(add, ".acai")
		}
		git(t, w.project, add...)
		git(t, w.project, "commit", "-qm", "x")
		w.allow()
		return w
	}
	reason := func(w *world, dir string) (string, *Snapshot) {
		s := w.at(dir)
		return w.fire(s.Set).Reason, s
	}
	for _, where := range []string{".wt/a", "../beside"} {
		t.Run(where, func(t *testing.T) {
			w := setup(t, true)
			git(t, w.project, "worktree", "add", "-q", where, "HEAD")
			dir := w.path(where)
			got, s := reason(w, dir)
			if got != dir || s.Project != dir {
				t.Errorf("the hook starts in %q, the project is %q, want %q", got, s.Project, dir)
			}
			if s.Set.Settings.Agent.Limits.Steps != 5 {
				t.Error("the same settings were allowed in the main checkout, and do not count")
			}
			if h := find(s, "../../where.sh"); where == ".wt/a" && (h == nil || h.Status != "disabled") {
				t.Errorf("the main checkout's copy runs as well: %+v", h)
			}
			opts := w.options()
			opts.Project, opts.Cwd = "", dir
			person, err := OpenTrust(opts)
			if err != nil || person.Project() != dir {
				t.Fatalf("trust is about %v, %v", person.Project(), err)
			}
			if plan, err := person.Plan(t.Context()); err != nil || len(plan.Items) != 2 || plan.Items[0].In != w.project || plan.Items[1].In != w.project {
				t.Errorf("what counts since the main checkout allows it is shown as something to decide: %+v, %v", plan, err)
			}
			// Edited in the worktree: it is no longer what was allowed.
			w.write(filepath.Join(dir, ".acai", "hooks", "where.sh"), whereHook+"#\n", 0o755)
			want := "changed!untrusted"
			if where == ".wt/a" {
				want = "untrusted!untrusted" // the main checkout's runs
			}
			if _, s := reason(w, dir); status(s, "where.sh") != want {
				t.Errorf("a changed hook is %q", status(s, "where.sh"))
			}
			if plan, err := person.Plan(t.Context()); err != nil || plan.Items[1].In != "" || plan.Items[1].State != trust.StateNew {
				t.Errorf("a changed hook is shown as allowed: %+v, %v", plan, err)
			}
		})
	}
	for _, where := range []string{".wt/a", "../beside"} {
		t.Run("hooks that are not committed, "+where, func(t *testing.T) {
			w := setup(t, false)
			git(t, w.project, "worktree", "add", "-q", where, "HEAD")
			dir := w.path(where)
			os.MkdirAll(filepath.Join(dir, "sub"), 0o755)
			for _, from := range []string{dir, filepath.Join(dir, "sub")} {
				if got, s := reason(w, from); got != dir || s.Project != dir || s.Set.Settings.Agent.Limits.Steps != 5 {
					t.Errorf("the hook starts in %q, the project is %q, want %q; %d steps", got, s.Project, dir, s.Set.Settings.Agent.Limits.Steps)
				}
			}
		})
	}
	t.Run("what was allowed is removed from the worktree", func(t *testing.T) {
		w := setup(t, true)
		git(t, w.project, "worktree", "add", "-q", "../beside", "HEAD")
		dir := w.path("..", "beside")
		w.write(filepath.Join(dir, ".acai", "acai.json"), "{}", 0o644)
		w.remove(filepath.Join(dir, ".acai", "hooks", "where.sh"))
		if _, s := reason(w, dir); status(s, "where.sh") != "gone!gone" || stateOfSettings(s) != candidate.SettingsChanged || s.Set.Settings.Agent.Limits.Steps != 5 {
			t.Errorf("the hook is %q, the settings %s", status(s, "where.sh"), stateOfSettings(s))
		}
		opts := w.options()
		opts.Project, opts.Cwd = "", dir
		for range 2 { // to accept it again changes nothing
			person, err := OpenTrust(opts)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := person.Plan(t.Context())
			if err == nil {
				err = person.Allow(plan)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, s := reason(w, dir); got != "" || stateOfSettings(s) != candidate.SettingsInForce || s.Set.Settings.Agent.Limits.Steps == 5 {
				t.Errorf("accepted, but %q; the settings %s", got, stateOfSettings(s))
			}
		}
		if got, _ := reason(w, w.project); got != w.project {
			t.Errorf("in the main checkout: %q", got)
		}
		git(t, dir, "checkout", "-q", ".")
		if _, s := reason(w, dir); status(s, "where.sh") != "disabled" {
			t.Errorf("back without a decision: %q", status(s, "where.sh"))
		}
	})
	t.Run("a clone inside without hooks", func(t *testing.T) {
		w := setup(t, true)
		git(t, w.project, "init", "-q", "clone")
		dir := w.path("clone")
		if got, s := reason(w, dir); got != w.project || s.Project != dir {
			t.Errorf("the hook starts in %q, the tools in %q", got, s.Project)
		}
	})
	t.Run("a folder that only says it is a worktree", func(t *testing.T) {
		w := setup(t, true)
		git(t, w.project, "worktree", "add", "-q", "../real", "HEAD")
		fake := w.path("..", "fake")
		os.MkdirAll(filepath.Join(fake, ".acai", "hooks"), 0o755)
		link, _ := os.ReadFile(w.path("..", "real", ".git"))
		os.WriteFile(filepath.Join(fake, ".git"), link, 0o644)
		w.write(filepath.Join(fake, ".acai", "hooks", "where.sh"), whereHook, 0o755)
		if s := w.at(fake); status(s, "where.sh") != "untrusted!untrusted" {
			t.Errorf("its hook is %q", status(s, "where.sh"))
		}
	})
	t.Run("a submodule", func(t *testing.T) {
		w := setup(t, true)
		other := w.path("..", "other")
		os.MkdirAll(other, 0o755)
		os.WriteFile(filepath.Join(other, "f"), nil, 0o644)
		git(t, other, "init", "-q")
		git(t, other, "add", ".")
		git(t, other, "commit", "-qm", "x")
		git(t, w.project, "submodule", "add", "-q", other, "sub")
		dir := w.path("sub")
		if got, s := reason(w, dir); got != w.project || s.Project != dir {
			t.Errorf("the hook starts in %q, the tools in %q", got, s.Project)
		}
	})
}

// HOME is the user layer, so a checkout must not be able to become it.
func TestHomeInsideACheckout(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"plain/home/.acai", "clone/.git", "clone/home/.acai", "project/.acai", "project/home/.acai", "itself/.git", "itself/.acai"} {
		os.MkdirAll(filepath.Join(top, dir), 0o755)
	}
	listed := workspace.DatabaseHome()
	for home, obeyed := range map[string]bool{"plain/home": true, "clone/home": false, "project/home": false, "itself": false, "nowhere": true, "clone/not/there": false} {
		named := filepath.Join(top, home)
		t.Setenv("HOME", named)
		got, refused := workspace.UserHome()
		want := named
		if !obeyed {
			want = listed
		}
		if got != want || (refused == nil) != obeyed {
			t.Errorf("HOME=%s: %s, refused %v", home, got, refused)
		}
	}
	t.Setenv("HOME", listed)
	if got, refused := workspace.UserHome(); got != listed || refused != nil {
		t.Errorf("the home of the user database is refused: %v", refused)
	}
}

// A HOME that is not the account's hides the user's own hooks, and only then that is said.
func TestHomeThatHidesAnother(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"mine/.acai", "empty", "other/.acai"} {
		os.MkdirAll(at(dir), 0o755)
	}
	if err := os.Symlink(at("mine"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		home, listed string
		hides        bool
	}{
		{at("other"), at("mine"), true}, {at("empty"), at("mine"), true}, {at("none"), at("mine"), true},
		{at("mine"), at("mine"), false}, {at("link"), at("mine"), false}, {at("other"), at("empty"), false},
		{at("other"), at("none"), false}, {at("other"), "", false}, {"", at("mine"), false},
	} {
		counts, account := workspace.OtherThan(test.home, test.listed)
		if hides := account != ""; hides != test.hides || hides && (counts != test.home || account != test.listed) {
			t.Errorf("HOME=%s of %s: %q %q", test.home, test.listed, counts, account)
		}
	}
}

// The search does not take what others could have put there, and says so.
func TestPassedOverIsSaid(t *testing.T) {
	w := newWorld(t)
	shared := filepath.Join(filepath.Dir(w.home), "shared")
	w.write(filepath.Join(shared, ".acai", "hooks", "evil.sh"), blocks, 0o755)
	w.write(filepath.Join(shared, ".acai", "acai.json"), `{"agent":{"limits":{"steps":5}}}`, 0o644)
	os.MkdirAll(filepath.Join(shared, "work"), 0o755)
	os.Chmod(shared, 0o777|os.ModeSticky)
	s := w.at(filepath.Join(shared, "work"))
	if s.Project != "" || find(s, "evil.sh") != nil || s.Set.Refuse != nil {
		t.Errorf("project %q, refused %v", s.Project, s.Set.Refuse)
	}
	if !hasFinding(s.Findings, report.FolderIgnored, "") {
		t.Errorf("nobody is told: %v", s.Findings)
	}
	// Allowed while the folder was the user's own: its guards are not merely absent.
	os.Chmod(shared, 0o755)
	outer := *w
	outer.project = shared
	outer.allow()
	os.Chmod(shared, 0o777|os.ModeSticky)
	s = w.at(filepath.Join(shared, "work"))
	if s.Set.Refuse == nil || s.Set.Refuse.Kind != protocol.FailSettings {
		t.Errorf("refused %v", s.Set.Refuse)
	}
	for _, f := range s.Findings {
		if f.Code == string(report.FolderIgnored) && f.Severity != schema.SeverityError {
			t.Errorf("%+v", f)
		}
	}
}

// No project above can bring along what was decided about it.
func TestStateInsideAProjectAbove(t *testing.T) {
	w := newWorld(t)
	inner := w.inner("in")
	inner.hook("guard.sh", blocks)
	for _, ground := range []string{".acai", ".git"} {
		top := filepath.Join(filepath.Dir(w.home), "top"+ground)
		os.MkdirAll(filepath.Join(top, ground), 0o755)
		in := *w
		in.project = filepath.Join(top, "in")
		in.state = filepath.Join(top, "state")
		os.MkdirAll(filepath.Join(in.project, ".acai", "hooks"), 0o755)
		os.MkdirAll(in.state, 0o700)
		in.hook("guard.sh", blocks)
		if _, err := OpenTrust(in.options()); err == nil {
			t.Errorf("%s above: trust is recorded inside it", ground)
		}
		if s := in.load(); s.Set.Refuse == nil {
			t.Errorf("%s above: nothing is refused", ground)
		}
	}
	// The user layer is no project, whichever way leads to it.
	link := filepath.Join(filepath.Dir(w.home), "link")
	os.Symlink(w.home, link)
	os.MkdirAll(filepath.Join(w.home, ".acai"), 0o755)
	in := *w
	in.project, in.state = filepath.Join(w.home, "p"), filepath.Join(w.home, "state")
	os.MkdirAll(filepath.Join(in.project, ".acai", "hooks"), 0o755)
	os.MkdirAll(in.state, 0o700)
	in.home = link
	in.hook("guard.sh", blocks)
	in.allow()
	if got := status(in.load(), "guard.sh"); got != "ready" {
		t.Errorf("%s", got)
	}
}
