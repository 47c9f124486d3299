package selfprotect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// world is a project, a home folder and hookd's own files, with links into them.
type world struct{ base, project, home string }

func newWorld(t testing.TB) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{base, filepath.Join(base, "p"), filepath.Join(base, "home")}
	for _, file := range []string{
		"p/.acai/hooks/guard.sh", "p/.acai/acai.json", "p/.claude/settings.json", "p/.claude/settings.local.json", "p/.claude/CLAUDE.md", "p/.claude/hooks/x.sh", "p/.git/config", "p/.git/hooks/pre-commit",
		"p/main.go", "p/settings.json", "p/sub/x.go", "p/.codex/hooks.json", "p/.github/workflows/ci.yml", "p/.github/hooks/h.json", "p/evil.json",
		"home/.claude/settings.json", "home/.acai/acai.json", "home/.gemini/settings.json", "home/.bashrc", "home/bin/hookd", "state/hookd/monitor.json",
	} {
		path := filepath.Join(base, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"p/alias": ".claude", "p/one.json": ".claude/settings.json", "p/inner": ".acai/hooks", "p/innermost": ".git/hooks", "p/userhome": filepath.Join(base, "home"), "bin": "home/bin"} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(base, "p/.claude/settings.json"), filepath.Join(base, "p/hard.json")); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) options() Options {
	return Options{
		Home: w.home, Own: []string{filepath.Join(w.base, "state/hookd"), filepath.Join(w.home, "bin/hookd"), filepath.Join(w.base, "run/hookd.sock")},
		Lookup: func(name string) string {
			return map[string]string{"HOME": w.home, "TMPDIR": "/tmp", "CLAUDE_PROJECT_DIR": w.project}[name]
		},
		Runs: func(pid int) bool { return pid == 4242 },
	}
}

// judge judges a call; BASE in it stands for the folder of the world.
func (w *world) judge(t testing.TB, tool string, kind protocol.ToolKind, args string) (refused, undecided string) {
	t.Helper()
	args = strings.ReplaceAll(args, "BASE", w.base)
	return Judge(w.options(), tool, kind, protocol.RawMessage(args), w.project, w.project)
}

func (w *world) shell(t testing.TB, line string) (refused, undecided string) {
	t.Helper()
	text, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	return w.judge(t, "bash", protocol.KindShell, string(text))
}

// lines are the shell lines of a file of testdata: one a line, in which ␤ stands for the
// end of a line, and BASE for the folder of the world. ## begins a heading.
func lines(t testing.TB, w *world, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "##") {
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "␤", "\n")
			list = append(list, strings.ReplaceAll(line, "BASE", w.base))
		}
	}
	return list
}

func TestShellLinesThatSwitchHookdOffAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, line := range lines(t, w, "refused") {
		if refused, undecided := w.shell(t, line); refused == "" {
			t.Errorf("passes: %s (undecided: %s)", line, undecided)
		}
	}
}

func TestShellLinesThatPass(t *testing.T) {
	w := newWorld(t)
	for _, line := range lines(t, w, "passes") {
		if refused, undecided := w.shell(t, line); refused != "" || undecided != "" {
			t.Errorf("%s: refused: %s, undecided: %s", line, refused, undecided)
		}
	}
}

// What only shows when a line runs is no refusal, and is said.
func TestShellLinesThatAreUndecided(t *testing.T) {
	w := newWorld(t)
	for _, line := range lines(t, w, "undecided") {
		if refused, undecided := w.shell(t, line); refused != "" || undecided == "" {
			t.Errorf("%s: refused: %s, undecided: %s", line, refused, undecided)
		}
	}
}

