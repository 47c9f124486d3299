//go:build unix

package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// TestAProjectLeadsNowhereElse: a clone brings links that lead to files of the person. What
// is installed in the project, or taken out of it, stays in it.
func TestAProjectLeadsNowhereElse(t *testing.T) {
	for _, a := range Agents {
		in := here(t)
		if !a.Has(in.Places, Project) {
			continue
		}
		file := a.Paths(in.Places, Project)[0]
		outside := filepath.Join(in.Places.Home, "private")
		if err := os.MkdirAll(outside, 0o700); err != nil {
			t.Fatal(err)
		}
		below, err := filepath.Rel(in.Places.Project, file)
		if err != nil {
			t.Fatal(err)
		}
		// The first folder below the project, or the file itself, is a link.
		first, rest, nested := strings.Cut(below, string(filepath.Separator))
		link := filepath.Join(in.Places.Project, first)
		target := outside
		if !nested {
			target = filepath.Join(outside, first)
			if err := os.WriteFile(target, []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(outside, filepath.Dir(rest)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		before := tree(t, in.Places.Home)
		_, err = in.Plan(Request{Agent: a, Scope: Project, Program: "/usr/bin/hookd"})
		var told *FileError
		if !errors.As(err, &told) || !errors.Is(err, ErrOutside) || !strings.Contains(told.Error(), outside) || told.Remedy == "" {
			t.Errorf("%s: %v", a.Name, err)
		}
		if after := tree(t, in.Places.Home); !slices.Equal(after, before) {
			t.Errorf("%s: something was written:\n%s", a.Name, after)
		}

		// What lies there is the person's own installation: it is not taken out through the project.
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		plan, err := in.Plan(Request{Agent: a, Scope: Project, Program: "/usr/bin/hookd"})
		if err != nil {
			t.Fatal(a.Name, err)
		}
		if _, err := in.Apply(plan); err != nil {
			t.Fatal(a.Name, err)
		}
		moved := filepath.Join(outside, "moved")
		if err := os.Rename(link, moved); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(moved, link); err != nil {
			t.Fatal(err)
		}
		before = tree(t, in.Places.Home)
		if _, err := in.PlanRemoval(a, Project); !errors.Is(err, ErrOutside) {
			t.Errorf("%s: removal: %v", a.Name, err)
		}
		if after := tree(t, in.Places.Home); !slices.Equal(after, before) {
			t.Errorf("%s: something was taken out:\n%s", a.Name, after)
		}
	}
}

// TestAPathThatNoSettingsCanHold: such a hookd is not installed, and the settings stay.
func TestAPathThatNoSettingsCanHold(t *testing.T) {
	in := here(t)
	for _, program := range []string{"/new\nline/hookd", "/\xff/hookd", "/\x1b[2J/hookd", "/tab\t/hookd"} {
		for _, a := range Agents {
			_, err := in.Plan(Request{Agent: a, Scope: User, Program: program})
			var told *FileError
			if !errors.As(err, &told) || told.Remedy == "" || strings.ContainsAny(told.Error(), "\n\x1b\t") || !utf8.ValidString(told.Error()) {
				t.Errorf("%q in %s: %v", program, a.Name, err)
			}
		}
	}
}

// TestAnInstallationWaitsForAnother, and says so when that does not end.
func TestAnInstallationWaitsForAnother(t *testing.T) {
	in := here(t)
	plan, err := in.Plan(Request{Agent: Find("claude"), Scope: User, Program: "/usr/bin/hookd"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := in.store().lock()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := in.Apply(plan); done <- err }()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestEveryUserMayReadTheMachinesSettings: whatever the administrator's mask is; and who may
// not read a file is told so.
func TestEveryUserMayReadTheMachinesSettings(t *testing.T) {
	in := here(t)
	in.Places.System = filepath.Join(filepath.Dir(in.State), "machine")
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for _, a := range Agents {
		if !a.Has(in.Places, Managed) {
			continue
		}
		plan := install(t, in, a, Managed)
		for dir := plan.Files[0].Real; dir != in.Places.System; dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o004 == 0 {
				t.Errorf("%s: %s, %v, %v", a.Name, dir, info.Mode(), err)
			}
		}
	}
	file := Find("claude").Paths(in.Places, User)[0]
	install(t, in, Find("claude"), User)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the person's mask does not count for %s: %v, %v", file, info.Mode(), err)
	}
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		return // root reads everything
	}
	found := in.Problems(in.StatusOf(Find("claude"), User), Version{})
	if len(found) != 1 || !strings.Contains(found[0].Text, "nobody can say whether hookd is in it") {
		t.Errorf("%+v", found)
	}
}

// TestAFullDiskIsNamed: with what helps, and the file is left as it is.
func TestAFullDiskIsNamed(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{syscall.ENOSPC: "make room on that disk", syscall.EDQUOT: "make room on that disk", syscall.EROFS: "read-only", syscall.EACCES: "writable for you"} {
		var told *FileError
		err := wrote(&Change{Path: "/x"}, &fs.PathError{Op: "write", Path: "/x/.new", Err: errno})
		if !errors.As(err, &told) || !strings.Contains(told.Remedy, want) || !strings.Contains(told.Remedy, "left as it is") || strings.Contains(told.Error(), ".new") {
			t.Errorf("%v: %v, %+v", errno, err, told)
		}
	}
}
