package integration

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// libraries are those that hookd is built on, with a story that fails without what
// the library does in the program.
var libraries = []struct{ module, does, story string }{
	{"github.com/spf13/viper", "lays the settings of the layers over each other", "settings-of-user-and-project-meet"},
	{"github.com/go-playground/validator/v10", "checks settings and descriptions of hooks", "settings-of-user-and-project-meet"},
	{"github.com/fsnotify/fsnotify", "watches hooks and settings", "a-run-obeys-an-edit-made-while-it-runs"},
	{"golang.org/x/sync", "asks programs at once what they are for, and runs tool calls at once", "a-published-program-is-a-hook-by-its-name"},
}

func TestProgramIsBuiltOnItsLibraries(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/hookd").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Fields(string(out))
	for _, l := range libraries {
		if !slices.ContainsFunc(packages, func(p string) bool { return isWithin(p, l.module) }) {
			t.Errorf("the program does not link %s, which %s", l.module, l.does)
		}
		if found, _ := filepath.Glob(filepath.Join("testdata", l.story+".txtar")); len(found) == 0 {
			t.Errorf("%s: there is no story %s", l.module, l.story)
		}
	}
}
