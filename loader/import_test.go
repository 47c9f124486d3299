//go:build unix

package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// importWorld is a world whose allowed settings import hooks of some agents.
func importWorld(t testing.TB, agents ...string) *world {
	w := newWorld(t)
	w.settings(`{"hooks":{"import":["` + strings.Join(agents, `","`) + `"]}}`)
	w.allow("settings/acai")
	return w
}

func (w *world) claude(text string) {
	w.t.Helper()
	w.write(w.path(".claude", "settings.json"), text, 0o644)
}

// claudeGuard are settings of Claude Code with one guard of the shell.
func claudeGuard(command string) string {
	return fmt.Sprintf(`{"theme":"dark","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":%q}]}]}}`, command)
}

const importedGuard = "claude:PreToolUse:guard.sh"

const refusing = "#!/bin/sh\necho 'not this' >&2\nexit 2\n"

// Nothing of a project's imported hooks runs before it was allowed, and the guard among
// them refuses. Afterwards it is asked; what is edited refuses again.
func TestImportedHooksCountAfterTheyWereAllowed(t *testing.T) {
	w := importWorld(t, "claude")
	mark := filepath.Join(w.home, "mark")
	w.write(w.path("guard.sh"), marker(mark, "#!/bin/sh\n"), 0o755)
	w.claude(claudeGuard("./guard.sh"))
	s := w.load()
	if got := status(s, importedGuard); got != "untrusted!untrusted" {
		t.Fatalf("before it was allowed it is %q", got)
	}
	if o := w.fire(s.Set); o.Action != protocol.Block || exists(mark) {
		t.Fatalf("%s %s; ran: %v", o.Action, o.Reason, exists(mark))
	}
	item := planItem(w.plan(), importedGuard)
	if len(item.Files) != 1 || item.Files[0].Name != "guard.sh" || !strings.Contains(string(item.Now.Entry), "./guard.sh") {
		t.Fatalf("shown: %+v", item)
	}
	w.allow(importedGuard)
	s = w.load()
	if o := w.fire(s.Set); o.Action != protocol.Observe || !exists(mark) || status(s, importedGuard) != "ready" {
		t.Fatalf("%s %s; ran: %v; %s", o.Action, o.Reason, exists(mark), status(s, importedGuard))
	}
	if h := find(s, importedGuard); h.Imported == nil || h.Imported.Agent != "claude" || h.Imported.Line != 1 || !strings.HasSuffix(h.Imported.File, ".claude/settings.json") {
		t.Errorf("imported from %+v", h.Imported)
	}

	for what, change := range map[string]func(){
		"the script":  func() { w.write(w.path("guard.sh"), "#!/bin/sh\n", 0o755) },
		"its mode":    func() { os.Chmod(w.path("guard.sh"), 0o700) },
		"no script":   func() { w.remove(w.path("guard.sh")) },
		"the command": func() { w.claude(claudeGuard("./guard.sh || true")) },
		"the matcher": func() { w.claude(strings.Replace(claudeGuard("./guard.sh"), "Bash", "Edit", 1)) },
		"a switch": func() {
			w.claude(strings.Replace(claudeGuard("./guard.sh"), `"theme"`, `"disableAllHooks":true,"theme"`, 1))
		},
		"the entry":   func() { w.claude(`{"hooks":{}}`) },
		"the file":    func() { w.remove(w.path(".claude", "settings.json")) },
		"half a file": func() { w.claude(claudeGuard("./guard.sh")[:60]) },
		"no import":   func() { w.settings(`{"hooks":{"import":[]}}`); w.allow("settings/acai") },
	} {
		change()
		s := w.load()
		if o := w.fire(s.Set); o.Action != protocol.Block {
			t.Errorf("%s changed: %s (%s)", what, o.Action, status(s, importedGuard))
		}
		w.write(w.path("guard.sh"), marker(mark, "#!/bin/sh\n"), 0o755)
		w.claude(claudeGuard("./guard.sh"))
		w.settings(`{"hooks":{"import":["claude"]}}`)
		w.allow("settings/acai")
		if s := w.load(); status(s, importedGuard) != "ready" {
			t.Fatalf("%s, put back: %s", what, status(s, importedGuard))
		}
	}

	// What is not about hooks, and where the entry stands, changes nothing.
	w.claude(`{"theme":"light","hooks":{"Stop":[],"PreToolUse":[` + "\n" + `{"hooks":[{"command":"./guard.sh","type":"command"}],"matcher":"Bash"}]}}`)
	if s := w.load(); status(s, importedGuard) != "ready" || find(s, importedGuard).Imported.Line != 2 {
		t.Errorf("moved: %s", status(s, importedGuard))
	}
}