// Tools of the agents, as their args arrive: hookd's own names where the table has them,
// else theirs.
func TestCallsOfTools(t *testing.T) {
	w := newWorld(t)
	const write, mcp, other = protocol.KindWrite, protocol.KindMCP, protocol.KindOther
	type toolCall struct {
		tool string
		kind protocol.ToolKind
		args string
	}
	for _, c := range []toolCall{
		{"write_file", write, `{"path":".claude/settings.json","content":"{}"}`}, {"write_file", write, `{"path":"BASE/p/.claude/settings.json","content":""}`}, {"edit_file", write, `{"path":"~/.claude/settings.json","oldText":"a","newText":"b"}`},
		{"Write", write, `{"file_path":".claude/settings.local.json"}`}, {"MultiEdit", write, `{"file_path":".acai/acai.json","edits":[]}`}, {"NotebookEdit", write, `{"notebook_path":".claude/hooks/x.ipynb"}`}, {"replace", write, `{"file_path":".gemini/settings.json"}`},
		{"apply_patch", write, `{"command":"*** Begin Patch\n*** Update File: .codex/hooks.json\n@@\n*** End Patch"}`}, {"apply_patch", write, `{"input":"*** Begin Patch\n*** Delete File: .acai/hooks/guard.sh\n*** End Patch"}`}, {"apply_patch", write, `{"input":"*** Begin Patch\n*** Update File: x\n*** Move to: .claude/settings.json\n*** End Patch"}`},
		{"Delete", write, `{"path":".cursor/hooks.json"}`}, {"Create", write, `{"file_path":".factory/settings.json"}`}, {"ApplyPatch", write, `{"patch":"--- a/.factory/hooks.json\n+++ b/.factory/hooks.json\n"}`}, {"create", write, `{"path":".github/hooks/x.json","file_text":""}`}, {"edit", write, `{"path":".copilot/settings.json"}`},
		{"write", write, `{"file_path":"crush.json"}`}, {"multiedit", write, `{"file_path":".crush.json","edits":[{"old_string":"a"}]}`}, {"fs_write", write, `{"command":"create","path":".kiro/hooks/x.json"}`}, {"file_editor", write, `{"command":"str_replace","path":".openhands/hooks.json"}`}, {"str_replace_editor", write, `{"command":"insert","path":".qwen/settings.json"}`},
		{"write_to_file", write, `{"path":".clinerules/hooks/PreToolUse","content":""}`}, {"patch", write, `{"path":".hermes/config.yaml"}`}, {"write_file", write, `{"path":".windsurf/hooks.json"}`}, {"text_editor", other, `{"command":"write","path":".config/goose/config.yaml"}`}, {"write_file", write, `{"path":".opencode/plugin/hookd.ts"}`}, {"write_file", write, `{"path":".pi/extensions/hookd.ts"}`},
		{"write_file", write, `{"path":".claude/settings.json","content":"{}","action":"view"}`}, {"Write", write, `{"file_path":".claude/settings.json","content":"{}","mode":"read"}`}, {"edit_file", write, `{"patch":"*** Update File: x\n*** Update File: .hermes/config.yaml","paths":["x",".hermes/config.yaml"]}`}, {"file_editor", other, `{"path":".openhands/hooks.json"}`},
		{"write_file", write, `{"path":"alias/settings.json"}`}, {"write_file", write, `{"path":"one.json"}`}, {"write_file", write, `{"path":"hard.json"}`}, {"write_file", write, `{"path":".git/hooks/pre-commit"}`}, {"write_file", write, `{"path":"sub/../.ACAI/acai.json"}`}, {"write_file", write, `{"path":"BASE/state/hookd/records/x"}`}, {"write_file", write, `{"path":".claude\\settings.json"}`},
		{"mcp__fs__write_file", mcp, `{"path":".claude/settings.json","content":""}`}, {"mcp__fs__move_file", mcp, `{"source":"x","destination":"BASE/p/.acai/acai.json"}`}, {"mcp__fs__edit", mcp, `{"files":[{"file":"x"},{"file":".claude/settings.json"}]}`}, {"mcp__fs__delete", mcp, `{"paths":["a",".claude/settings.json"]}`}, {"mcp__fs__put", mcp, `{"uri":"file://BASE/home/.claude/settings.json"}`},
		{"mcp__fs__set", mcp, `{"where":"BASE/p/.claude/settings.json"}`}, {"mcp__sh__run", mcp, `{"command":"rm .claude/settings.json"}`}, {"mcp__sh__exec", mcp, `{"cmd":["rm","-rf",".acai"]}`}, {"mcp__py__run", mcp, `{"code":"open('.claude/settings.json','w')"}`}, {"search_and_replace", other, `{"path":".claude/settings.json"}`}, {"mcp__sh__run", mcp, `{"cwd":"BASE/p/.claude","command":"rm settings.json"}`},
		{"bash", protocol.KindShell, `{"command":["bash","-lc","rm .claude/settings.json"]}`}, {"bash", protocol.KindShell, `{"command":["rm",".claude/settings.json"]}`}, {"run_commands", protocol.KindShell, `{"commands":["ls","rm .claude/settings.json"]}`}, {"bash", protocol.KindShell, `{"command":"rm settings.json","dir":".claude"}`}, {"terminal", protocol.KindShell, `{"command":"rm settings.json","workdir":"BASE/p/.claude"}`},
	} {
		if refused, undecided := w.judge(t, c.tool, c.kind, c.args); refused == "" {
			t.Errorf("passes: %s %s (undecided: %s)", c.tool, c.args, undecided)
		}
	}
	for _, c := range []toolCall{
		{"read_file", protocol.KindRead, `{"path":".claude/settings.json"}`}, {"Grep", protocol.KindRead, `{"path":".acai","pattern":"x"}`}, {"write_file", write, `{"path":"settings.json","content":".claude/settings.json"}`}, {"write_file", write, `{"path":"testdata/settings.json"}`}, {"write_file", write, `{"path":"docs/claude/settings.json"}`},
		{"edit_file", write, `{"path":"main.go","oldText":".claude/settings.json","newText":"rm -rf .acai"}`}, {"write_file", write, `{"path":"x.patch","content":"--- a/.claude/settings.json\n+++ b/.claude/settings.json\n"}`}, {"file_editor", write, `{"command":"view","path":".openhands/hooks.json"}`}, {"str_replace_editor", write, `{"command":"view","path":".claude/settings.json"}`},
		{"mcp__fs__read_file", mcp, `{"path":".claude/settings.json"}`}, {"mcp__fs__listDirectory", mcp, `{"path":".acai"}`}, {"mcp__gh__create_issue", mcp, `{"title":".claude/settings.json","body":"rm -rf .acai"}`}, {"mcp__db__query", mcp, `{"sql":"select '.acai'"}`}, {"WebFetch", protocol.KindNet, `{"url":"https://x/.claude/settings.json"}`}, {"WebSearch", protocol.KindNet, `{"query":".claude/settings.json"}`},
		{"Task", protocol.KindAgent, `{"prompt":"rm .claude/settings.json"}`}, {"TodoWrite", other, `{"todos":[{"content":"edit .claude/settings.json"}]}`}, {"write_file", write, `{"path":".claude/agents/x.md"}`}, {"write_file", write, `{"path":".gemini/GEMINI.md"}`}, {"write_file", write, `{"path":".github/workflows/ci.yml"}`}, {"write_file", write, `{"path":".mcp.json"}`}, {"write_file", write, `{"path":"acai/x"}`}, {"write_file", write, `{"path":".claude-notes/settings.json"}`}, {"write_file", write, `{}`}, {"write_file", write, `{"path":7}`}, {"write_file", write, `[]`},
	} {
		if refused, undecided := w.judge(t, c.tool, c.kind, c.args); refused != "" || undecided != "" {
			t.Errorf("%s %s: refused: %s, undecided: %s", c.tool, c.args, refused, undecided)
		}
	}
}

