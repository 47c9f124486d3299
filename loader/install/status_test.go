package install

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
)

// program writes an executable file.
func program(t *testing.T, path, text string) string {
	t.Helper()
	write(t, path, text)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProblemsAreFound: what keeps installed hooks from working, each with its place.
func TestProblemsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		agent   string
		version Version
		breaks  func(t *testing.T, in *Installer, hookd string)
		want    string
	}{
		"nothing":               {"claude", Version{2, 1, 328}, func(*testing.T, *Installer, string) {}, ""},
		"the program is gone":   {"claude", Version{2, 1, 328}, func(t *testing.T, _ *Installer, hookd string) { _ = os.Remove(hookd) }, "cannot start hookd"},
		"it cannot be executed": {"claude", Version{2, 1, 328}, func(t *testing.T, _ *Installer, hookd string) { _ = os.Chmod(hookd, 0o644) }, "not executable"},
		"switched off":          {"claude", Version{2, 1, 328}, replaceIn("{", `{"disableAllHooks": true,`), "disableAllHooks is true"},
		"switched off in the project": {"claude", Version{2, 1, 328}, func(t *testing.T, in *Installer, _ string) {
			write(t, filepath.Join(in.Places.Project, ".claude/settings.local.json"), "{\n\"disableAllHooks\": true}")
		}, "settings.local.json:2"},
		"managed only": {"claude", Version{2, 1, 328}, func(t *testing.T, in *Installer, _ string) {
			write(t, filepath.Join(in.Places.System, "/etc/claude-code/managed-settings.json"), `{"allowManagedHooksOnly": true}`)
		}, "managed hooks only"},
		"too old":               {"claude", Version{1, 0, 30}, func(*testing.T, *Installer, string) {}, "runs no hooks"},
		"an event missing":      {"claude", Version{2, 1, 328}, replaceIn(`"PreToolUse"`, `"Elsewhere"`), "not started for PreToolUse"},
		"another agent's words": {"claude", Version{2, 1, 328}, replaceIn("bridge claude Stop", "bridge gemini Stop"), `words of "gemini"`},
		"a limit too short":     {"claude", Version{2, 1, 328}, replaceIn(`"timeout": 600`, `"timeout": 60`), "its answer can come too late"},
		"unreadable":            {"claude", Version{2, 1, 328}, replaceIn("]", ""), "cannot be read"},
		"codex features": {"codex", Version{0, 170, 0}, func(t *testing.T, in *Installer, _ string) {
			write(t, filepath.Join(in.Places.Home, ".codex/config.toml"), "[features]\nhooks = false\n")
		}, "features.hooks is false"},
		"gemini disabled": {"gemini", Version{0, 61, 0}, replaceIn("{", `{"hooksConfig": {"disabled": ["hookd"]},`), "names hookd"},
	} {
		t.Run(name, func(t *testing.T) {
			in := here(t)
			hookd := program(t, filepath.Join(in.Places.Home, "bin", "hookd"), "#!/bin/sh\n")
			a := Find(test.agent)
			p, err := in.Plan(Request{Agent: a, Scope: User, Program: hookd, Version: Version{999, 0, 0}})
			if err == nil {
				_, err = in.Apply(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			test.breaks(t, in, hookd)
			var found []string
			for _, p := range in.Problems(in.StatusOf(a, User), test.version) {
				found = append(found, p.File+":"+string(rune('0'+min(p.Line, 9)))+" "+p.Text)
				if p.Remedy == "" {
					t.Errorf("no remedy: %s", p.Text)
				}
			}
			if all := strings.Join(found, "\n"); test.want == "" && all != "" || !strings.Contains(all, test.want) {
				t.Errorf("found %q, want %q", all, test.want)
			}
		})
	}
}

func replaceIn(old, with string) func(*testing.T, *Installer, string) {
	return func(t *testing.T, in *Installer, _ string) {
		for _, path := range []string{".claude/settings.json", ".gemini/settings.json"} {
			path = filepath.Join(in.Places.Home, path)
			if text, err := os.ReadFile(path); err == nil {
				write(t, path, strings.Replace(string(text), old, with, 1))
			}
		}
	}
}

// TestVersionsAreAsked: of the program on PATH, bounded, never of one in the project.
func TestVersionsAreAsked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	in := here(t)
	rt, err := process.New(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	bin := filepath.Join(in.Places.Home, "bin")
	program(t, filepath.Join(bin, "claude"), "#!/bin/sh\n[ \"$1\" = --version ] && pwd && echo '2.1.328 (Claude Code)'\n")
	program(t, filepath.Join(bin, "codex"), "#!/bin/sh\necho codex-cli 0.169.0\nexit 1\n")
	program(t, filepath.Join(bin, "qwen"), "#!/bin/sh\necho dev build\n")
	trap := filepath.Join(in.Places.Project, "bin")
	program(t, filepath.Join(trap, "gemini"), "#!/bin/sh\ntouch "+in.Places.Project+"/ran\necho 1.0.0\n")
	write(t, filepath.Join(in.Places.Home, ".gemini", "settings.json"), "{}")
	environ := []string{"PATH=" + trap + ":" + bin + ":/usr/bin:/bin", "HOME=" + in.Places.Home}
	began := time.Now()
	found := map[string]Found{}
	for _, f := range in.Detect(context.Background(), rt, environ) {
		found[f.Agent.Name] = f
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
	if v := found["claude"].Version; v != (Version{2, 1, 328}) {
		t.Errorf("claude is %v", v)
	}
	if f := found["codex"]; f.Version.Known() || !strings.Contains(f.Problem, "exit code 1") {
		t.Errorf("%+v", f)
	}
	if f := found["qwen"]; f.Version.Known() || !strings.Contains(f.Problem, "no version") {
		t.Errorf("%+v", f)
	}
	if f := found["gemini"]; f.Program != "" || f.Folder != filepath.Join(in.Places.Home, ".gemini") {
		t.Errorf("%+v", f)
	}
	if _, err := os.Stat(in.Places.Project + "/ran"); err == nil {
		t.Error("a program of the project ran")
	}
	if _, here := found["cursor"]; here {
		t.Error("cursor is not here")
	}
}

// TestEventsOfVersions: an old version gets fewer events, an unknown one those of all.
func TestEventsOfVersions(t *testing.T) {
	names := func(agent string, v Version) (names []string) {
		events, _ := Find(agent).Events(v)
		for _, e := range events {
			names = append(names, e.Name)
		}
		return names
	}
	if old := names("claude", Version{1, 0, 38}); !slices.Equal(old, []string{"PreToolUse", "PostToolUse", "Stop", "Notification"}) || !slices.Equal(old, names("claude", Version{})) {
		t.Errorf("%q", old)
	}
	if all := names("claude", Version{2, 1, 332}); len(all) != len(Find("claude").Dialect.Rows) {
		t.Errorf("%q", all)
	}
	if cursor := names("cursor", Version{1, 7, 0}); !slices.Contains(cursor, "beforeReadFile") || slices.Contains(cursor, "preToolUse") {
		t.Errorf("%q", cursor)
	}
	// Left out for want of a version, preToolUse would leave the guards of calls unasked.
	if cursor := names("cursor", Version{}); slices.Contains(cursor, "beforeReadFile") || !slices.Contains(cursor, "preToolUse") {
		t.Errorf("%q", cursor)
	}
	if cursor := names("cursor", Version{2, 5, 0}); slices.Contains(cursor, "beforeReadFile") || !slices.Contains(cursor, "preToolUse") {
		t.Errorf("%q", cursor)
	}
	for version, blocks := range map[Version]bool{{2, 1, 294}: false, {2, 1, 295}: true, {}: false} {
		events, _ := Find("claude").Events(version)
		if events[0].Block != blocks {
			t.Errorf("%v: a failure blocks: %v", version, events[0].Block)
		}
	}
	// A new event of these agents needs a version: one that they do not know can cost all hooks
	// of a file.
	for agent, always := range map[string]int{"claude": 4, "codex": 6, "cursor": 6} {
		a := Find(agent)
		if dated := len(a.events.since); dated+always != len(a.Dialect.Rows) {
			t.Errorf("%s has %d events, %d of them with the version that has them first, and %d from the beginning", agent, len(a.Dialect.Rows), dated, always)
		}
	}
	for _, a := range Agents {
		for name := range a.events.since {
			if a.Dialect.Row(name) == nil {
				t.Errorf("%s has no event %s", a.Name, name)
			}
		}
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"2.1.328 (Claude Code)": {2, 1, 328}, "codex-cli 0.169.0": {0, 169, 0}, "v1.2": {1, 2, 0}, "goose 1.38.0\n": {1, 38, 0},
		"2026.01.28-fd13201": {2026, 1, 28}, "none": {}, "": {}, "99999999.1": {}, "crush version v0.96.1": {0, 96, 1},
	} {
		if got := ParseVersion(text); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
