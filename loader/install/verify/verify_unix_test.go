//go:build unix

package verify

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/internal/program/hashed"
	"github.com/hookd-dev/hookd/loader/install"
)

// world is a person's home, a project, and a hookd that was installed into agents.
type world struct {
	t                                *testing.T
	base, home, project, state, path string
	hookd                            string
	installer                        *install.Installer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, base: base, home: filepath.Join(base, "home"), project: filepath.Join(base, "p"), state: filepath.Join(base, "state"), path: filepath.Join(base, "bin")}
	for _, dir := range []string{w.home, w.project, w.state, w.path, filepath.Join(base, "sys")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.hookd = filepath.Join(w.path, "hookd")
	w.write(w.hookd, "#!/bin/sh\nexit 0\n", 0o755)
	if _, err := hashed.Write(w.state, w.hookd); err != nil {
		t.Fatal(err)
	}
	w.installer = &install.Installer{State: w.state, Places: install.Places{Home: w.home, Project: w.project, System: filepath.Join(base, "sys"), OS: runtime.GOOS}}
	return w
}

func (w *world) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) homeFile(name, text string) { w.write(filepath.Join(w.home, name), text, 0o644) }

// install installs hookd into an agent and returns the file.
func (w *world) install(agent string, scope install.Scope, version install.Version) string {
	w.t.Helper()
	plan, err := w.installer.Plan(install.Request{Agent: install.Find(agent), Scope: scope, Program: w.hookd, Version: version})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.installer.Apply(plan); err != nil {
		w.t.Fatal(err)
	}
	return plan.Files[0].Path
}

// edit changes the text of a file; the change must change something.
func (w *world) edit(file string, change func(string) string) {
	w.t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	after := change(string(before))
	if after == string(before) {
		w.t.Fatalf("nothing changed in %s", before)
	}
	w.write(file, after, 0o644)
}