// The copy that was allowed is what runs, among links to its helpers.
func TestTheAllowedCopyOfAnImportedScriptRuns(t *testing.T) {
	w := importWorld(t, "claude")
	w.write(w.path(".claude", "hooks", "guard.sh"), "#!/bin/sh\n. \"$(dirname \"$0\")\"/why.sh\necho \"$why $0\" >&2\nexit 2\n", 0o755)
	w.write(w.path(".claude", "hooks", "why.sh"), "why=because\n", 0o644)
	w.claude(claudeGuard(`"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh --now`))
	w.allow(importedGuard)
	s := w.load()
	w.write(w.path(".claude", "hooks", "guard.sh"), "#!/bin/sh\nexit 0\n", 0o755) // after the load
	o := w.fire(s.Set)
	if o.Action != protocol.Block || !strings.Contains(o.Reason, "because "+w.state) {
		t.Errorf("%s: %s", o.Action, o.Reason)
	}
}

// A project's import reads the project's files, and the user's import the user's.
func TestImportsStayInTheirScope(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.home, ".claude", "settings.json"), claudeGuard("/bin/true user.sh"), 0o644)
	w.claude(claudeGuard("/bin/true project.sh"))
	const user, project = "claude:PreToolUse:true", "claude:PreToolUse:true"
	w.userSettings(`{"hooks":{"import":["claude"]}}`)
	s := w.load()
	if len(s.Hooks) != 1 || s.Hooks[0].Name != user || s.Hooks[0].Layer != protocol.User {
		t.Fatalf("the user imports %v", names(s.Set))
	}
	if o := w.fire(s.Set); o.Action != protocol.Observe {
		t.Errorf("the user's hook: %s %s", o.Action, o.Reason)
	}
	w.remove(filepath.Join(w.home, ".acai"))
	w.settings(`{"hooks":{"import":["claude"]}}`)
	w.allow("settings/acai", project)
	if s = w.load(); len(s.Hooks) != 1 || s.Hooks[0].Layer != protocol.Project {
		t.Fatalf("the project imports %v", names(s.Set))
	}
}

