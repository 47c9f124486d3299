//go:build unix

package meet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	state := t.TempDir()
	private, shared := t.TempDir(), t.TempDir()
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, runtimeDir, want string }{
		{"own runtime folder", private, filepath.Join(private, "hookd")},
		{"none", "", filepath.Join(state, "run")},
		{"open to others", shared, filepath.Join(state, "run")},
		{"not there", filepath.Join(private, "no"), filepath.Join(state, "run")},
		{"relative", "run", filepath.Join(state, "run")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", tt.runtimeDir)
			one, err := Path("/project/one", state)
			if err != nil || filepath.Dir(one) != tt.want || filepath.Ext(one) != ".sock" {
				t.Errorf("got %s, %v; want it in %s", one, err, tt.want)
			}
			if two, _ := Path("/project/two", state); two == one {
				t.Error("two projects have the same socket")
			}
			if again, _ := Path("/project/one", state); again != one {
				t.Error("the same project has two sockets")
			}
		})
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	if _, err := Path("/project", ""); err == nil {
		t.Error("a path without any folder")
	}
}

// The project is the nearest folder with .acai; home is none, and nothing is looked for
// above it.
func TestProjectIsTheNearestFolder(t *testing.T) {
	top := t.TempDir()
	home := filepath.Join(top, "home")
	for _, dir := range []string{"home/.acai", "home/a/.acai", "home/a/b/c", "home/d", ".acai", "home/l"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "d", ".acai"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]string{"home/a/b/c": "home/a", "home/a": "home/a", "home/d": "", "home": ""} {
		got := strings.TrimPrefix(Project(filepath.Join(top, cwd), home), top+"/")
		if got != want {
			t.Errorf("%s: %q, want %q", cwd, got, want)
		}
	}
	if got := Project(filepath.Join(top, "home"), "/nowhere"); got != home {
		t.Errorf("%q", got)
	}
}