func replace(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

func replaceAll(pattern, with string) func(string) string {
	return func(s string) string { return regexp.MustCompile(pattern).ReplaceAllString(s, with) }
}

// verify returns the only result for an agent; nothing is started.
func (w *world) verify(agent string, scope install.Scope) Result {
	w.t.Helper()
	v := Verifier{Installer: w.installer, State: w.state}
	for _, r := range v.Verify(context.Background(), []*install.Agent{install.Find(agent)}) {
		if r.Scope == scope {
			return r
		}
	}
	w.t.Fatalf("no result for %s", agent)
	return Result{}
}

func texts(r Result) string {
	var all []string
	for _, p := range append(slices.Clone(r.Problems), r.Doubts...) {
		if p.Remedy == "" || p.Check == "" {
			all = append(all, "WITHOUT REMEDY OR NAME")
		}
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

var newest = install.Version{Major: 9, Minor: 9, Patch: 9}

// An installation as it should be is plausible, for every agent.
func TestWholeInstallsArePlausible(t *testing.T) {
	for _, a := range install.Agents {
		w := newWorld(t)
		if !a.Has(w.installer.Places, install.User) {
			continue
		}
		if a.Name == "opencode" || a.Name == "pi" {
			continue // they have plug-ins, whose text is not of this package
		}
		file := w.install(a.Name, install.User, newest)
		if a.Name == "codex" {
			w.trustCodex(file, 99)
		}
		if r := w.verify(a.Name, install.User); r.Verdict != Plausible {
			t.Errorf("%s: %s\n%s", a.Name, r.Verdict, texts(r))
		}
	}
}

// Broken installations, each found with the words that name the fault.
func TestBrokenInstallsAreFound(t *testing.T) {
	const user, project = install.User, install.Project
	for _, c := range []struct {
		name, agent string
		scope       install.Scope
		plant       func(w *world, file string)
		verdict     Verdict
		words       string
	}{
		{"program gone", "claude", user, func(w *world, _ string) { _ = os.Remove(w.hookd) }, Broken, "cannot start hookd"},
		{"program replaced", "claude", user, func(w *world, _ string) { w.write(w.hookd, "#!/bin/sh\necho evil\n", 0o755) }, Broken, "another hash"},
		{"program not executable", "claude", user, func(w *world, _ string) { _ = os.Chmod(w.hookd, 0o644) }, Broken, "not executable"},
		{"another program", "gemini", user, func(w *world, file string) {
			other := filepath.Join(w.base, "other", "hookd")
			w.write(other, "#!/bin/sh\necho other\n", 0o755)
			w.edit(file, func(s string) string { return strings.ReplaceAll(s, w.hookd, other) })
		}, Broken, "not the program that was installed"},
		{"some events only", "claude", user, func(w *world, file string) { w.edit(file, replace(`"PreToolUse"`, `"PreToolUseX"`)) }, Broken, "not started for PreToolUse"},
		{"after another's allow", "factory", user, func(w *world, file string) {
			w.edit(file, replaceAll(`"PreToolUse":\s*\[`, `"PreToolUse": [{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'"}]},`))
		}, Broken, "it allows"},
		{"matcher that never matches", "claude", user, func(w *world, file string) {
			w.edit(file, replaceAll(`("PreToolUse":\s*\[\s*\{)`, `$1"matcher":"NoSuchTool",`))
		}, Broken, "never matches"},
		{"matcher for one tool", "claude", user, func(w *world, file string) {
			w.edit(file, replaceAll(`("PreToolUse":\s*\[\s*\{)`, `$1"matcher":"Bash",`))
		}, CannotSay, "for Bash only"},
		{"time-out smaller than the limit", "claude", user, func(w *world, file string) { w.edit(file, replaceAll(`"timeout":\s*\d+`, `"timeout": 1`)) }, Broken, "can come too late"},
		{"limit missing", "claude", user, func(w *world, file string) {
			w.edit(file, replaceAll(` --limit \w+`, ``))
			w.edit(file, replaceAll(`"timeout":\s*\d+`, `"timeout": 1`))
		}, Broken, "--limit is missing"},
		{"more than hookd's command", "claude", user, func(w *world, file string) {
			w.edit(file, replaceAll(`(PreToolUse --limit \w+)"`, `$1 || true"`))
		}, Broken, "has more than hookd's command, and what hookd answers may be lost: || true"},
		{"output thrown away", "codex", user, func(w *world, file string) {
			w.edit(file, replaceAll(`(PreToolUse --limit \w+)"`, `$1 >/dev/null"`))
			w.trustCodex(file, 99)
		}, Broken, "may be lost: >/dev/null"},
		{"wrong agent name", "claude", user, func(w *world, file string) { w.edit(file, replaceAll(`bridge claude`, `bridge gemini`)) }, Broken, "speaks the words of"},
		{"disableAllHooks", "claude", user, func(w *world, file string) { w.edit(file, replace("{", `{"disableAllHooks": true,`)) }, Broken, "disableAllHooks"},
		{"disableAllHooks in the project", "claude", user, func(w *world, _ string) {
			w.write(filepath.Join(w.project, ".claude/settings.local.json"), `{"disableAllHooks":true}`, 0o644)
		}, Broken, "disableAllHooks"},
		{"allowManagedHooksOnly", "claude", user, func(w *world, _ string) {
			w.write(install.Find("claude").Paths(w.installer.Places, install.Managed)[0], `{"allowManagedHooksOnly":true}`, 0o644)
		}, Broken, "managed hooks only"},
		{"hooksConfig.enabled", "gemini", user, func(w *world, file string) { w.edit(file, replace("{", `{"hooksConfig":{"enabled":false},`)) }, Broken, "hooksConfig.enabled"},
		{"hooksConfig.disabled", "gemini", user, func(w *world, file string) {
			w.edit(file, replace("{", `{"hooksConfig":{"disabled":["hookd"]},`))
		}, Broken, "hooksConfig.disabled"},
		{"untrusted folder (gemini)", "gemini", project, func(w *world, _ string) {
			w.homeFile(".gemini/settings.json", `{"security":{"folderTrust":{"enabled":true}}}`)
			w.homeFile(".gemini/trustedFolders.json", `{"`+w.base+`":"TRUST_FOLDER","`+w.project+`":"DO_NOT_TRUST"}`)
		}, Broken, "does not trust the folder"},
		{"untrusted folder (claude)", "claude", project, func(w *world, _ string) {
			w.homeFile(".claude.json", `{"projects":{"`+w.project+`":{"hasTrustDialogAccepted":false}}}`)
		}, Broken, "does not trust the folder"},
		{"hooks not trusted", "codex", user, func(*world, string) {}, Broken, "not told to trust"},
		{"some hooks not trusted", "codex", user, func(w *world, file string) { w.trustCodex(file, 2) }, Broken, "trust 11 of the 13 hooks"},
		{"hooks changed after they were trusted", "codex", user, func(w *world, file string) {
			w.trustCodex(file, 99)
			w.edit(file, replaceAll(`PreToolUse --limit 600s`, `PreToolUse --limit 500s`))
		}, Broken, "another form of hookd's hooks for PreToolUse:"},
		{"other hooks trusted", "codex", user, func(w *world, file string) {
			w.trustCodex(file, 99)
			w.edit(file, replaceAll(`--limit (\d+)s`, `--limit=${1}s`))
		}, CannotSay, "no hash is theirs"},
		{"hooks switched off one by one", "codex", user, func(w *world, file string) {
			w.trustCodex(file, 99)
			w.edit(filepath.Join(w.home, ".codex/config.toml"), replace("trusted_hash", "enabled = false\ntrusted_hash"))
		}, Broken, "switched off in Codex"},
		{"features.hooks", "codex", user, func(w *world, file string) {
			w.trustCodex(file, 99)
			w.edit(filepath.Join(w.home, ".codex/config.toml"), func(s string) string { return "[features]\nhooks = false\n" + s })
		}, Broken, "features.hooks"},
		{"file that cannot be read as JSON", "claude", user, func(w *world, file string) { w.edit(file, func(s string) string { return s[:len(s)/2] }) }, Broken, "cannot be read"},
		{"file not readable by us", "claude", user, func(w *world, file string) {
			_ = os.Remove(file)
			if err := os.Symlink(filepath.Base(file), file); err != nil { // in a circle: also root cannot read it
				w.t.Fatal(err)
			}
		}, Broken, "nobody can say whether hookd is in it"},
		{"shadowed by the project's file", "openhands", user, func(w *world, _ string) {
			w.write(filepath.Join(w.project, ".openhands/hooks.json"), `{"hooks":{}}`, 0o644)
		}, Broken, "shadows"},
		{"doubled entries", "claude", user, func(w *world, file string) {
			w.edit(file, replaceAll(`("PreToolUse":\s*\[)`, `$1{"hooks":[{"type":"command","command":"`+w.hookd+` bridge claude PreToolUse --limit 60s","timeout":60}]},`))
		}, Broken, "twice"},
		{"mods", "claude", user, func(w *world, _ string) {
			w.homeFile(".claude/mods/x.mjs", `export default ({on}) => { on("tool.call", "Bash", ($, e, next) => next()); }`)
		}, CannotSay, "can overrule"},
		{"record of the program stale", "claude", user, func(w *world, _ string) {
			other := filepath.Join(w.base, "old", "hookd")
			w.write(other, "#!/bin/sh\nexit 0\n", 0o755)
			if _, err := hashed.Write(w.state, other); err != nil {
				w.t.Fatal(err)
			}
			_ = os.Remove(other)
		}, Broken, "stale"},
		{"async", "claude", user, func(w *world, file string) {
			w.edit(file, replace(`"type": "command"`, `"async": true, "type": "command"`))
		}, Broken, "does not wait"},
	} {
		w := newWorld(t)
		w.t = t
		file := w.install(c.agent, c.scope, newest)
		c.plant(w, file)
		r := w.verify(c.agent, c.scope)
		if r.Verdict != c.verdict || !strings.Contains(texts(r), c.words) || strings.Contains(texts(r), "WITHOUT") {
			t.Errorf("%s: %s\n%s", c.name, r.Verdict, texts(r))
		}
	}
}

// An agent that is too old is asked for its version, and found.
func TestAgentThatIsTooOldIsFound(t *testing.T) {
	w := newWorld(t)
	w.install("claude", install.User, newest)
	w.write(filepath.Join(w.path, "claude"), "#!/bin/sh\necho 0.2.1\n", 0o755)
	rt := newRuntime(t)
	v := Verifier{Installer: w.installer, State: w.state, Environ: []string{"PATH=" + w.path, "HOME=" + w.home}, Run: rt}
	r := v.Verify(t.Context(), []*install.Agent{install.Find("claude")})[0]
	if r.Verdict != Broken || !strings.Contains(texts(r), "runs no hooks: they came with") || r.Version != "0.2.1" {
		t.Errorf("%+v", r)
	}
	// Without a program nothing is said against it, and nothing for it.
	if err := os.Remove(filepath.Join(w.path, "claude")); err != nil {
		t.Fatal(err)
	}
	if r := v.Verify(t.Context(), []*install.Agent{install.Find("claude")})[0]; r.Verdict != CannotSay || !strings.Contains(texts(r), "not on PATH") {
		t.Errorf("%+v", r)
	}
}

func newRuntime(t *testing.T) *process.Runtime {
	t.Helper()
	rt, err := process.New(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

// proof verifies with an agent that is this script.
func (w *world) proof(t *testing.T, script string) Result {
	t.Helper()
	w.write(filepath.Join(w.path, "claude"), "#!/bin/sh\ncase $1 in --version) echo 9.9.9; exit;; esac\n"+script, 0o755)
	v := Verifier{Installer: w.installer, State: w.state, Environ: []string{"PATH=" + w.path + ":/usr/bin:/bin", "HOME=" + w.home, "ANTHROPIC_API_KEY=secret"}, Run: newRuntime(t), Prove: true}
	return v.Verify(t.Context(), []*install.Agent{install.Find("claude")})[0]
}

// The mark of the agent's own hook call is the proof. Nothing of it is left afterwards.
func TestProof(t *testing.T) {
	w := newWorld(t)
	w.install("claude", install.User, newest)
	// The bridge leaves its mark; here the hook that the agent starts does it in its place.
	mark := `printf 'alone\tclaude\tSessionStart\t` + w.hookd + `\n' >"` + w.state + `/verify/$HOOKD_VERIFY.taken"` + "\n"
	began := time.Now()
	r := w.proof(t, `env >`+w.base+`/env; pwd >`+w.base+`/pwd; `+mark+"sleep 600\n")
	if r.Verdict != Proved || !strings.Contains(r.Proof, "SessionStart") || time.Since(began) > 20*time.Second {
		t.Errorf("%+v after %s", r, time.Since(began))
	}
	env, _ := os.ReadFile(filepath.Join(w.base, "env"))
	if strings.Contains(string(env), "secret") || !strings.Contains(string(env), "ANTHROPIC_BASE_URL="+nowhere) {
		t.Errorf("environment: %s", env)
	}
	dir, _ := os.ReadFile(filepath.Join(w.base, "pwd"))
	if _, err := os.Stat(strings.TrimSpace(string(dir))); !os.IsNotExist(err) {
		t.Errorf("the folder %s is left", dir)
	}
	if entries, _ := os.ReadDir(filepath.Join(w.state, "verify")); len(entries) > 0 {
		t.Errorf("markers are left: %v", entries)
	}
	if out, _ := exec.Command("pgrep", "-f", "sleep 600").Output(); strings.Contains(string(out), w.base) {
		t.Errorf("left running: %s", out)
	}

	// Of an agent that ends without calling hookd it cannot be said: it may not have come so far.
	if r := w.proof(t, "echo not logged in >&2; exit 7\n"); r.Verdict != CannotSay || !strings.Contains(texts(r), "did not call hookd: it ended with exit code 7, and said: not logged in") {
		t.Errorf("%+v", r)
	}
	// One whose hook calls as another agent, too.
	if r := w.proof(t, strings.Replace(mark, "claude", "codex", 1)); r.Verdict != Broken || !strings.Contains(texts(r), "as codex") {
		t.Errorf("%+v", r)
	}
	// A broken installation is not started at all.
	if err := os.Remove(w.hookd); err != nil {
		t.Fatal(err)
	}
	if r := w.proof(t, "touch "+w.base+"/started\n"); r.Verdict != Broken || r.Proof != "" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(w.base, "started")); err == nil {
		t.Error("the agent was started")
	}
}

func TestExit(t *testing.T) {
	for want, verdicts := range map[int][]Verdict{
		0: {Proved, Plausible}, 2: {Proved, CannotSay, Broken}, 4: {Plausible, CannotSay},
	} {
		var results []Result
		for _, v := range verdicts {
			results = append(results, Result{Verdict: v})
		}
		if got := Exit(results); got != want {
			t.Errorf("%v: %d", verdicts, got)
		}
	}
	if Exit([]Result{{Verdict: Absent}}) != ExitCannotSay || Exit(nil) != ExitAlive {
		t.Error("absent, none")
	}
}
