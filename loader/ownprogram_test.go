//go:build unix

package loader

import (
	"os"
	"path/filepath"
	"testing"
)

// Where hookd's packages are part of another program, hooks get the hookd on their own
// PATH, never one that the project has planted on the caller's.
func TestHooksOfAnotherProgramFindHookd(t *testing.T) {
	w := newWorld(t)
	w.hook("g", "#!/bin/sh\n# hook: events=tool-call-start can=block\nprintf '{\"action\":\"block\",\"reason\":\"%s\"}' \"$HOOKD\"\n")
	bin := t.TempDir()
	w.write(filepath.Join(bin, "hookd"), "#!/bin/sh\n", 0o755)
	w.write(w.path("bin", "hookd"), "#!/bin/sh\n", 0o755)
	ours := os.Getenv("PATH")
	for path, want := range map[string]string{
		w.path("bin") + ":" + bin + ":" + ours: filepath.Join(bin, "hookd"),
		bin + ":" + ours:                       filepath.Join(bin, "hookd"),
	} {
		t.Setenv("PATH", path)
		w.allow()
		if got := w.fire(w.load().Set).Reason; got != want {
			t.Errorf("with PATH=%s the hook gets HOOKD=%q, want %q", path, got, want)
		}
	}
	options := w.options()
	options.Program = "/opt/hookd"
	s, err := Load(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.fire(s.Set).Reason; got != "/opt/hookd" {
		t.Errorf("the program's own choice: HOOKD=%q", got)
	}
}
