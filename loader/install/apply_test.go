package install

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// here returns an installer in temporary folders.
func here(t *testing.T) *Installer {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"home", "project", "system", "state"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return in(dir)
}

func in(dir string) *Installer {
	return &Installer{State: filepath.Join(dir, "state"), Places: Places{Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), System: filepath.Join(dir, "system"), OS: "linux"}}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func install(t *testing.T, in *Installer, a *Agent, s Scope) *Plan {
	t.Helper()
	p, err := in.Plan(Request{Agent: a, Scope: s, Program: "/opt/hookd", Version: Version{999, 0, 0}})
	if err == nil {
		_, err = in.Apply(p)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", a.Name, s, err)
	}
	return p
}

func uninstall(t *testing.T, in *Installer, a *Agent, s Scope) *Plan {
	t.Helper()
	p, err := in.PlanRemoval(a, s)
	if err == nil {
		_, err = in.Apply(p)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", a.Name, s, err)
	}
	return p
}

// tree lists every file and folder below one, with its mode and contents.
func tree(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(path, root) + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			line += " " + read(t, path)
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestEveryAgentAndScope: into nothing, and out of it again without a trace.
func TestEveryAgentAndScope(t *testing.T) {
	in := here(t)
	folders := []string{in.Places.Home, in.Places.Project, in.Places.System}
	count := 0
	for _, a := range Agents {
		for _, s := range Scopes {
			if !a.Has(in.Places, s) {
				continue
			}
			count++
			var before [][]string
			for _, dir := range folders {
				before = append(before, tree(t, dir))
			}
			p := install(t, in, a, s)
			status := in.StatusOf(a, s)
			if len(status.Entries) == 0 || status.Err != nil || len(status.Entries) != len(p.Events) {
				t.Errorf("%s %s: %d entries for %d events, %v", a.Name, s, len(status.Entries), len(p.Events), status.Err)
			}
			if again := install(t, in, a, s); again.Changes() {
				t.Errorf("%s %s: a second installation changes something", a.Name, s)
			}
			uninstall(t, in, a, s)
			for i, dir := range folders {
				if now := tree(t, dir); !slices.Equal(now, before[i]) {
					t.Errorf("%s %s left\n%s\nwant\n%s", a.Name, s, strings.Join(now, "\n"), strings.Join(before[i], "\n"))
				}
			}
		}
	}
	if count < 35 {
		t.Errorf("%d pairs of agent and scope", count)
	}
	if r, err := in.store().records(); err != nil || len(r.Files) != 0 {
		t.Errorf("records are left: %+v, %v", r, err)
	}
}

// TestFilesOfPeopleComeBack does with real files what TestRandomFilesComeBack does with
// texts, and keeps links and modes.
func TestFilesOfPeopleComeBack(t *testing.T) {
	for _, a := range Agents {
		if a.layout.style == scripts || a.layout.style == plugin {
			continue
		}
		in := here(t)
		f := a.layout.files(in.Places, User)[0]
		for seed := range uint64(8) {
			text := randomFile(a, f.format, seed)
			target := filepath.Join(in.Places.Home, "dotfiles", a.Name+strconv.Itoa(int(seed)))
			write(t, target, text)
			if err := os.Chmod(target, 0o640); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(f.path), 0o755), os.Symlink(target, f.path)); err != nil {
				t.Fatal(err)
			}
			p := install(t, in, a, User)
			if len(in.StatusOf(a, User).Entries) != len(p.Events) {
				t.Fatalf("%s: %d entries", a.Name, len(in.StatusOf(a, User).Entries))
			}
			if info, err := os.Lstat(f.path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v", err)
			}
			if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the mode is %v, %v", info.Mode(), err)
			}
			if p.Files[0].Real != target {
				t.Errorf("the plan names %s", p.Files[0].Real)
			}
			uninstall(t, in, a, User)
			if got := read(t, target); got != text {
				t.Errorf("%s, seed %d: %q, want %q", a.Name, seed, got, text)
			}
			if err := os.Remove(f.path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestWithoutARecord: in a copy of a project hookd is taken out of the files that the
// project carries.
func TestWithoutARecord(t *testing.T) {
	for _, a := range Agents {
		in := here(t)
		if !a.Has(in.Places, Project) {
			continue
		}
		path := a.Paths(in.Places, Project)[0]
		own := a.layout.style == scripts || strings.Contains(path, "hookd.") || a.Name == "goose"
		const text = "{\n  \"mine\": 1\n}\n"
		if !own {
			write(t, path, text)
		}
		install(t, in, a, Project)
		if err := os.RemoveAll(in.store().folder()); err != nil {
			t.Fatal(err)
		}
		uninstall(t, in, a, Project)
		if own {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				t.Errorf("%s: %s is still there: %s", a.Name, path, read(t, path))
			}
		} else if got := read(t, path); got != text && !strings.Contains(got, `"version": 1`) {
			t.Errorf("%s: %q", a.Name, got)
		}
	}
}

// TestWhatIsAddedMeanwhileStays: a hook that the person puts after ours.
func TestWhatIsAddedMeanwhileStays(t *testing.T) {
	in := here(t)
	a := Find("claude")
	path := a.Paths(in.Places, User)[0]
	write(t, path, "{}\n")
	install(t, in, a, User)
	d, err := configtext.Read(configtext.JSON, []byte(read(t, path)))
	if err == nil {
		d, err = d.Add(configtext.Names("hooks", "Stop"), configtext.Fields{{Name: "hooks", Value: []any{configtext.Fields{{Name: "type", Value: "command"}, {Name: "command", Value: "mine"}}}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(d.Text))
	uninstall(t, in, a, User)
	const want = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"mine\"\n          }\n        ]\n      }\n    ]\n  }\n}\n"
	if got := read(t, path); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestNothingIsOverwritten: a file that changed after the plan, and one that appeared.
func TestNothingIsOverwritten(t *testing.T) {
	for _, before := range []string{"", "{}"} {
		in := here(t)
		a := Find("gemini")
		path := a.Paths(in.Places, User)[0]
		if before != "" {
			write(t, path, before)
		}
		p, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"})
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, `{"new": 1}`)
		if _, err := in.Apply(p); !errors.Is(err, ErrChanged) || read(t, path) != `{"new": 1}` {
			t.Errorf("%v, %s", err, read(t, path))
		}
		// At the last moment, too.
		if p, err = in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"}); err != nil {
			t.Fatal(err)
		}
		in.reached = func(step string) {
			if step == "temporary" {
				write(t, path, `{"newer": 1}`)
			}
		}
		if _, err := in.Apply(p); !errors.Is(err, ErrChanged) || read(t, path) != `{"newer": 1}` {
			t.Errorf("%v, %s", err, read(t, path))
		}
		checkNoTemporary(t, filepath.Dir(path))
	}
}

func checkNoTemporary(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".new-") {
			t.Errorf("%s is left", entry.Name())
		}
	}
}

// TestKilledAtEachStep: the file is the old one or the new one, and both commands work
// afterwards as if nothing had been.
func TestKilledAtEachStep(t *testing.T) {
	if dir := os.Getenv("INSTALL_TEST_DIR"); dir != "" {
		dieInApply(dir, os.Getenv("INSTALL_TEST_STEP"), os.Getenv("INSTALL_TEST_REMOVE") != "")
	}
	const text = "{\n  \"hooks\": {},\n  \"mine\": [ ]\n}"
	for _, removal := range []bool{false, true} {
		for _, step := range []string{"backup", "record", "folder", "temporary", "file"} {
			if removal && (step == "record" || step == "folder") {
				continue
			}
			in := here(t)
			a := Find("claude")
			path := a.Paths(in.Places, User)[0]
			write(t, path, text)
			p, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"})
			if err != nil {
				t.Fatal(err)
			}
			after := string(p.Files[0].After)
			if removal {
				install(t, in, a, User)
			}
			c := exec.Command(os.Args[0], "-test.run", "^TestKilledAtEachStep$")
			c.Env = append(os.Environ(), "INSTALL_TEST_DIR="+filepath.Dir(in.State), "INSTALL_TEST_STEP="+step)
			if removal {
				c.Env = append(c.Env, "INSTALL_TEST_REMOVE=1")
			}
			out, err := c.CombinedOutput()
			if c.ProcessState.ExitCode() != 9 {
				t.Fatalf("%s: %v %s", step, err, out)
			}
			if got := read(t, path); got != text && !strings.Contains(got, "PreToolUse") || !removal && got != text && len(got) != len(after) {
				t.Errorf("killed at %s: %s", step, got)
			}
			if removal {
				uninstall(t, in, a, User)
				if got := read(t, path); got != text {
					t.Errorf("killed at %s of a removal, then removed: %q", step, got)
				}
			}
			install(t, in, a, User)
			if install(t, in, a, User).Changes() {
				t.Errorf("killed at %s: not idempotent", step)
			}
			uninstall(t, in, a, User)
			if got := read(t, path); got != text {
				t.Errorf("killed at %s: %q, want %q", step, got, text)
			}
		}
	}
}

func dieInApply(dir, at string, removal bool) {
	in := in(dir)
	in.reached = func(step string) {
		if step == at {
			os.Exit(9)
		}
	}
	a := Find(cmp.Or(os.Getenv("INSTALL_TEST_AGENT"), "claude"))
	p, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"})
	if removal {
		p, err = in.PlanRemoval(a, User)
	}
	if err == nil {
		_, err = in.Apply(p)
	}
	println("survived", err)
	os.Exit(1)
}

// TestKilledInstallationIsTakenOutWhole: what was made for a file that never came, or was
// about to, is removed, too, and nothing of a maker that is alive.
func TestKilledInstallationIsTakenOutWhole(t *testing.T) {
	for _, name := range []string{"claude", "cline", "goose", "opencode"} {
		for _, step := range []string{"record", "folder", "temporary", "file"} {
			in := here(t)
			a := Find(name)
			if err := os.MkdirAll(in.Places.Home, 0o755); err != nil {
				t.Fatal(err)
			}
			before := tree(t, in.Places.Home)
			c := exec.Command(os.Args[0], "-test.run", "^TestKilledAtEachStep$")
			c.Env = append(os.Environ(), "INSTALL_TEST_DIR="+filepath.Dir(in.State), "INSTALL_TEST_STEP="+step, "INSTALL_TEST_AGENT="+name)
			if out, err := c.CombinedOutput(); c.ProcessState.ExitCode() != 9 {
				t.Fatalf("%s: %v %s", step, err, out)
			}
			if step == "temporary" { // one that came to its end in between
				install(t, in, a, User)
			}
			uninstall(t, in, a, User)
			if err := in.Tidy(a, User); err != nil {
				t.Error(err)
			}
			if after := tree(t, in.Places.Home); !slices.Equal(after, before) {
				t.Errorf("%s killed at %s: left %v", name, step, after)
			}
			if known, err := in.store().records(); err != nil || len(known.Files) > 0 {
				t.Errorf("%s killed at %s: records %+v, %v", name, step, known, err)
			}
		}
	}
}

// TestTwoAtOnce: one writes, the other finds it done or says that the file changed.
func TestTwoAtOnce(t *testing.T) {
	in := here(t)
	a := Find("claude")
	path := a.Paths(in.Places, User)[0]
	write(t, path, "{\"a\": 1}")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			p, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd", Version: Version{999, 0, 0}})
			if err == nil {
				_, err = in.Apply(p)
			}
			if err != nil && !errors.Is(err, ErrChanged) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(in.StatusOf(a, User).Entries); n == 0 || install(t, in, a, User).Changes() {
		t.Errorf("%d entries", n)
	}
	uninstall(t, in, a, User)
	if got := read(t, path); got != "{\"a\": 1}" {
		t.Errorf("%q", got)
	}
}

// TestHostilePlaces: what cannot be edited is said with the place and a remedy, and left.
func TestHostilePlaces(t *testing.T) {
	a := Find("claude")
	for name, prepare := range map[string]func(t *testing.T, path string){
		"a folder": func(t *testing.T, path string) {
			if err := os.MkdirAll(filepath.Join(path, "x"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"read-only": func(t *testing.T, path string) {
			write(t, path, "{}")
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
		},
		"a link to nowhere": func(t *testing.T, path string) {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink("/nowhere/at/all", path)); err != nil {
				t.Fatal(err)
			}
		},
		"a file in place of the folder": func(t *testing.T, path string) { write(t, filepath.Dir(path), "x") },
		"a link to itself": func(t *testing.T, path string) {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(filepath.Base(path), path)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := here(t)
			path := a.Paths(in.Places, User)[0]
			prepare(t, path)
			before := tree(t, in.Places.Home)
			p, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"})
			if err == nil {
				_, err = in.Apply(p)
			}
			var file *FileError
			if !errors.As(err, &file) || file.Remedy == "" {
				t.Errorf("%v", err)
			}
			if now := tree(t, in.Places.Home); !slices.Equal(now, before) {
				t.Errorf("%q, was %q", now, before)
			}
		})
	}
}

// TestOwnerIsKept: root installs for a file of another user; another user does not.
func TestOwnerIsKept(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	in := here(t)
	a := Find("claude")
	path := a.Paths(in.Places, User)[0]
	write(t, path, "{}")
	if err := os.Chown(path, 4321, 4322); err != nil {
		t.Fatal(err)
	}
	install(t, in, a, User)
	if owner := ownerOf(t, path); owner != "4321:4322" {
		t.Errorf("the file belongs to %s", owner)
	}
	uninstall(t, in, a, User)
	if owner := ownerOf(t, path); owner != "4321:4322" || read(t, path) != "{}" {
		t.Errorf("the file belongs to %s: %s", owner, read(t, path))
	}
}

// TestScriptsOfOthersStay: a person's script for the same event, and one of ours that was
// changed by hand.
func TestScriptsOfOthersStay(t *testing.T) {
	in := here(t)
	a := Find("cline")
	folders := a.Paths(in.Places, Project)
	write(t, filepath.Join(folders[0], "PreToolUse"), "#!/bin/sh\nmine\n")
	install(t, in, a, Project)
	if got := read(t, filepath.Join(folders[0], "PreToolUse")); got != "#!/bin/sh\nmine\n" {
		t.Error(got)
	}
	script := filepath.Join(folders[1], "PreToolUse")
	if info, err := os.Stat(script); err != nil || info.Mode()&0o111 == 0 || !strings.Contains(read(t, script), "exec /opt/hookd bridge cline PreToolUse --limit 30s\n") {
		t.Errorf("%v", err)
	}
	changed := filepath.Join(folders[0], "PostToolUse")
	write(t, changed, read(t, changed)+"# more\n")
	p := uninstall(t, in, a, Project)
	if !bytes.Contains([]byte(read(t, changed)), []byte("# more")) || len(p.Notes) != 1 {
		t.Errorf("%+v", p.Notes)
	}
	if _, err := os.Stat(script); err == nil {
		t.Error("our script is still there")
	}
}

// TestFactorySettingsKeepTheirHooks: a hooks.json would take the place of the hooks in the
// settings, so those are edited.
func TestFactorySettingsKeepTheirHooks(t *testing.T) {
	in := here(t)
	a := Find("factory")
	settings := filepath.Join(in.Places.Home, ".factory", "settings.json")
	write(t, settings, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}`)
	if p := install(t, in, a, User); p.Files[0].Path != settings {
		t.Errorf("%s was edited", p.Files[0].Path)
	}
}

// TestFactoryReadsEventsAtTheRoot: Droid does not look below hooks in a hooks.json, as its
// version 0.225 says in its log. So the events are at the root, entries that an older hookd
// put below hooks are found, reported and moved, and a person's hooks in the settings, which
// such a file leaves in force, stay in force.
func TestFactoryReadsEventsAtTheRoot(t *testing.T) {
	in := here(t)
	a := Find("factory")
	file := filepath.Join(in.Places.Home, ".factory", "hooks.json")
	install(t, in, a, User)
	if got := read(t, file); !strings.HasPrefix(got, "{\n  \"PreToolUse\": [") || strings.Contains(got, "\n  \"hooks\"") {
		t.Errorf("the events are not at the root:\n%s", got)
	}
	if problems := in.Problems(in.StatusOf(a, User), Version{}); len(problems) > 0 && strings.Contains(problems[0].Text, "root") {
		t.Errorf("%+v", problems)
	}
	uninstall(t, in, a, User)

	write(t, file, `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "/opt/hookd bridge factory PreToolUse --limit 60s", "timeout": 60}]}]}, "mine": 1}`)
	told := ""
	for _, p := range in.Problems(in.StatusOf(a, User), Version{}) {
		told += p.Text + "\n"
	}
	if !strings.Contains(told, "does not start hookd for PreToolUse: it reads events at the root of this file, not below hooks") {
		t.Errorf("an entry that Droid does not read is not reported: %s", told)
	}
	install(t, in, a, User)
	for _, e := range in.StatusOf(a, User).Entries {
		if e.unread {
			t.Errorf("the entry of %s is still below hooks:\n%s", e.Event, read(t, file))
		}
	}
	uninstall(t, in, a, User)
	if got := read(t, file); strings.Contains(got, "hookd bridge") || !strings.Contains(got, `"mine": 1`) {
		t.Errorf("after the removal: %s", got)
	}

	settings := filepath.Join(in.Places.Home, ".factory", "settings.json")
	write(t, settings, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}`)
	write(t, file, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "never read"}]}]}}`)
	if p := install(t, in, a, User); p.Files[0].Path != settings {
		t.Errorf("%s was edited, so that the hooks of the settings do not count any more", p.Files[0].Path)
	}
}
