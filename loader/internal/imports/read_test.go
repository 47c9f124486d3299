package imports

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

var update = flag.Bool("update", false, "write the files of testdata that say what is read")

// written is what was read, a line for each hook, finding and reason.
func written(hooks []Hook, findings []schema.Finding, bad []*schema.UnreadableError) string {
	var b strings.Builder
	for _, h := range hooks {
		fmt.Fprintf(&b, "%d %s", h.Pos.Line, h.Name)
		for _, part := range []struct {
			what string
			says bool
			text string
		}{
			{"dialect", h.Dialect != h.Agent, h.Dialect}, {"matcher", h.Matcher != "", h.Matcher}, {"when", h.When != "", h.When},
			{"timeout", h.Timeout != 0, h.Timeout.String()}, {"onFailure", h.OnFailure != "", h.OnFailure},
			{"description", h.Description != "", h.Description}, {"argv", len(h.Argv) > 0, fmt.Sprintf("%q", h.Argv)}, {"shell", h.Shell != "", h.Shell},
		} {
			if part.says {
				fmt.Fprintf(&b, " %s=[%s]", part.what, part.text)
			}
		}
		for _, flag := range []struct {
			word string
			says bool
		}{{" observes", h.Observes}, {" off", h.Off}, {" faulty", h.Faulty}} {
			if flag.says {
				b.WriteString(flag.word)
			}
		}
		b.WriteString("\n")
	}
	for _, f := range findings {
		line := 0
		if f.Line != nil {
			line = *f.Line
		}
		fmt.Fprintf(&b, "%s %s:%d: %s -> %s\n", f.Code, filepath.Base(f.File), line, f.Message, f.Remedy)
	}
	for _, err := range bad {
		fmt.Fprintf(&b, "unreadable %s:%d: %s -> %s\n", filepath.Base(err.File), err.Line, err.Message, err.Remedy)
	}
	return b.String()
}

// Settings as people have them are read entry by entry, and what is not carried over is
// said with its line.
func TestSettingsOfEachAgentAreRead(t *testing.T) {
	names, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".want") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			agent, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), "faulty."), ".")
			a := Find(agent)
			if a == nil {
				t.Fatalf("there is no agent %q", agent)
			}
			got := written(a.Read([]Text{{File: name, Format: FormatOf(name), Bytes: text}}))
			if *update {
				if err := os.WriteFile(name+".want", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
		read++
	}
	if read < 8 {
		t.Errorf("only %d files were read", read)
	}
}

// A hook keeps its name wherever it stands and whatever else its entry says.
func TestNamesStayWhenEntriesMove(t *testing.T) {
	entry := func(command, more string) string {
		return fmt.Sprintf(`{"type":"command","command":%q%s}`, command, more)
	}
	settings := func(entries ...string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[` + strings.Join(entries, ",") + `]}]}}`
	}
	for command, want := range map[string]string{
		`"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh --x`: "guard.sh",
		`python3 "$CLAUDE_PROJECT_DIR/.claude/hooks/a.py"`: "a.py",
		`uv run --script ~/.claude/hooks/b.py`:             "b.py",
		`git -C x status`:                                  "git",
		`npx prettier --check .`:                           "prettier",
		`cd "$CLAUDE_PROJECT_DIR" && ./c.sh`:               "c.sh",
		`bash -c 'echo x | ./d.sh'`:                        "bash",
		`jq -r .x | e.sh`:                                  "jq",
		`'/with blank/f g.sh'`:                             "f-g.sh",
		`"$X"`:                                             "$X",
		`)`:                                                "entry",
	} {
		text := settings(entry(command, ""))
		hooks, _, _ := claude.Read([]Text{{File: "s", Format: document.JSONC, Bytes: []byte(text)}})
		if len(hooks) != 1 || hooks[0].Name != "claude:PreToolUse:"+want {
			t.Errorf("%s: %+v", command, hooks)
		}
	}
	names := func(entries ...string) map[string]string {
		hooks, _, _ := claude.Read([]Text{{File: "s", Format: document.JSONC, Bytes: []byte(settings(entries...))}})
		by := map[string]string{}
		for _, h := range hooks {
			by[h.Shell] = h.Name
		}
		return by
	}
	a, b := entry("./a.sh", ""), entry("./b.sh", "")
	if d := cmp.Diff(names(a, b), names(entry("./b.sh", `,"timeout":7`), a)); d != "" {
		t.Error(d)
	}
	if got := names(entry("./a.sh 1", ""), entry("./a.sh 2", "")); got["./a.sh 2"] != "claude:PreToolUse:a.sh#2" {
		t.Errorf("of equal names: %v", got)
	}
}

// Equal entries are one hook where their agent runs them once, for whatever either of
// their matchers fits.
func TestRepeatedEntries(t *testing.T) {
	const text = `{"hooks":{"PreToolUse":[{"matcher":"Bash, Edit","hooks":[{"type":"command","command":"x"}]},{"matcher":"mcp__.*","hooks":[{"type":"command","command":"x"}]},
	{"matcher":"Bash","hooks":[{"type":"command","command":"x","timeout":5}]}]}}`
	hooks, _, _ := claude.Read([]Text{{File: "s", Format: document.JSONC, Bytes: []byte(text)}})
	if len(hooks) != 2 || hooks[0].Matcher != "^(?:Bash|Edit)$|(?:mcp__.*)" {
		t.Errorf("%+v", hooks)
	}
	hooks, _, _ = codex.Read([]Text{{File: "s", Format: document.JSONC, Bytes: []byte(text)}})
	if len(hooks) != 3 {
		t.Errorf("Codex runs each: %+v", hooks)
	}
}

