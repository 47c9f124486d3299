//go:build unix

package loader

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/report"
)

// G12: a file under a name that is nearly right is not merely left out.
func TestFilesThatAreNotReadAreReported(t *testing.T) {
	for name, tc := range map[string]struct {
		write func(w *world)
		file  string
		n     int
	}{
		"settings in .yml":        {func(w *world) { w.write(w.path(".acai", "acai.yml"), "hooks: {}\n", 0o644) }, "acai.yml", 1},
		"settings in capitals":    {func(w *world) { w.write(w.path(".acai", "ACAI.json"), "{}", 0o644) }, "ACAI.json", 1},
		"a folder named hook":     {func(w *world) { w.write(w.path(".acai", "hook", "a.sh"), guardHeader, 0o755) }, "hook", 1},
		"a side file alone":       {func(w *world) { w.write(w.hookPath("a.sh.hook.json"), "{}", 0o644) }, "a.sh.hook.json", 1},
		"a side file in .toml":    {func(w *world) { w.write(w.hookPath("a.sh.hook.toml"), "", 0o644) }, "a.sh.hook.toml", 1},
		"rules in .yml":           {func(w *world) { w.write(w.hookPath("a.rules.yml"), "", 0o644) }, "a.rules.yml", 1},
		"rules in capitals":       {func(w *world) { w.write(w.hookPath("a.RULES.YAML"), "", 0o644) }, "a.RULES.YAML", 1},
		"rules with a capital":    {func(w *world) { w.write(w.hookPath("a.Rules.yaml"), "", 0o644) }, "a.Rules.yaml", 1},
		"a leftover of an editor": {func(w *world) { w.write(w.hookPath("a.sh.hook.json~"), "", 0o644) }, "", 0},
		"settings as they should": {func(w *world) { w.settings("{}") }, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.write(w)
			n := 0
			for _, f := range w.load().Findings {
				if f.Code == string(report.Unread) {
					n++
					if filepath.Base(f.File) != tc.file || f.Remedy == "" {
						t.Errorf("%+v", f)
					}
				}
			}
			if n != tc.n {
				t.Errorf("%d findings", n)
			}
		})
	}
}

// A name that no record can hold is said to be that, not something else.
func TestNameThatIsNotUTF8(t *testing.T) {
	w := newWorld(t)
	w.hook("bad\xff.sh", blocks)
	s := w.load()
	if len(s.Findings) != 1 || s.Findings[0].Message != "its name is not valid UTF-8" {
		t.Errorf("%+v", s.Findings)
	}
}

func TestProjectThatNoRecordCanName(t *testing.T) {
	w := worldAt(t, filepath.Join(t.TempDir(), "bad\xff"))
	w.hook("a.sh", blocks)
	if err := w.trust().Allow(w.plan()); err == nil || !strings.Contains(err.Error(), "rename the folder") {
		t.Errorf("error %v", err)
	}
}
