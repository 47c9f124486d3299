//go:build unix

package install

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRandomFoldersComeBack: hooks that are files of their own go into 500 folders of each
// agent that look like those of people. A file of the person's is never overwritten, whatever
// it is; a second installation changes nothing; a removal leaves what was there before.
func TestRandomFoldersComeBack(t *testing.T) {
	if dir, err := os.MkdirTemp("/dev/shm", "hookd-install-"); err == nil { // in memory: each file is synced
		t.Cleanup(func() { os.RemoveAll(dir) })
		t.Setenv("TMPDIR", dir)
	}
	for _, a := range Agents {
		if a.layout.style != scripts && a.layout.style != plugin {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			refused := uint64(0)
			for seed := range uint64(randomFiles) {
				if !comesBack(t, a, seed) {
					refused++
				}
			}
			if refused == randomFiles || a.layout.style == plugin && refused == 0 {
				t.Errorf("%d of %d were refused", refused, randomFiles)
			}
		})
	}
}

// comesBack tries one folder, and reports whether hookd could be installed.
func comesBack(t *testing.T, a *Agent, seed uint64) (installed bool) {
	t.Helper()
	in := here(t)
	r := rand.New(rand.NewPCG(seed, uint64(len(a.Name))))
	scope := pick(r, User, Project)
	randomFolders(t, in, a, scope, r)
	everything := func() []string {
		return append(tree(t, in.Places.Home), tree(t, in.Places.Project)...)
	}
	before := everything()
	plan, err := in.Plan(Request{Agent: a, Scope: scope, Program: "/opt/hookd"})
	if err == nil {
		_, err = in.Apply(plan)
	}
	if err != nil {
		var told *FileError
		if now := everything(); !errors.As(err, &told) || told.Remedy == "" || !slices.Equal(now, before) {
			t.Fatalf("seed %d: %v\n%q\nwas\n%q", seed, err, now, before)
		}
		return false
	}
	during := everything()
	for _, was := range before {
		if !slices.Contains(during, was) {
			t.Fatalf("seed %d: %q is not there as it was:\n%q", seed, was, during)
		}
	}
	if again := install(t, in, a, scope); again.Changes() || !slices.Equal(everything(), during) {
		t.Fatalf("seed %d: a second installation changes something", seed)
	}
	uninstall(t, in, a, scope)
	if now := everything(); !slices.Equal(now, before) {
		t.Fatalf("seed %d: left\n%q\nwas\n%q", seed, now, before)
	}
	return true
}

// randomFolders puts files of a person's where hooks of an agent lie, some of them under the
// very names that hookd needs.
func randomFolders(t *testing.T, in *Installer, a *Agent, scope Scope, r *rand.Rand) {
	t.Helper()
	for _, dir := range []string{in.Places.Home, in.Places.Project} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, path := range a.Paths(in.Places, scope) {
		if a.layout.style == plugin {
			names = append(names, path)
			continue
		}
		for _, row := range a.Dialect.Rows {
			names = append(names, filepath.Join(path, in.Places.scriptName(row.Name)))
		}
	}
	for i := range r.IntN(4) {
		names = append(names, filepath.Join(filepath.Dir(names[0]), pick(r, "hookd.js", "mine.ts", ".hookd-new-x", "with blank", "ключ", "PreToolUse.bak")+fmt.Sprint(i)))
	}
	for _, name := range names {
		if r.IntN(3*len(names)) > len(names) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), pick(r, os.FileMode(0o755), 0o700)); err != nil {
			t.Fatal(err)
		}
		text := pick(r, "", "#!/bin/sh\nexec mine\n", "#!/bin/sh\r\nhookd bridge cline PreToolUse\r\n", "export default 1", "\xff\x00\xfe", strings.Repeat("x", 5000), "// Made by hookd uninstall", "\xef\xbb\xbf#!/bin/sh")
		var err error
		switch r.IntN(12) {
		case 0:
			err = os.Mkdir(name, 0o755)
		case 1:
			err = os.Symlink("nowhere", name)
		case 2:
			target := filepath.Join(filepath.Dir(name), "target-of-"+filepath.Base(name))
			err = errors.Join(os.WriteFile(target, []byte(text), 0o600), os.Symlink(filepath.Base(target), name))
		default:
			err = os.WriteFile(name, []byte(text), pick(r, os.FileMode(0o644), 0o755, 0o600, 0o400))
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
}
