//go:build unix

package loader

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
)

func TestPlaces(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(top, "home")
	for _, dir := range []string{
		"home/.acai", "home/plain/deep", "home/a/.acai", "home/a/b/.acai", "home/a/b/c",
		"home/été und mehr/.acai", "home/été und mehr/x", "home/file", "home/gone/sub", "out/.acai", "out/x", "foreign/.acai", "foreign/x",
		"out/foreign/x", "theirs/.acai", "theirs/x", "open/.acai", "open/x", "shared/.acai", "shared/x/y", "shared/p/.acai", "shared/p/q",
	} {
		os.MkdirAll(filepath.Join(top, dir), 0o755)
	}
	os.WriteFile(filepath.Join(home, "file", ".acai"), nil, 0o644)
	os.Symlink(filepath.Join(home, "a", "b"), filepath.Join(top, "link"))
	os.Mkdir(filepath.Join(home, "loop"), 0o755)
	os.Symlink(workspace.FolderName, filepath.Join(home, "loop", workspace.FolderName))
	os.Chmod(filepath.Join(top, "open", workspace.FolderName), 0o777)
	os.Chmod(filepath.Join(top, "shared"), 0o777|os.ModeSticky)
	root := os.Geteuid() == 0
	if root {
		for _, dir := range []string{"foreign", "out/foreign", "theirs/" + workspace.FolderName} {
			os.Chown(filepath.Join(top, dir), 12345, 12345)
		}
	}
	tests := []struct {
		name, explicit, cwd string
		recorded            []string
		want                string
		err                 string
	}{
		{"nearest, one above it that nobody allowed", "", "home/a/b/c", nil, "home/a/b !home/a", ""},
		{"recorded above nearest", "", "home/a/b/c", []string{"home/a"}, "home/a/b home/a", ""},
		{"both recorded", "", "home/a/b/c", []string{"home/a", "home/a/b"}, "home/a/b home/a", ""},
		{"itself", "", "home/a", nil, "home/a", ""},
		{"home is none", "", "home/plain/deep", nil, "", ""},
		{"home itself is none", "", "home", nil, "", ""},
		{"home recorded is none", "", "home/plain", []string{"home"}, "", ""},
		{"a file named .acai is none", "", "home/file", nil, "", ""},
		{"a .acai that cannot be looked at is not none", "", "home/loop", nil, "", "too many levels"},
		{"but a record rules", "", "home/loop", []string{"home/loop"}, "home/loop", ""},
		{".acai vanished, still recorded", "", "home/gone/sub", []string{"home/gone"}, "home/gone", ""},
		{"other letters", "", "home/été und mehr/x", nil, "home/été und mehr", ""},
		{"outside of home", "", "out/x", nil, "out", ""},
		{"through a link", "", "link/c", nil, "home/a/b !home/a", ""},
		{"explicit", "../..", "home/a/b/c", nil, "home/a", ""},
		{"explicit, one above it recorded", "home/a/b", ".", []string{"home/a"}, "home/a/b home/a", ""},
		{"explicit without .acai", "home/plain", ".", nil, "home/plain", ""},
		{"explicit home", "home", ".", nil, "", "home folder"},
		{"explicit nowhere", "nowhere", ".", nil, "", "no such folder"},
		{"explicit file", "home/file/.acai", ".", nil, "", "not a folder"},
		{"writable by all", "", "open/x", nil, "!open", ""},
		{"below a shared folder", "", "shared/x/y", nil, "!shared", ""},
		{"in a shared folder", "", "shared", nil, "!shared", ""},
		{"recorded behind a shared folder", "", "shared/x", []string{"shared"}, "!!shared", ""},
		{"a project below a shared folder", "", "shared/p/q", nil, "shared/p !shared", ""},
	}
	if root {
		tests = append(tests, []struct {
			name, explicit, cwd string
			recorded            []string
			want                string
			err                 string
		}{
			{"another's folder", "", "foreign/x", nil, "!foreign", ""},
			{"another's folder recorded", "", "foreign/x", []string{"foreign"}, "!!foreign", ""},
			{"another's folder explicit", "foreign", ".", nil, "", "another user"},
			{"above another's folder", "", "out/foreign/x", []string{"out"}, "!!out", ""},
			{"another's .acai", "", "theirs/x", nil, "!theirs", ""},
		}...)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &workspace.Search{Home: home, Checks: ownership.User(), Recorded: func(project string) bool {
				return slices.ContainsFunc(test.recorded, func(r string) bool { return filepath.Join(top, r) == project })
			}}
			find := func() (workspace.Workspace, error) { return s.From(filepath.Join(top, test.cwd)) }
			if test.explicit != "" {
				find = func() (workspace.Workspace, error) { return s.Explicit(test.explicit, filepath.Join(top, test.cwd)) }
			}
			found, err := find()
			got := []string{found.Project}
			got = append(got, found.Outer...)
			for _, o := range found.Ignored {
				mark := "!"
				if o.Recorded {
					mark = "!!"
				}
				got = append(got, mark+o.Folder)
			}
			words := strings.TrimSpace(strings.ReplaceAll(strings.Join(got, " "), top+"/", ""))
			if words != test.want {
				t.Errorf("places %q, want %q", words, test.want)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

// Records that cannot be looked at may be about any folder: what was allowed
// there must not be merely absent.
func TestUnreadableRecordsCount(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trust")
	if (records.Folder{Dir: dir}).Recorded("/project") {
		t.Error("a folder that is not there holds a record")
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !(records.Folder{Dir: dir}).Recorded("/project") {
		t.Error("records that cannot be looked at count as none")
	}
}

// H11: a working directory that is gone is called that.
func TestWorkingDirectoryGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	os.Mkdir(dir, 0o755)
	os.Remove(dir)
	_, err := newLoader(Options{Cwd: dir, Home: "/nonexistent", StateDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "working directory missing") {
		t.Errorf("error %v", err)
	}
}

func TestInterpreter(t *testing.T) {
	bin := t.TempDir()
	os.WriteFile(filepath.Join(bin, "tool"), []byte("#!/bin/sh\n"), 0o755)
	os.WriteFile(filepath.Join(bin, "data"), nil, 0o644)
	tests := []struct{ head, want, why string }{
		{"#!/bin/sh\n", "/bin/sh", ""},
		{"#! /bin/sh -eu\n", "/bin/sh", ""},
		{"#!\t/bin/sh\t-x", "/bin/sh", ""},
		{"#!/usr/bin/env tool\n", filepath.Join(bin, "tool"), ""},
		{"#!/usr/bin/env -S tool -x\n", filepath.Join(bin, "tool"), ""},
		{"#!/usr/bin/env -Stool -x\n", filepath.Join(bin, "tool"), ""},
		{"#!/usr/bin/env -S A=b tool\n", filepath.Join(bin, "tool"), ""},
		{"#!/usr/bin/env -S PATH=/x tool\n", "", "cannot tell"},
		{"#!/usr/bin/env -i tool\n", "", "blanks in its name"},
		{"#!/usr/bin/env -S -i tool\n", "", "cannot tell"},
		{"#!/usr/bin/env data\n", "", "not found"},
		{"#!/usr/bin/env\n", "", "no program behind env"},
		{"#!/usr/bin/env ./tool\n", "", "not found"},
		{"\x7fELF\x02\x01", "", ""},
		{"\xcf\xfa\xed\xfe\x07", "", ""},
		{"#!\n", "", "names no interpreter"},
		{"#!/bin/sh\r\n", "", "carriage return"},
		{"#!/bin/\x00sh\n", "", "NUL"},
		{"#!" + "/bin/" + strings.Repeat("x", 300) + "\n", "", "longer than"},
		{"echo hi\n", "", "no interpreter line"},
		{"", "", "empty"},
	}
	for _, test := range tests {
		p, bad := interpreter.ReadProgram([]byte(test.head))
		got := ""
		if bad == nil {
			got, bad = p.Interpreter("relative:" + bin)
		}
		why := ""
		if bad != nil {
			got, why = "", bad.Why
			if bad.Remedy == "" {
				t.Errorf("%q: no remedy", test.head)
			}
		}
		if got != test.want || !strings.Contains(why, test.why) || (why == "") != (test.why == "") {
			t.Errorf("%q: %q, %q; want %q, %q", test.head, got, why, test.want, test.why)
		}
	}
}

// A script's interpreter must not lie in the project: it could be changed there
// without any change to the script.
func TestPlantedInterpreter(t *testing.T) {
	for name, head := range map[string]func(w *world) string{
		"by its path": func(w *world) string { return "#!" + w.path("bin", "sh") },
		"by a link": func(w *world) string {
			os.Symlink("/bin/sh", w.path("bin", "link"))
			return "#!" + w.path("bin", "link")
		},
		"by env and hooks.path": func(w *world) string {
			w.settings(`{"hooks":{"path":["./bin"]}}`)
			return "#!/usr/bin/env planted"
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, program := range []string{"sh", "planted"} {
				w.write(w.path("bin", program), "#!/bin/sh\n", 0o755)
			}
			w.hook("guard.sh", head(w)+"\n# hook: events=tool-call-start can=block\n")
			if got := planItem(w.plan(), "guard.sh").Problem; got == nil {
				t.Error("it can be allowed")
			}
			if err := w.trust().Allow(w.plan()); err == nil {
				t.Error("it was allowed")
			}
			if got := status(w.load(), "guard.sh"); got != "broken!spawn" {
				t.Errorf("status %s", got)
			}
		})
	}
}