// What the project's settings import and nobody allowed runs nothing and refuses as a
// guard that waits.
func TestAnImportThatNobodyAllowedRefuses(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(w.home, "mark")
	w.settings(`{"hooks":{"import":["claude","kodelet"]}}`)
	w.claude(claudeGuard("touch " + mark))
	w.write(w.path(".kodelet", "hooks", "guard"), marker(mark, "#!/bin/sh\n"), 0o755)
	s := w.load()
	if o := w.fire(s.Set); o.Action != protocol.Block || exists(mark) {
		t.Errorf("%s; ran: %v", o.Action, exists(mark))
	}
	for _, name := range []string{"claude:PreToolUse:touch", "kodelet:guard"} {
		if status(s, name) != "untrusted!untrusted" {
			t.Errorf("%s is %q", name, status(s, name))
		}
	}
	if o := w.fireEvent(s.Set, protocol.ToolCallEnd, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{},"result":{"content":"x","isError":false},"durationMs":1,"synthetic":false}`); o.Action != protocol.Observe {
		t.Errorf("a hook of another event refuses: %s", o.Reason)
	}
}

// Files that are no settings a person could mean are findings, refuse what their hooks
// could have refused, and are never waited for.
func TestHostileFilesOfOtherAgents(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for name, test := range map[string]struct {
		make func(w *world, path string)
		want string
	}{
		"10 MB":             {func(w *world, p string) { w.write(p, claudeGuard("x")+strings.Repeat(" ", 10<<20), 0o644) }, "larger than"},
		"deep":              {func(w *world, p string) { w.write(p, `{"x":`+deep+`}`, 0o644) }, "deep"},
		"a key twice":       {func(w *world, p string) { w.write(p, `{"hooks":{},"hooks":{"PreToolUse":[]}}`, 0o644) }, "twice"},
		"an event twice":    {func(w *world, p string) { w.write(p, `{"hooks":{"Stop":[],"Stop":[]}}`, 0o644) }, "twice"},
		"no object":         {func(w *world, p string) { w.write(p, `[1]`, 0o644) }, "not an object"},
		"no JSON":           {func(w *world, p string) { w.write(p, `{"hooks":`, 0o644) }, "not valid JSON"},
		"empty":             {func(w *world, p string) { w.write(p, ``, 0o644) }, "empty"},
		"UTF-16":            {func(w *world, p string) { w.write(p, "\xff\xfe{\x00}\x00", 0o644) }, "UTF-8"},
		"hooks is a string": {func(w *world, p string) { w.write(p, `{"hooks":"x"}`, 0o644) }, "not an object"},
		"a folder":          {func(w *world, p string) { os.MkdirAll(p, 0o755) }, "folder"},
		"a FIFO":            {func(w *world, p string) { os.MkdirAll(filepath.Dir(p), 0o755); syscall.Mkfifo(p, 0o644) }, "named pipe"},
		"writable by all":   {func(w *world, p string) { w.write(p, claudeGuard("x"), 0o666) }, "writable by others"},
		"a link out of the project": {func(w *world, p string) {
			w.write(filepath.Join(w.home, "own.json"), claudeGuard("x"), 0o644)
			os.MkdirAll(filepath.Dir(p), 0o755)
			os.Symlink(filepath.Join(w.home, "own.json"), p)
		}, "leads out of the project"},
		"a link to nothing": {func(w *world, p string) {
			os.MkdirAll(filepath.Dir(p), 0o755)
			os.Symlink("nothing", p)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := importWorld(t, "claude")
			test.make(w, w.path(".claude", "settings.json"))
			began := time.Now()
			s := w.load()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			o := w.fire(s.Set)
			if test.want == "" {
				if o.Action != protocol.Observe || len(s.Findings) > 0 {
					t.Errorf("%s, %v", o.Action, lines(s.Findings))
				}
				return
			}
			if o.Action != protocol.Block {
				t.Errorf("passed: %s", o.Action)
			}
			for _, f := range s.Findings {
				if f.Code == string(report.ImportUnreadable) && strings.Contains(f.Message, test.want) && f.Remedy != "" && strings.HasSuffix(f.File, "settings.json") {
					return
				}
			}
			t.Errorf("findings: %v", lines(s.Findings))
		})
	}
}

// A command that names files outside of the project takes nothing of them along.
func TestAnImportedCommandTakesNoForeignFilesAlong(t *testing.T) {
	w := importWorld(t, "claude")
	w.write(w.path("guard.sh"), refusing, 0o755)
	w.write(filepath.Join(w.home, ".netrc"), "secret", 0o600)
	w.claude(claudeGuard(`cat /etc/passwd ../../../../etc/hostname ~/.netrc "$HOME"/.netrc; ./guard.sh < /etc/hosts`))
	item := planItem(w.plan(), "claude:PreToolUse:cat")
	for _, f := range item.Files {
		if f.Name != "guard.sh" {
			t.Errorf("it takes %s along", f.Name)
		}
	}
}

// What a shell line leaves open is said before it is allowed.
func TestWhatAnImportedLineLeavesOpenIsSaid(t *testing.T) {
	for command, want := range map[string]string{
		`$(cat which)`:                   "$(cat which)",
		`bash "$DIR/x.sh"`:               "$DIR/x.sh",
		`eval "$X"`:                      "eval starts another program",
		`python3 -c 'print(1)'`:          "python3 -c takes code",
		`npx lint`:                       "npx runs what the project says",
		`for f in *.sh; do sh $f; done`:  "$f",
		`echo "unfinished`:               "not understood",
		`"$CLAUDE_PROJECT_DIR"/guard.sh`: "",
		`jq -r .tool_name`:               "",
		`./guard.sh && exit 0`:           "",
	} {
		w := importWorld(t, "claude")
		w.write(w.path("guard.sh"), refusing, 0o755)
		w.claude(claudeGuard(command))
		plan := w.plan()
		var said []string
		for _, item := range plan.Items {
			said = append(said, item.Unwatched...)
		}
		if got := strings.Join(said, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q", command, got)
		}
	}
}

