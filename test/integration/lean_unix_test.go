//go:build unix

package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the lean program must not link: other agents start it for every event,
// and each of these costs every start.
var heavy = []string{
	"encoding/gob",
	"github.com/anthropics/", "github.com/modelcontextprotocol/", "charm.land/", "github.com/charmbracelet/",
	"github.com/oklog/ulid", "github.com/google/jsonschema-go/",
	"github.com/hookd-dev/hookd/agentloop",
}

func TestLeanLinksNothingHeavy(t *testing.T) {
	lookAtSources(t)
	list := exec.Command("go", "list", "-tags", "lean", "-deps", module+"/cmd/hookd")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, module+"/loader") {
		t.Fatalf("the list of packages is not that of hookd: %d packages", len(packages))
	}
	for _, p := range packages {
		if i := slices.IndexFunc(heavy, func(h string) bool { return strings.HasPrefix(p+"/", strings.TrimSuffix(h, "/")+"/") }); i >= 0 {
			t.Errorf("the lean program links %s", p)
		}
	}
}

// The lean program decides as the whole one does, and says where the agent is.
func TestLean(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	folder := t.TempDir()
	lean := filepath.Join(folder, "hookd-lean")
	if out, err := goBuild("-tags", "lean", "-o", lean, module+"/cmd/hookd").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hooks := filepath.Join(folder, "project", ".acai", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	guard := "#!/bin/sh\n# hook: events=tool-call-start can=block\necho '{\"action\":\"block\",\"reason\":\"not today\"}'\n"
	if err := os.WriteFile(filepath.Join(hooks, "guard.sh"), []byte(guard), 0o755); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	run := func(want int, args ...string) string {
		t.Helper()
		c := exec.Command(lean, args...)
		c.Dir = filepath.Join(folder, "project")
		c.Env = append(os.Environ(), "HOME="+state, "XDG_STATE_HOME="+state, "XDG_CONFIG_HOME="+state)
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		code := 0
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != want {
			t.Errorf("%v: exit code %d, want %d\n%s", args, code, want, out)
		}
		return string(out)
	}
	run(0, "trust", "--yes")
	if out := run(2, "fire", "tool-call-start"); !strings.Contains(out, "not today") {
		t.Errorf("fire: %s", out)
	}
	if out := run(3, "run", "hello"); !strings.Contains(out, "without the agent loop") || !strings.Contains(out, "hookd run") {
		t.Errorf("run: %s", out)
	}
	for _, args := range [][]string{{"help", "run"}, {"list", "--builtin"}, {"sessions", "list", "--json"}} {
		want := map[bool]int{true: 0, false: 3}[args[0] == "help"]
		out := run(want, args...)
		if !strings.Contains(out, "without the agent loop") || strings.HasPrefix(out, "{") != slices.Contains(args, "--json") {
			t.Errorf("%v: %s", args, out)
		}
	}
}
