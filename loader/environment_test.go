//go:build unix

package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
)

// The table of variables is all that a hook gets, layer by layer, whatever the
// caller has in its environment.
func TestTheTableIsTheWholeEnvironment(t *testing.T) {
	for layer, letter := range map[protocol.Layer]string{protocol.Project: "P", protocol.User: "U", protocol.Managed: "M"} {
		t.Run(string(layer), func(t *testing.T) {
			w := newWorld(t)
			t.Setenv("HOME", w.home)
			out := filepath.Join(t.TempDir(), "env")
			hook := guardHeader + "env >" + out + "\n"
			switch layer {
			case protocol.Project:
				w.hook("g", hook)
				w.allow()
			case protocol.User:
				w.userHook("g", hook)
			default:
				w.write(filepath.Join(w.managed, "hooks", "g"), hook, 0o755)
			}
			callersEnvironment(t)
			w.fire(w.load().Set)
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, variable := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				name, value, _ := strings.Cut(variable, "=")
				if name == "PWD" || name == "SHLVL" || name == "_" || name == "OLDPWD" { // the shell's own
					continue
				}
				row := hookenv.Lookup(name)
				if row == nil || !strings.Contains(row.Whose, letter) {
					t.Errorf("%s is passed", variable)
					continue
				}
				if row.From != "caller" && value == "caller" && (letter == "M" || row.From == "hookd") {
					t.Errorf("%s has the caller's value", name)
				}
				if letter == "M" && name == "HOME" && value == w.home {
					t.Errorf("HOME is the caller's")
				}
			}
		})
	}
}

// callersEnvironment gives every variable of the table, and some that are in none,
// a value of the caller's.
func callersEnvironment(t *testing.T) {
	for _, v := range hookenv.Variables {
		if name := strings.Replace(v.Name, "*", "ALL", 1); name != "PATH" && name != "HOME" && name != "HOOK_DEPTH" && name != "TMPDIR" {
			t.Setenv(name, "caller")
		}
	}
	for _, name := range []string{"LD_LIBRARY_PATH", "BASH_ENV", "GIT_DIR", "AWS_SECRET", "VIRTUAL_ENV", "LANGUAGE", "PYTHONHOME"} {
		t.Setenv(name, "/nonexistent")
	}
}