// Each agent's settings are found at their places, and those of kodelet as programs.
func TestImportsOfEachAgent(t *testing.T) {
	w := importWorld(t, "claude", "gemini", "codex", "cursor", "copilot", "openhands", "kodelet")
	for file, text := range map[string]string{
		".claude/settings.local.json": claudeGuard("/bin/true claude"),
		".gemini/settings.json":       "{\n// a comment\n" + `"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"/bin/true gemini","timeout":5000,}]}]}}`,
		".codex/hooks.json":           `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/bin/true codex"}]}]}}`,
		".codex/config.toml":          "model = \"x\"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"/bin/true toml\"\n",
		".cursor/hooks.json":          `{"version":1,"hooks":{"beforeShellExecution":[{"command":"/bin/true cursor","failClosed":true}]}}`,
		".github/hooks/a.json":        `{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"/bin/true copilot","timeoutSec":7}]}}`,
		".openhands/hooks.json":       `{"pre_tool_use":[{"hooks":[{"type":"command","command":"/bin/true openhands"}]}]}`,
	} {
		w.write(w.path(filepath.FromSlash(file)), text, 0o644)
	}
	w.write(w.path(".kodelet", "hooks", "guard"), "#!/bin/sh\ncase $1 in hook) echo before_tool_call ;; run) echo '{\"blocked\":true,\"reason\":\"kodelet says no\"}' ;; esac\n", 0o755)
	w.write(w.path(".kodelet", "hooks", "off.disable"), "#!/bin/sh\n", 0o755)
	w.write(w.path(".kodelet", "hooks", "notes"), "no program", 0o644)
	if err := w.trust().Allow(w.plan()); err != nil {
		t.Fatal(err)
	}
	s := w.load()
	limits := map[string]time.Duration{"gemini:BeforeTool:true": 5 * time.Second, "copilot:preToolUse:true": 7 * time.Second}
	for _, name := range []string{
		"claude:PreToolUse:true", "gemini:BeforeTool:true", "codex:PreToolUse:true", "codex:Stop:true", "cursor:beforeShellExecution:true",
		"copilot:preToolUse:true", "openhands:PreToolUse:true", "kodelet:guard",
	} {
		h := find(s, name)
		if h == nil || status(s, name) != "ready" {
			t.Errorf("%s is %q", name, status(s, name))
			continue
		}
		if want := limits[name]; want > 0 && h.Timeout != want {
			t.Errorf("%s may take %s, not %s", name, h.Timeout, want)
		}
	}
	if find(s, "kodelet:off.disable") != nil || find(s, "kodelet:notes") != nil {
		t.Errorf("hooks: %s", names(s.Set))
	}
	if o := w.fire(s.Set); o.Action != protocol.Block || o.Reason != "kodelet says no" {
		t.Errorf("%s by %v: %s; %v", o.Action, o.By, o.Reason, lines(s.Findings))
	}
}

