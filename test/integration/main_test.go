// Package integration runs the real hookd binary: stories (testdata/*.txtar)
// that read as a person would type them, the fault kit, and tables that hold
// the documentation to what the program does.
package integration

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// binary is the hookd that every test here runs, built as releases are.
var binary string

type suite struct{ m *testing.M }

func (s suite) Run() int {
	folder, err := os.MkdirTemp("", "hookd-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "hookd")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := goBuild("-o", binary, module+"/cmd/hookd").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building hookd: %v\n%s", err, out)
		return 1
	}
	return s.m.Run()
}

// goBuild returns a build as releases are built. What vet and staticcheck have compiled is
// what it needs: with other flags every package would be compiled once more.
func goBuild(args ...string) *exec.Cmd {
	build := exec.Command("go", append([]string{"build", "-trimpath"}, args...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return build
}

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, programs)
}

// programs are commands that the test binary itself is, when run by their name.
var programs = map[string]func(){}

// lookAtSources makes the go command see what the binary is made of. It keeps a
// test's result until a file changes that the test has looked at; without this,
// that of an older hookd.
func lookAtSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(root(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" || d.Name() == "bin" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil // a work tree's .git is a file
		}
		_, err = os.Stat(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// root is the module's folder.
func root(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