// Entries that start hookd by any path are left out.
func TestEntriesThatStartHookdAreLeftOut(t *testing.T) {
	for command, ours := range map[string]bool{
		"hookd bridge claude": true, "/opt/x/hookd-bridge claude PreToolUse": true, `"$HOME"/bin/hookd bridge claude`: true, "'/a b/hookd' bridge claude": true,
		"env X=1 hookd bridge claude": true, "sh -c 'hookd bridge claude'": true, "cd / && timeout 5 hookd bridge claude || exit 2": true, "hookd.exe bridge claude": true,
		"echo hookd": false, "./nothookd": false, "cat hookd": false, "hookd.sh": false,
	} {
		h := Hook{Agent: "claude", Event: "PreToolUse", Shell: command}
		if got := StartsHookd(&h, func(string) bool { return false }); got != ours {
			t.Errorf("%s: %v", command, got)
		}
	}
	for _, argv := range [][]string{{"/usr/bin/hookd", "bridge"}, {"env", "hookd", "bridge"}, {"/opt/it", "x"}} {
		if !StartsHookd(&Hook{Argv: argv}, func(path string) bool { return path == "/opt/it" }) {
			t.Errorf("%q", argv)
		}
	}
}

// The expressions that stand for Claude Code's rules find a command wherever one begins.
func TestConditionsOfCommands(t *testing.T) {
	for pattern, lines := range map[string]map[string]bool{
		"git *":          {"git push": true, "git": true, "cd x && git  status": true, "legit x": false, "git-lfs x": false, "(git log)": true, "echo ok": false, "\"git\" push": true},
		"git push:*":     {"git push": true, "git push -f": true, "git pushy": false, "git  push origin": true},
		"npm run test:*": {"npm run test:unit": true, "npm run test": true, "npm run build": false},
		"ls":             {"ls": true, "ls; rm x": true, "ls -l": false, "lsof": false},
		"rm -rf *":       {"sudo rm -rf /": true, "rm -r x": false},
		"* --force *":    {"git push --force origin": true, "git push": false},
		"git*":           {"git-lfs x": true, "gitk": true, "ls": false},
	} {
		compiled, err := regexp.Compile(commandExpression(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for line, want := range lines {
			if got := compiled.MatchString(line); got != want {
				t.Errorf("%s finds %q: %v (%s)", pattern, line, got, compiled)
			}
		}
	}
}

// The variables that mean the project's folder are those that each agent sets.
func TestProjectVariablesAreThoseThatAgentsSet(t *testing.T) {
	ev := &protocol.Event{Event: protocol.ToolCallStart, Time: time.Now(), Project: "/the/project", Cwd: "/the/project", Data: []byte(`{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":"ls"},"parallel":1}`)}
	for _, a := range Agents {
		p := foreignhooks.Find(a.Name)
		if p == nil {
			t.Errorf("hookd does not speak %s", a.Name)
			continue
		}
		s, err := p.Select(nil, "")
		if err != nil {
			t.Fatal(err)
		}
		asking := s.Ask(ev, "/the/project")
		if asking == nil {
			t.Errorf("%s is not asked", a.Name)
			continue
		}
		for _, variable := range asking.Env() {
			name, value, _ := strings.Cut(variable, "=")
			if got, known := Value(a.Name, name, "/the/project", "/home/me"); value == "/the/project" && (!known || got != value) {
				t.Errorf("%s sets %s, which is not known", a.Name, variable)
			}
		}
	}
}

// Whatever a file holds, reading it ends, every hook has a name and a known event, and a
// file of which something is wrong yields a finding.
func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.*")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, ".want") {
			f.Add(string(text), strings.HasSuffix(name, ".toml"))
		}
	}
	f.Add(`{"hooks":{"PreToolUse":[{"matcher":"(","hooks":[{"type":"command","command":"x","if":"Bash(*)"}]}]}}`, false)
	f.Fuzz(func(t *testing.T, text string, toml bool) {
		format := document.JSONC
		if toml {
			format = document.TOML
		}
		for _, a := range Agents {
			if a.read == nil {
				continue
			}
			hooks, findings, bad := a.Read([]Text{{File: "/f", Format: format, Bytes: []byte(text)}})
			taken := map[string]bool{}
			for _, h := range hooks {
				p := foreignhooks.Find(h.Dialect)
				if p == nil {
					t.Fatalf("%s: no dialect %q", a.Name, h.Dialect)
				}
				if _, err := p.Resolve(h.Event); err != nil || h.Name == "" || taken[h.Name] || strings.ContainsAny(h.Name, "/\x00\n") {
					t.Fatalf("%s: %+v (%v)", a.Name, h, err)
				}
				taken[h.Name] = true
				if h.Faulty && len(findings) == 0 {
					t.Fatalf("%s: faulty without a finding: %+v", a.Name, h)
				}
				if !h.Faulty && h.Shell == "" && len(h.Argv) == 0 {
					t.Fatalf("%s: nothing to run: %+v", a.Name, h)
				}
				d := h.Describe(false)
				if len(d.Faults) > 0 != h.Faulty {
					t.Fatalf("%s: %v", a.Name, d.Faults)
				}
			}
			if _, err := document.Parse(format, []byte(text)); err != nil && len(bad) == 0 {
				t.Fatalf("%s: not read, and nothing said", a.Name)
			}
			if len(bad) > 0 && len(hooks) > 0 {
				t.Fatalf("%s: hooks of a file that does not count: %+v", a.Name, hooks)
			}
		}
	})
}
