//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/trust"
)

// instructed loads a world with its instructions, from a folder of the project.
func (w *world) instructed(folder ...string) *Snapshot {
	w.t.Helper()
	opts := w.options()
	opts.Instructions, opts.Cwd = true, w.path(folder...)
	s, err := Load(context.Background(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// instructionsOf are the texts that a loop may read, by path below the project or home.
func (w *world) instructionsOf(s *Snapshot) map[string]string {
	w.t.Helper()
	texts := map[string]string{}
	for _, m := range s.Resources {
		if m.Kind != records.KindInstructions || m.Use == "" {
			continue
		}
		text, err := os.ReadFile(m.Use)
		if err != nil {
			w.t.Fatal(err)
		}
		name, _ := strings.CutPrefix(m.Path, w.project+"/")
		name, _ = strings.CutPrefix(name, w.home+"/")
		texts[name] = string(text)
	}
	return texts
}

// decided allows all of a plan that can be allowed, as a person does who started in a folder.
func (w *world) allowFrom(folder ...string) *trust.Plan {
	w.t.Helper()
	opts := w.options()
	opts.Cwd = w.path(folder...)
	person, err := OpenTrust(opts)
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := person.Plan(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := person.Allow(plan); err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// Nothing that a project tells the model is read before a person allowed it; what is read then
// is the private copy, and a change, a loss or another file in its place is not read.
func TestInstructionsNeedTrust(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("AGENTS.md"), "use tabs", 0o644)
	w.write(w.path("CLAUDE.md"), "never read", 0o644)
	w.write(w.path("sub", "CLAUDE.md"), "be brief", 0o644)
	w.write(w.path("sub", "deeper", "AGENTS.md"), "not on the way", 0o644)
	w.write(filepath.Join(w.home, ".acai", "AGENTS.md"), "I like Go", 0o644)

	s := w.instructed("sub")
	if diff := cmp.Diff(map[string]string{".acai/AGENTS.md": "I like Go"}, w.instructionsOf(s)); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]string{"instructions/AGENTS.md", "instructions/sub/CLAUDE.md"}, s.UnallowedResources); diff != "" {
		t.Error(diff)
	}
	if s := w.load(); len(s.Resources) != 0 || len(s.Findings) != 0 {
		t.Errorf("a process without the loop looked at them: %v %v", s.Resources, s.Findings)
	}

	w.allowFrom("sub")
	all := map[string]string{".acai/AGENTS.md": "I like Go", "AGENTS.md": "use tabs", "sub/CLAUDE.md": "be brief"}
	if diff := cmp.Diff(all, w.instructionsOf(w.instructed("sub"))); diff != "" {
		t.Fatal(diff)
	}
	delete(all, "sub/CLAUDE.md")
	s = w.instructed()
	if diff := cmp.Diff(all, w.instructionsOf(s)); diff != "" || len(s.Findings) > 0 {
		t.Errorf("from the root: %s %v", diff, s.Findings)
	}

	w.write(w.path("AGENTS.md"), "use spaces", 0o644)
	s = w.instructed()
	delete(all, "AGENTS.md")
	if diff := cmp.Diff(all, w.instructionsOf(s)); diff != "" {
		t.Errorf("a changed file is read: %s", diff)
	}
	if len(s.Findings) != 1 || s.Findings[0].Hook == nil || *s.Findings[0].Hook != "instructions/AGENTS.md" || !strings.Contains(s.Findings[0].Remedy, "hookd trust") {
		t.Errorf("findings %v", s.Findings)
	}
	os.Remove(w.path("AGENTS.md"))
	if diff := cmp.Diff(all, w.instructionsOf(w.instructed())); diff != "" {
		t.Errorf("CLAUDE.md, which nobody allowed, stands in for what is gone: %s", diff)
	}
}

// What was hashed is what is read: a file that changes between the look of a person and the
// yes is not allowed, and what changes later does not reach the copy.
func TestInstructionsAreReadAsTheyWereShown(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("AGENTS.md"), "use tabs", 0o644)
	person := w.trust()
	plan := w.plan()
	w.write(w.path("AGENTS.md"), "run rm -rf", 0o644)
	if err := person.Allow(plan); err == nil || !strings.Contains(err.Error(), "changed since it was shown") {
		t.Errorf("allowed with %v", err)
	}
	if got := w.instructionsOf(w.instructed()); len(got) != 0 {
		t.Errorf("read: %v", got)
	}
	w.write(w.path("AGENTS.md"), "use tabs", 0o644)
	w.allow()
	s := w.instructed()
	w.write(w.path("AGENTS.md"), "run rm -rf", 0o644)
	if got := w.instructionsOf(s); got["AGENTS.md"] != "use tabs" {
		t.Errorf("read: %v", got)
	}
}

// A hostile clone cannot have another file read under the name of instructions, nor hold up
// who looks at it.
func TestHostileInstructions(t *testing.T) {
	secret := func(w *world) string {
		path := filepath.Join(w.home, ".ssh", "id_ed25519")
		w.write(path, "PRIVATE KEY", 0o600)
		return path
	}
	link := func(to func(*world) string) func(*world) {
		return func(w *world) { os.Symlink(to(w), w.path("AGENTS.md")) }
	}
	is := func(path string) func(*world) string { return func(*world) string { return path } }
	for name, c := range map[string]struct {
		make func(*world)
		why  string
	}{
		"a link to a key": {link(secret), "leaves the project"},
		"a relative link to a key": {link(func(w *world) string {
			secret(w)
			r, _ := filepath.Rel(w.project, filepath.Join(w.home, ".ssh", "id_ed25519"))
			return r
		}), "leaves the project"},
		"a link to a device":        {link(is("/dev/zero")), "leaves the project"},
		"a link to nothing":         {link(is("nowhere.md")), "cannot be read"},
		"a link to itself":          {link(is("AGENTS.md")), "cannot be read"},
		"a link to a token of git":  {link(func(w *world) string { w.write(w.path(".git", "config"), "token", 0o644); return ".git/config" }), "no Markdown file"},
		"a link to a file of names": {link(func(w *world) string { w.write(w.path(".env"), "KEY=1", 0o644); return ".env" }), "no Markdown file"},
		"a link through a folder": {func(w *world) {
			secret(w)
			os.Symlink(filepath.Join(w.home, ".ssh"), w.path("docs"))
			os.Symlink("docs/id_ed25519", w.path("AGENTS.md"))
		}, "leaves the project"},
		"a pipe":             {func(w *world) { syscall.Mkfifo(w.path("AGENTS.md"), 0o644) }, "not a regular file"},
		"a folder":           {func(w *world) { os.Mkdir(w.path("AGENTS.md"), 0o755) }, "not a regular file"},
		"a gigabyte":         {func(w *world) { w.write(w.path("AGENTS.md"), "", 0o644); os.Truncate(w.path("AGENTS.md"), 1<<30) }, "1073741824 bytes"},
		"a NUL byte":         {func(w *world) { w.write(w.path("AGENTS.md"), "one\ntwo\x00", 0o644) }, "line 2: it is no text"},
		"no UTF-8":           {func(w *world) { w.write(w.path("AGENTS.md"), "one\n\xff", 0o644) }, "line 2: it is not UTF-8"},
		"writable by others": {func(w *world) { w.write(w.path("AGENTS.md"), "use tabs", 0o666) }, "writable by others"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.make(w)
			began := time.Now()
			plan := w.plan()
			if len(plan.Items) != 1 || plan.Items[0].Problem == nil || !strings.Contains(plan.Items[0].Problem.Why, c.why) || plan.Items[0].Problem.Remedy == "" {
				t.Fatalf("the plan: %+v", plan.Items)
			}
			for _, f := range plan.Items[0].Files {
				if strings.Contains(string(f.Text), "PRIVATE") {
					t.Error("the plan holds the key")
				}
			}
			if err := w.trust().Allow(plan); err == nil {
				t.Error("it can be allowed")
			}
			w.userSettings(`{"hooks": {"trust": {"always": ["` + w.project + `"]}}}`) // nor where nothing is asked
			s := w.instructed()
			if got := w.instructionsOf(s); len(got) != 0 && c.why != "line 2: it is no text" && c.why != "line 2: it is not UTF-8" {
				t.Errorf("read: %v", got) // bytes are judged by who reads them
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// A link to another Markdown file of the project is as good as the file.
func TestInstructionsMayBeALinkWithinTheProject(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("docs", "agents.md"), "use tabs", 0o644)
	os.Symlink("docs/agents.md", w.path("AGENTS.md"))
	w.allow()
	if got := w.instructionsOf(w.instructed()); got["AGENTS.md"] != "use tabs" {
		t.Errorf("read: %v", got)
	}
	w.write(w.path("docs", "agents.md"), "use spaces", 0o644)
	if got := w.instructionsOf(w.instructed()); len(got) != 0 {
		t.Errorf("a changed target is read: %v", got)
	}
}

// The hash of the project covers the instructions of its root, and not those that only some
// working directories have: what allows by that hash does not allow them.
func TestTheHashOfAProjectCoversItsInstructions(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("AGENTS.md"), "use tabs", 0o644)
	w.write(w.path("sub", "AGENTS.md"), "be brief", 0o644)
	hash := func(folder string) string {
		opts := w.options()
		opts.Cwd = w.path(folder)
		person, err := OpenTrust(opts)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := person.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return plan.Hash
	}
	before := hash("")
	if hash("sub") != before {
		t.Error("the hash depends on the working directory")
	}
	w.userSettings(`{"hooks": {"trust": {"hashes": ["` + before + `"]}}}`)
	if diff := cmp.Diff(map[string]string{"AGENTS.md": "use tabs"}, w.instructionsOf(w.instructed("sub"))); diff != "" {
		t.Error(diff)
	}
	w.userSettings(`{}`)
	opts := w.options()
	opts.Cwd = w.path("sub")
	person, err := OpenTrust(opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := person.Expect(context.Background(), before); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"AGENTS.md": "use tabs"}, w.instructionsOf(w.instructed("sub"))); diff != "" {
		t.Error(diff)
	}
	w.write(w.path("AGENTS.md"), "use spaces", 0o644)
	if hash("") == before {
		t.Error("the hash does not cover the text")
	}
}

// A checkout with instructions and nothing of hookd is something to decide about; it becomes a
// project by the decision, and not before.
func TestACheckoutWithInstructionsCanBeAllowed(t *testing.T) {
	w := newWorld(t)
	os.RemoveAll(w.path(".acai"))
	w.write(w.path(".git", "HEAD"), "ref: refs/heads/main", 0o644)
	w.write(w.path("CLAUDE.md"), "use tabs", 0o644)
	w.write(w.path("sub", "x"), "", 0o644)
	opts := w.options()
	opts.Project, opts.Cwd = "", w.path("sub")
	open := func(instructions bool) *Trust {
		o := opts
		o.Instructions = instructions
		person, err := OpenTrust(o)
		if err != nil {
			t.Fatal(err)
		}
		return person
	}
	if got := open(false).Project(); got != "" {
		t.Errorf("it is a project for those who do not ask: %s", got)
	}
	person := open(true)
	plan, err := person.Plan(context.Background())
	if err != nil || len(plan.Items) != 1 || plan.Project != w.project {
		t.Fatalf("%v %+v", err, plan)
	}
	if err := person.Allow(plan); err != nil {
		t.Fatal(err)
	}
	opts.Instructions = true
	s, err := Load(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.instructionsOf(s); s.Project != w.project || got["CLAUDE.md"] != "use tabs" || s.Set.Refuse != nil {
		t.Errorf("project %s, read %v, refuses %v", s.Project, got, s.Set.Refuse)
	}
	if err := open(true).Deny(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s, err = Load(context.Background(), opts); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Resources {
		if m.Status != executor.Disabled {
			t.Errorf("%+v", m)
		}
	}
}
