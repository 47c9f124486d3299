//go:build unix

package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// A file of a project that is a link out of the project does not count, and nothing that
// stands in the file there is told before a person allowed it, nor in what such a person looks at. What it may
// have been is refused.
func TestALinkOutOfTheProjectTellsNothingOfWhereItLeads(t *testing.T) {
	const secret = "hunter2"
	for _, c := range []struct {
		file, text string
		passes     bool // it names no guard
	}{
		{file: "hooks/x.rules.yaml", text: secret + ": x\nrules:\n  - name: " + secret + "\n"},
		{file: "hooks/x.rules.json", text: `{"` + secret + `": 1, "rules": [`},
		{file: "hooks/x.rules.yaml", text: pushPack + "# " + secret},
		{file: "hooks/y.sh", text: "#!/bin/sh\n# hook: events=tool-call-start " + secret + "=1\n"},
		{file: "hooks/y.sh", text: "#!/bin/sh\n# hook: events=tool-call-start can=block\n# " + secret},
		{file: "hooks/" + guardName + ".hook.yaml", text: secret + ": x\n"},
		{file: "hooks/" + guardName + ".hook.json", text: `{"` + secret + `": 1`},
		{file: "acai.json", text: `{"hooks": {"` + secret + `": 1}, "` + secret + `": {}}`},
		{file: "skills/s.md", text: "---\nname: s\n" + secret + ": x\n---\n" + secret + "\n", passes: true},
		{file: "recipes/r.md", text: "---\n" + secret + ": x\n---\n" + secret + "\n", passes: true},
	} {
		w := newWorld(t)
		w.write(w.hookPath(guardName), "#!/bin/sh\n", 0o755)
		target, link := filepath.Join(w.home, "private"), w.path(".acai", filepath.FromSlash(c.file))
		w.write(target, c.text, 0o700)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		s := w.load()
		said := ""
		for _, f := range s.Findings {
			said += f.Message + "\n" + f.Remedy + "\n"
			if f.Path != nil {
				said += *f.Path + "\n"
			}
		}
		for _, h := range s.Hooks {
			said += h.Name + " " + h.Description + "\n"
		}
		if !strings.Contains(said, "the link leads out of the project, to "+target) || strings.Contains(said, secret) || strings.Contains(said, "no-push") {
			t.Errorf("%s: %s", c.file, said)
		}
		if o := shellCall(w, "ls"); (o.Action == protocol.Observe) != c.passes {
			t.Errorf("%s: %s %s", c.file, o.Action, o.Reason)
		}
	}
}

// A link in the project counts as the file does, and so does one in a folder of hooks that
// is a link as a whole.
func TestALinkInTheProjectCounts(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("shared", "git.yaml"), pushPack, 0o644)
	if err := os.MkdirAll(filepath.Dir(w.hookPath("x")), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../shared/git.yaml", w.hookPath("git.rules.yaml")); err != nil {
		t.Fatal(err)
	}
	w.allow()
	if o := shellCall(w, "git push"); o.Action != protocol.Block || o.Failure != "" {
		t.Errorf("%s %s", o.Action, o.Failure)
	}
}
