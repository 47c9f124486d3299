package loader

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/workspace"
)

// What was remembered of a working directory is found anew when anything changes that
// decides it, and not for what the agent does there.
func TestProjectsAreFoundAnew(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, state := filepath.Join(top, "home"), filepath.Join(top, "state")
	outer, inner := filepath.Join(home, "outer"), filepath.Join(home, "outer", "a", "inner")
	make := func(path string) {
		t.Helper()
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	make(filepath.Join(outer, ".acai"))
	make(inner)
	make(state)
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", state)
	var p Projects
	is := func(when, want string) {
		t.Helper()
		if got, err := p.Of(inner); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", when, got, err, want)
		}
	}
	remembered := func(when string, want bool) {
		t.Helper()
		known, ok := p.found[inner]
		if ok = ok && !known.grounds.Changed(); ok != want {
			t.Errorf("%s: remembered: %v", when, ok)
		}
	}
	is("at first", outer)
	time.Sleep(150 * time.Millisecond) // what changed a moment ago is not remembered
	is("again", outer)
	remembered("again", true)
	if err := os.WriteFile(filepath.Join(inner, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remembered("a file was written", true)

	make(filepath.Join(inner, ".acai"))
	remembered("a nearer project", false)
	is("a nearer project", inner)
	if err := os.RemoveAll(filepath.Join(inner, ".acai")); err != nil {
		t.Fatal(err)
	}
	is("it is gone", outer)
	time.Sleep(150 * time.Millisecond)
	is("it is gone", outer)
	remembered("it is gone", true)

	if err := os.Chmod(filepath.Join(outer, "a"), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	remembered("a shared folder", false)
	is("a shared folder", "")
	if err := os.Chmod(filepath.Join(outer, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	is("shared no more", outer)

	// A record of a project that vanished is one, too.
	make(filepath.Join(inner, ".acai", "hooks"))
	if err := os.WriteFile(filepath.Join(inner, ".acai", "hooks", "guard.sh"), []byte("#!/bin/sh\n# hook: events=tool-call-start\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	trust, err := OpenTrust(Options{Cwd: inner})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := trust.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Allow(plan); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(inner, ".acai")); err != nil {
		t.Fatal(err)
	}
	is("a record", inner)

	// The worktree's own file names another folder, which is not looked at here.
	if err := os.WriteFile(filepath.Join(inner, workspace.GitName), []byte("gitdir: /x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	is("a worktree", inner)
	if _, ok := p.found[inner]; ok {
		t.Error("a worktree is remembered")
	}
}

// The projects of several folders: the first that lies in one, and those of the others that
// a person allowed something of. What a load finds is the same.
func TestProjectsOfSeveralFolders(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(top, "state"))
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"one/.acai", "two/.acai/hooks", "two/sub", "strange/.acai", "none", "home", "state"} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("two/.acai/hooks/guard.sh"), []byte("#!/bin/sh\n# hook: events=tool-call-start\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	trust, err := OpenTrust(Options{Cwd: at("two")})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := trust.Plan(t.Context())
	if err == nil {
		err = trust.Allow(plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		folders []string
		project string
		also    []string
	}{
		{[]string{"none"}, "", nil},
		{[]string{"one", "none", "strange"}, "one", nil},
		{[]string{"one", "two/sub", "two"}, "one", []string{"two"}},
		{[]string{"none", "two/sub/gone/for good", "one"}, "two", nil},
		{[]string{"none", "strange", "two"}, "strange", []string{"two"}},
	} {
		var p Projects
		var folders, also []string
		for _, name := range test.folders {
			folders = append(folders, at(name))
		}
		for _, name := range test.also {
			also = append(also, at(name))
		}
		project := test.project
		if project != "" {
			project = at(project)
		}
		gotProject, gotAlso, err := p.Among(folders)
		if err != nil || gotProject != project || !slices.Equal(gotAlso, also) {
			t.Errorf("%q: %q and %q, %v", test.folders, gotProject, gotAlso, err)
		}
		loaded, err := OpenTrust(Options{Cwd: folders[0], Also: folders[1:]})
		if err != nil || loaded.Project() != project || !slices.Equal(loaded.loader.Outer, also) {
			t.Errorf("%q: a load finds %q and %q, %v", test.folders, loaded.Project(), loaded.loader.Outer, err)
		}
	}
}