// An edit of another agent's settings is noticed while hookd runs.
func TestImportedSettingsAreReloaded(t *testing.T) {
	w := newWorld(t)
	w.userSettings(`{"hooks":{"import":["claude"]}}`)
	watcher, err := Watch(context.Background(), w.options())
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	file := filepath.Join(w.home, ".claude", "settings.json")
	for i, step := range []struct {
		text string
		want protocol.Action
	}{{claudeGuard("exit 2"), protocol.Block}, {claudeGuard("exit 0"), protocol.Observe}, {`{`, protocol.Block}, {`{}`, protocol.Observe}} {
		w.write(file, step.text, 0o644)
		deadline := time.Now().Add(10 * time.Second)
		for w.fire(watcher).Action != step.want {
			if time.Now().After(deadline) {
				t.Fatalf("step %d: %s is not in force; %v", i, step.text, lines(watcher.Snapshot().Findings))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// A hook that stands in two files of one agent runs once, where that agent runs it once.
func TestRepeatedImportsRunOnce(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(w.home, "mark")
	once := claudeGuard("echo ran >>" + mark)
	w.write(filepath.Join(w.home, ".claude", "settings.json"), once, 0o644)
	w.claude(once)
	w.write(w.path(".claude", "settings.local.json"), strings.Replace(once, "Bash", "Edit|Bash", 1), 0o644)
	w.userSettings(`{"hooks":{"import":["claude"]}}`)
	w.settings(`{"hooks":{"import":["claude"]}}`)
	if err := w.trust().Allow(w.plan()); err != nil {
		t.Fatal(err)
	}
	w.write(w.path(".claude", "settings.local.json"), once, 0o644)
	if err := w.trust().Allow(w.plan()); err != nil {
		t.Fatal(err)
	}
	s := w.load()
	w.fire(s.Set)
	text, _ := os.ReadFile(mark)
	if string(text) != "ran\n" {
		t.Errorf("ran %q; hooks: %s; %v", text, names(s.Set), lines(s.Findings))
	}
	// The project's runs where the user's does not.
	w.remove(filepath.Join(w.home, ".claude"))
	w.fire(w.load().Set)
	if text, _ := os.ReadFile(mark); string(text) != "ran\nran\n" {
		t.Errorf("ran %q", text)
	}
}

// An entry that cannot be read is a finding and refuses; one that is only not carried
// over is a finding.
func TestFaultyEntriesOfOtherAgents(t *testing.T) {
	w := newWorld(t)
	w.userSettings(`{"hooks":{"import":["claude"]}}`)
	file := filepath.Join(w.home, ".claude", "settings.json")
	w.write(file, "{\n"+`"hooks":{"PreToolUse":[{"hooks":[`+"\n"+`{"type":"command","command":7}]}]}}`, 0o644)
	s := w.load()
	if o := w.fire(s.Set); o.Action != protocol.Block {
		t.Errorf("%s", o.Action)
	}
	var faulty *schema.Finding
	for i := range s.Findings {
		if s.Findings[i].Code == string(report.ImportFaulty) {
			faulty = &s.Findings[i]
		}
	}
	if faulty == nil || faulty.File != file || faulty.Line == nil || *faulty.Line != 3 {
		t.Errorf("findings: %v", lines(s.Findings))
	}
	w.write(file, `{"hooks":{"PreToolUse":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"t"}]}],"TaskCreated":[{"hooks":[{"type":"command","command":"exit 2"}]}]}}`, 0o644)
	s = w.load()
	if o := w.fire(s.Set); o.Action != protocol.Observe || !hasFinding(s.Findings, report.ImportPart, "") || len(s.Findings) != 2 {
		t.Errorf("%s; %v", o.Action, lines(s.Findings))
	}
}

// Five hundred entries are read in a moment.
func TestManyImportedEntries(t *testing.T) {
	var handlers []string
	for i := range 500 {
		handlers = append(handlers, fmt.Sprintf(`{"type":"command","command":"/bin/true %d"}`, i))
	}
	w := newWorld(t)
	w.userSettings(`{"hooks":{"import":["claude"],"maxHooks":1000}}`)
	w.write(filepath.Join(w.home, ".claude", "settings.json"), `{"hooks":{"PreToolUse":[{"matcher":"Edit","hooks":[`+strings.Join(handlers, ",\n")+`]}]}}`, 0o644)
	began := time.Now()
	s := w.load()
	took := time.Since(began)
	if len(s.Hooks) != 500 || took > 5*time.Second {
		t.Errorf("%d hooks in %s", len(s.Hooks), took)
	}
	t.Logf("500 entries in %s", took)
}

// A hook of the user's that names a file of the project does not run it before the
// project was allowed.
func TestAnImportedHookOfTheUserRunsNothingOfAnUnknownProject(t *testing.T) {
	for _, command := range []string{`"$CLAUDE_PROJECT_DIR"/x.sh`, `sh "${CLAUDE_PROJECT_DIR}/x.sh"`, `cd "$CLAUDE_PROJECT_DIR" && ./x.sh`, `X=$CLAUDE_PROJECT_DIR; $X/x.sh`, `./x.sh`} {
		w := newWorld(t)
		mark := filepath.Join(w.home, "mark")
		w.write(w.path("x.sh"), marker(mark, "#!/bin/sh\n"), 0o755)
		w.userSettings(`{"hooks":{"import":["claude"]}}`)
		w.write(filepath.Join(w.home, ".claude", "settings.json"), claudeGuard(command), 0o644)
		o := w.fire(w.load().Set)
		if exists(mark) || o.Action != protocol.Block {
			t.Errorf("%s: %s, ran: %v", command, o.Action, exists(mark))
		}
		w.hook("any.sh", "#!/bin/sh\n# hook: events=agent-start\n")
		w.allow("any.sh")
		if o := w.fire(w.load().Set); !exists(mark) || o.Action != protocol.Observe {
			t.Errorf("%s, where the project is allowed: %s, ran: %v", command, o.Action, exists(mark))
		}
	}
}

// The hooks that were read from one agent's settings are known by it, so that its bridge
// does not have them asked.
func TestHooksOfOneAgentAreKnown(t *testing.T) {
	w := importWorld(t, "claude", "gemini")
	w.claude(claudeGuard("exit 2"))
	w.write(w.path(".gemini", "settings.json"), `{"hooks":`, 0o644)
	s := w.load()
	if got := s.Set.ImportedFrom("claude"); len(got) != 1 || got[0].Name != "claude:PreToolUse:exit" || got[0].Layer != protocol.Project {
		t.Errorf("of claude: %v", got)
	}
	if got := s.Set.ImportedFrom("gemini"); len(got) != 1 || got[0].Name != "gemini:settings.json" {
		t.Errorf("what stands for gemini's: %v", got)
	}
	if got := s.Set.ImportedFrom("codex"); got != nil {
		t.Errorf("of codex: %v", got)
	}
}

// A hook of the user's that finds its script by a variable for the project's folder runs
// nothing of a project that nobody allowed, in whatever text the variable stands.
func TestAUsersHookStartsNoScriptOfAnUnknownProjectByAVariable(t *testing.T) {
	for _, entry := range []string{
		`"command":"bash -c '$CLAUDE_PROJECT_DIR/guard.sh'"`,
		`"command":"sh -c 'cd \"$CLAUDE_PROJECT_DIR\" && ./guard.sh'"`,
		`"command":"sh -c \"cd $CLAUDE_PROJECT_DIR; ./guard.sh\""`,
		`"command":"env X=1 sh -c 'sh -c \"\\$CLAUDE_PROJECT_DIR/guard.sh\"'"`,
		`"command":"sh <<E\n$CLAUDE_PROJECT_DIR/guard.sh\nE"`,
		`"command":"bash","args":["-c","\"$CLAUDE_PROJECT_DIR\"/guard.sh"]`,
		`"command":"sh","args":["-c","cd ${CLAUDE_PROJECT_DIR} && ./guard.sh"]`,
	} {
		w := newWorld(t)
		mark := filepath.Join(w.home, "mark")
		w.write(w.path("guard.sh"), marker(mark, "#!/bin/sh\n"), 0o755)
		w.write(filepath.Join(w.home, ".acai", "acai.json"), `{"hooks":{"import":["claude"]}}`, 0o600)
		w.write(filepath.Join(w.home, ".claude", "settings.json"), `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command",`+entry+`}]}]}}`, 0o600)
		if o := w.fire(w.load().Set); o.Action != protocol.Block || exists(mark) {
			t.Errorf("%s: %s %s; ran: %v", entry, o.Action, o.Reason, exists(mark))
		}
	}
	for _, command := range []string{`["sh","-c","\"$HOOK_PROJECT_DIR\"/guard.sh"]`, `["bash","-c","cd \"$HOOK_PROJECT_DIR\" && ./guard.sh"]`} {
		w := newWorld(t)
		mark := filepath.Join(w.home, "mark")
		w.write(w.path("guard.sh"), marker(mark, "#!/bin/sh\n"), 0o755)
		w.write(filepath.Join(w.home, ".acai", "acai.json"), `{"hooks":{"use":[{"name":"g","can":"block","events":["tool-call-start"],"command":`+command+`}]}}`, 0o600)
		if o := w.fire(w.load().Set); o.Action != protocol.Block || exists(mark) {
			t.Errorf("%s: %s %s; ran: %v", command, o.Action, o.Reason, exists(mark))
		}
	}
}

// An entry of a line that only uses hookd is a hook as any other; one that has hookd ask
// hooks is left out, and what else it does is said.
func TestEntriesThatUseHookdAreImported(t *testing.T) {
	for command, imported := range map[string]bool{
		"./guard.sh; hookd get tool.name": true, `"$HOOKD" get x && ./guard.sh`: true, "hookd bridge claude": false, "hookd-bridge claude": false,
		"env A=b hookd bridge claude": false, "sh -c 'hookd bridge claude'": false, "npx hookd bridge claude": false, "timeout 5 /opt/x/hookd bridge claude": false,
		`"$HOOKD" bridge claude`: false, "exec hookd-bridge claude || exit 2": false, "bash -lc \"hookd fire tool-call-start\"": false, "hookd": false,
	} {
		w := importWorld(t, "claude")
		w.write(w.path("guard.sh"), "#!/bin/sh\n", 0o755)
		w.claude(claudeGuard(command))
		s := w.load()
		if got := len(s.Set.Hooks) > 0; got != imported {
			t.Errorf("%s: imported: %v", command, got)
		}
	}
	w := importWorld(t, "claude")
	w.claude(claudeGuard("hookd bridge claude; ./guard.sh"))
	s := w.load()
	said := ""
	for _, f := range s.Findings {
		said += f.Message + " " + f.Remedy + "\n"
	}
	if !strings.Contains(said, "what else the line does is not done here") {
		t.Error(said)
	}
}

// A file that only a text for another shell names is watched, too.
func TestFilesInTextsForAShellAreWatched(t *testing.T) {
	for _, command := range []string{"sh -c 'cd x && ./y.py'", "bash -c '. ./x/y.py; true'", "env A=b sh -c \"sh -c 'x/y.py'\"", "timeout 5 bash -lc 'python3 x/y.py'"} {
		w := importWorld(t, "claude")
		w.write(w.path("x", "y.py"), "#!/bin/sh\n", 0o755)
		w.claude(claudeGuard(command))
		plan := w.plan()
		name := ""
		for _, item := range plan.Items {
			if strings.HasPrefix(item.Hook, "claude:") {
				name = item.Hook
			}
		}
		w.allow(name)
		if got := status(w.load(), name); got != "ready" {
			t.Errorf("%s: %s", command, got)
		}
		w.write(w.path("x", "y.py"), "#!/bin/sh\nexit 0\n", 0o755)
		if got := status(w.load(), name); got != "changed!untrusted" {
			t.Errorf("%s, after the script was edited: %s", command, got)
		}
	}
}