// Tools as each agent calls them, in the vocabulary of its own.
func TestCallsInTheWordsOfAgents(t *testing.T) {
	w := newWorld(t)
	for _, line := range lines(t, w, "calls") {
		fields := strings.SplitN(line, " ", 4)
		want, agent, tool, args := fields[0], fields[1], fields[2], fields[3]
		call, err := toolname.ToOurs(agent, tool, protocol.RawMessage(args))
		if err != nil { // a bridge refuses what it cannot translate
			if want != "refused" {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		got := "passes"
		refused, undecided := w.judge(t, call.Name, call.Kind, string(call.Args))
		switch {
		case refused != "":
			got = "refused"
		case undecided != "":
			got = "undecided"
		}
		if got != want {
			t.Errorf("%s: %s %s%s", line, got, refused, undecided)
		}
	}
}

// The guard as a hook: what is sure is refused with a remedy, what is not is asked where
// the agent can ask, else told.
func TestHookAnswers(t *testing.T) {
	w := newWorld(t)
	ask := func(canAsk bool, line string) protocol.Reply {
		o := w.options()
		o.Ask = canAsk
		hook := Hook(o)
		data, _ := json.Marshal(map[string]any{"name": "bash", "kind": "shell", "args": map[string]string{"command": line}})
		reply, err := hook.Func(t.Context(), &protocol.Event{Event: protocol.ToolCallStart, Project: w.project, Cwd: w.project, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if r := ask(true, "rm .claude/settings.json"); r.Action != protocol.Block || !strings.Contains(r.Reason, "Claude Code") || !strings.Contains(r.Reason, "hooks.selfProtection") {
		t.Errorf("%+v", r)
	}
	if r := ask(true, "rm .claude/$X"); r.Action != protocol.Ask || r.Reason == "" {
		t.Errorf("%+v", r)
	}
	if r := ask(false, "rm .claude/$X"); r.Action != "" || !strings.Contains(r.Notice, ".claude") {
		t.Errorf("%+v", r)
	}
	if r := ask(true, "ls"); r.Action != "" || r.Notice != "" {
		t.Errorf("%+v", r)
	}
}

// Whatever a model writes, the guard ends soon and does not crash.
func FuzzJudge(f *testing.F) {
	for _, line := range []string{"rm .claude/settings.json", "echo {a,b}{c,d} > $X", "cd ~; find . -exec rm {} +", "python -c '", "kill $(", "${X%%", "a\x00b", "{1..99999999}", "rm {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"} {
		f.Add(line)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, line string) {
		for _, kind := range []protocol.ToolKind{protocol.KindShell, protocol.KindWrite, protocol.KindMCP} {
			args, err := json.Marshal(map[string]string{"command": line, "path": line, "code": line, "patch": line})
			if err != nil {
				return
			}
			refused, undecided := Judge(w.options(), "tool", kind, args, w.project, w.project)
			if refused != "" && undecided != "" {
				t.Errorf("both: %s, %s", refused, undecided)
			}
		}
	})
}

// What the guard costs for a call that passes: a read, a shell line, a write.
func BenchmarkJudge(b *testing.B) {
	w := newWorld(b)
	for name, c := range map[string]struct {
		kind protocol.ToolKind
		args string
	}{
		"read":  {protocol.KindRead, `{"path":"main.go"}`},
		"shell": {protocol.KindShell, `{"command":"cd sub && go test ./... 2>&1 | tail -5"}`},
		"write": {protocol.KindWrite, `{"path":"main.go","content":"package main"}`},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if refused, undecided := Judge(w.options(), "tool", c.kind, protocol.RawMessage(c.args), w.project, w.project); refused+undecided != "" {
					b.Fatal(refused, undecided)
				}
			}
		})
	}
}

// A kind that the name does not prove frees no call: a plug-in may have a tool of its own
// that is called as another agent's tool for reading is.
func TestKindsThatAreNotProvenFreeNothing(t *testing.T) {
	w := newWorld(t)
	hook := Hook(w.options())
	for _, c := range []struct {
		data string
		want protocol.Action
	}{
		{`{"name":"task","kind":"agent","mayBe":["agent"],"args":{"path":".claude/settings.json"}}`, protocol.Block},
		{`{"name":"subagent","kind":"agent","mayBe":["agent"],"args":{"command":"rm -rf .acai"}}`, protocol.Block},
		{`{"name":"task","kind":"agent","args":{"prompt":"rm -rf .acai"}}`, ""},
	} {
		ev := protocol.Event{Event: protocol.ToolCallStart, Project: w.project, Cwd: w.project, Data: protocol.RawMessage(c.data)}
		reply, err := hook.Func(t.Context(), &ev)
		if err != nil || reply.Action != c.want {
			t.Errorf("%s: %q %s, %v", c.data, reply.Action, reply.Reason, err)
		}
	}
}
