package selfprotect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
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
	for link, target := range map[string]string{"p/alias": ".claude", "p/one.json": ".claude/settings.json", "p/userhome": filepath.Join(base, "home"), "bin": "home/bin"} {
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

func TestShellLinesThatSwitchHookdOffAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{
		// redirections
		"echo '{}' > .claude/settings.json", "echo '{}' >> .claude/settings.json", "cat x >| .claude/settings.local.json", "echo x &> .codex/hooks.json", "> .acai/acai.json",
		"echo x 1> ./.claude/settings.json", "cat <<'E' > .claude/settings.json\n{}\nE", "echo x > \"$HOME/.claude/settings.json\"", "echo x > ~/.claude/settings.json", "echo x > $HOME/.acai/acai.json",
		"echo x > ${HOME}/.gemini/settings.json", "echo x > BASE/home/.claude/settings.json", "echo x > sub/../.claude/settings.json", "echo x > '.claude'/\"settings\".json", "echo x > .clau\\de/settings.json",
		"echo x > $'.claude/settings.json'", "echo x > .CLAUDE/Settings.JSON", "exec 3> .claude/settings.json", "{ echo x; } > .claude/settings.json", "(echo x) > .claude/settings.json",
		"for i in 1; do echo x; done > .claude/settings.json", "true && echo x > .claude/settings.json || true", "echo x > alias/settings.json", "echo x > one.json", "echo x > hard.json", "echo x > userhome/.claude/settings.json",
		"echo x > .git/hooks/pre-commit", "echo x > .git/config", "echo x > /etc/acai/acai.json", "echo x > /etc/claude-code/managed-settings.json", "echo x > opencode.json", "echo x > $PWD/.claude/settings.json",
		"echo x > \"$(pwd)/.claude/settings.json\"", "echo x > $(git rev-parse --show-toplevel)/.claude/settings.json", "echo x > ${CLAUDE_PROJECT_DIR}/.claude/settings.json",
		// programs that write
		"tee .claude/settings.json < evil.json", "echo x | tee -a .claude/settings.json", "echo x | sudo tee /etc/acai/acai.json", "sed -i s/a/b/ .claude/settings.json", "sed -i.bak -e s/a/b/ .claude/settings.json", "sed --in-place=.b s/a/b/ .claude/settings.json",
		"sed -ni s/a/b/p .claude/settings.json", "cp evil.json .claude/settings.json", "cp evil.json BASE/p/.claude/settings.json", "cp -t .claude/hooks evil.json", "mv evil.json .claude/settings.json", "mv .claude/settings.json /tmp/x", "mv .claude .claude.bak",
		"mv .acai /tmp", "mv /tmp/other .claude", "cp -r /tmp/other .codex", "cp /tmp/settings.json .claude/", "cp /tmp/settings.json .claude", "ln -sf /tmp/x .claude/settings.json", "ln .claude/settings.json other", "ln -s /tmp/evil .claude", "rm .claude/settings.json", "rm -rf .claude",
		"rm -rf .acai/hooks", "rm -fr ./.acai/", "rm -rf -- .claude", "rm -rf .", "rm -rf ..", "rm -rf ~", "rm -rf BASE", "unlink .claude/settings.json", "shred -u .claude/settings.json", "truncate -s 0 .claude/settings.json", "touch .claude/settings.json",
		"chmod 000 .acai/hooks/guard.sh", "chmod -x .acai/hooks/guard.sh", "chmod -R a-x .acai", "chown nobody .claude/settings.json", "chattr +i .claude/settings.json", "dd if=/dev/null of=.claude/settings.json", "install -m 644 evil.json .claude/settings.json",
		"rsync evil.json .claude/settings.json", "curl -o .claude/settings.json http://x/y", "curl http://x/y -o.claude/settings.json", "curl --output=.claude/settings.json http://x", "wget -O .claude/settings.json http://x/y", "sort -o .claude/settings.json evil.json", "vim .claude/settings.json", "ed .claude/settings.json",
		"yq -i '.x=1' .claude/settings.json", "prettier --write .claude/settings.json", "jq . evil.json | sponge .claude/settings.json", "gzip .claude/settings.json", "patch .claude/settings.json < x.diff", "rm BASE/state/hookd/monitor.json", "rm -rf BASE/state", "rm BASE/run/hookd.sock",
		"rm BASE/home/bin/hookd", "rm BASE/bin/hookd", "cp /bin/true ~/bin/hookd", "chmod -x ~/bin/hookd", "rm -rf .git", "rm .git/hooks/pre-commit", "mkdir -p .acai/hooks", "rm BASE/p/.claude/../.claude/settings.json",
		// globs, braces, variables, cd
		"rm .claude/*", "rm .claude/s*.json", "rm -rf .cl*", "rm -rf .[a-c]*", "rm -f .claude/setting?.json", "rm .claude/{settings,x}.json", "rm -rf .{claude,codex}", "rm -rf BASE/p/.*", "chmod 0 .acai/hooks/*", "rm -rf BASE/*",
		"F=.claude/settings.json; echo x > $F", "F=.claude; echo x > $F/settings.json", "F=settings; echo x > .claude/$F.json", "F=$HOME/.claude; rm -rf \"$F\"", "D=.acai && rm -rf ${D}", "export F=.claude/settings.json; rm \"${F}\"", "rm ${X:-.claude/settings.json}",
		"A=.clau; B=de/settings.json; echo x > $A$B", "for f in .claude/settings.json main.go; do rm $f; done", "for d in .claude .codex; do rm -rf \"./$d\"; done", "rm $UNKNOWN/.claude/settings.json", "rm \"$(cat dir)/.claude/settings.json\"", "F=.claude/settings.json.bak; echo x > ${F%.bak}",
		"cd .claude && rm settings.json", "cd .claude; echo x > settings.json", "cd BASE/p/.claude && tee settings.json", "(cd .claude && rm settings.json)", "pushd .claude; rm settings.json", "cd sub && rm ../.claude/settings.json", "cd ~ && rm .claude/settings.json", "cd ~/.claude; mv settings.json x", "cd; rm .claude/settings.json", "env -C .claude rm settings.json",
		// wrappers and shells in shells
		"sudo rm .claude/settings.json", "env A=b rm .claude/settings.json", "sh -c 'rm .claude/settings.json'", "bash -lc \"echo x > .claude/settings.json\"", "eval 'rm -rf .acai'", "nohup rm .claude/settings.json &", "timeout 5 rm .claude/settings.json", "command rm .claude/settings.json", "\\rm .claude/settings.json",
		"/bin/rm .claude/settings.json", "'r'm .claude/settings.json", "sudo -u x sh -c 'cd .claude && rm settings.json'", "busybox rm .claude/settings.json", "X=rm; $X .claude/settings.json", "bash <<'E'\nrm .claude/settings.json\nE", "if true; then rm .claude/settings.json; fi", "f() { rm .claude/settings.json; }; f", "echo $(rm .claude/settings.json)",
		"xargs rm .claude/settings.json </dev/null", "find .claude -delete", "find . -name settings.json -delete", "find . -name 'settings*' -exec rm {} +", "find .acai -type f -exec chmod -x {} \\;", "find .claude -name '*.json' -exec sed -i s/a/b/ {} \\;", "find . -delete",
		// interpreters
		"python3 -c \"open('.claude/settings.json','w').write('{}')\"", "python -c 'import os; os.remove(\".claude/settings.json\")'", "python3 <<'E'\nopen('.claude/settings.json', 'w')\nE", "python3 - <<E\nimport shutil; shutil.rmtree('.acai')\nE", "perl -e 'unlink \".claude/settings.json\"'", "perl -pi -e 's/a/b/' .claude/settings.json", "perl -i -pe 's/a/b/' .claude/settings.json",
		"node -e \"require('fs').writeFileSync('.claude/settings.json','{}')\"", "ruby -e 'File.write(\".claude/settings.json\",\"\")'", "php -r 'file_put_contents(\".claude/settings.json\",\"\");'", "awk 'BEGIN { print \"x\" > \".claude/settings.json\" }'", "python3 -c \"import os; os.remove(os.path.join('.claude', 'settings.json'))\"", "python3 -c \"from pathlib import Path; (Path.home()/'.claude'/'settings.json').write_text('x')\"",
		"sudo python3 -c \"open('/etc/acai/acai.json','w')\"",
		// git
		"git rm .claude/settings.json", "git mv .acai x", "git checkout HEAD~3 -- .claude/settings.json", "git checkout main .acai", "git restore .claude/settings.json", "git -C . restore --source=HEAD~1 .claude", "git stash push .claude/settings.json",
		"apply_patch <<'E'\n*** Begin Patch\n*** Update File: .claude/settings.json\n@@\n-a\n+b\n*** End Patch\nE",
		// switches of agents, and hookd itself
		"claude --dangerously-skip-permissions -p hi", "claude -p hi --settings '{\"disableAllHooks\":true}'", "claude --settings=x.json", "claude --setting-sources project -p x", "claude --bare -p x", "claude --safe-mode", "sudo claude --bare", "npx @anthropic-ai/claude-code --bare -p x", "npx -y @anthropic-ai/claude-code@latest --bare", "claude plugin install x", "/usr/local/bin/claude --bare",
		"codex --dangerously-bypass-hook-trust exec x", "codex exec --dangerously-bypass-approvals-and-sandbox x", "codex -c features.hooks=false", "codex --disable hooks", "codex --config features.hooks=false", "codex features disable hooks", "gemini hooks disable hookd", "gemini hooks disable-all", "qwen hooks disable hookd", "opencode --pure run x", "pi --no-extensions", "hermes --accept-hooks",
		"CLAUDE_CODE_SIMPLE=1 claude -p x", "CLAUDE_CONFIG_DIR=/tmp/x claude -p x", "env CODEX_HOME=/tmp/x codex exec y", "HOME=/tmp/x claude -p y", "export CLAUDE_CONFIG_DIR=/tmp/x", "CLAUDE_CONFIG_DIR=/tmp/x; export CLAUDE_CONFIG_DIR; claude -p y", "HERMES_SAFE_MODE=1 hermes", "env HOME=/tmp/x gemini -p y",
		"hookd untrust", "hookd trust", "hookd trust --yes", "hookd disable guard.sh", "hookd uninstall claude", "hookd install claude --monitor", "~/bin/hookd trust", "hookd --project . trust", "sudo hookd uninstall", "sh -c 'hookd trust --yes'", "\"$HOOKD\" untrust", "hookd enable x",
		"pkill hookd", "pkill -f hookd", "pkill -9 hook", "pkill -f 'serve --socket'", "killall hookd", "killall -9 hookd-bridge", "kill 4242", "kill -9 4242", "kill $(pgrep hookd)", "kill -TERM `pidof hookd`", "pgrep hookd | xargs kill", "kill -9 -1", "systemctl --user stop hookd", "fuser -k BASE/run/hookd.sock",
	} {
		if refused, undecided := w.shell(t, line); refused == "" {
			t.Errorf("passes: %s (undecided: %s)", line, undecided)
		}
	}
}

func TestShellLinesThatPass(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{
		"cat .claude/settings.json", "less ~/.claude/settings.json", "grep -r hookd .claude", "jq .hooks .claude/settings.json", "ls -la .acai/hooks", "head -5 .acai/acai.json", "diff .claude/settings.json evil.json", "git diff .claude/settings.json", "git log -- .acai", "git add .claude/settings.json", "git commit -m 'change .claude/settings.json'",
		"git status", "git show HEAD:.claude/settings.json", "cp .claude/settings.json /tmp/copy.json", "cat .claude/settings.json > /tmp/copy.json", "wc -l < .claude/settings.json", "sed -n 1,5p .claude/settings.json", "awk '{print}' .claude/settings.json", "python3 -c \"print(open('.claude/settings.json').read())\"", "python3 -c \"import json; json.load(open('.claude/settings.json'))\"",
		"cat .git/config", "ls .git/hooks", "git config user.name x", "git checkout -b x", "git checkout .", "git stash", "git reset --hard", "git worktree add ../wt", "git clean -n", "rm settings.json", "echo x > settings.json", "echo x > testdata/settings.json", "echo x > sub/claude/settings.json", "rm -rf sub", "rm -rf node_modules dist", "rm -rf ./*",
		"rm *.json", "mv sub other", "mkdir -p .claude/agents", "echo x > .claude/CLAUDE.md", "echo x > .claude/commands/x.md", "rm .claude/agents/x.md", "echo x > CLAUDE.md", "echo x > .github/workflows/ci.yml", "rm -rf .github/workflows", "touch .gitignore", "echo x >> .gitignore", "echo x > .gitattributes", "echo x > .env", "echo x > hookd.go", "rm docs/hookd.md",
		"echo '.claude/settings.json is protected'", "echo 'rm -rf .claude'", "printf '%s\\n' .acai", "grep 'rm .claude' main.go", "git commit -m 'rm -rf .acai'", "cd sub && rm x.go", "cd /tmp && rm -rf x", "cd .. && ls", "F=main.go; rm $F", "rm \"$TMPDIR/x\"", "echo x > \"$OUT\"", "rm -rf \"$BUILD\"", "for f in *.go; do gofmt -w $f; done",
		"find . -name '*.pyc' -delete", "find . -name '*.go' -exec gofmt -w {} +", "find .claude -name '*.json'", "find sub -delete", "find . -type f -name 'zz*' -exec rm {} \\;", "chmod +x main.go", "chmod -R u+w sub", "tee out.txt", "curl -o out.json http://x", "tar xf x.tgz", "make", "go test ./...", "npm install", "npm test > out.txt 2>&1", "bash scripts/build.sh", "bash .claude/hooks/x.sh",
		"claude -p hi", "claude --version", "codex exec 'fix it'", "gemini -p 'hooks disable'", "opencode run x", "npx prettier --check .claude/settings.json", "hookd list", "hookd check", "hookd log --refused", "hookd trust --help", "hookd install --status", "hookd fire tool-call-start", "pkill node", "pkill -f webpack", "kill 1234", "kill -9 $PID", "kill %1", "killall node", "systemctl status hookd", "kill -l",
		"HOME=/tmp/x npm test", "CLAUDE_CONFIG_DIR=/tmp/x go test ./...", "export HOME=/tmp/x", "export PATH=$PATH:bin", "echo $CLAUDE_CONFIG_DIR", "date; sleep 1", "", "# nothing", "ln -s ../sub link", "cp evil.json other.json", "cp -r sub /tmp/sub", "docker run -v $PWD:/x y", "ssh host ls", "node -e 'console.log(1)'", "python3 script.py",
	} {
		if refused, undecided := w.shell(t, line); refused != "" || undecided != "" {
			t.Errorf("%s: refused: %s, undecided: %s", line, refused, undecided)
		}
	}
}

// What only shows when a line runs is no refusal, and is said.
func TestShellLinesThatAreUndecided(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{
		"X=$(echo .claude | tr a a); rm -rf $X", "echo .claude/settings.json | xargs rm", "f() { rm \"$1\"; }; f .claude/settings.json", "set -- .claude/settings.json; rm $1", "rm .claude/$X", "echo x > .claude/$NAME", "mytool .claude/settings.json", "python3 fix.py .claude/settings.json",
		"echo 'rm .claude/settings.json' | bash -", "trap 'rm .claude/settings.json' EXIT", "echo 'x > .claude/settings.json", "$RUN .claude/settings.json", "python3 -c \"d='.claude'; open(d+'/settings.json','w')\"", "git clean -fdx", "while read f; do rm $f; done <<< .claude/settings.json",
	} {
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
		{`{"name":"task","kind":"agent","unproven":true,"args":{"path":".claude/settings.json"}}`, protocol.Block},
		{`{"name":"subagent","kind":"agent","unproven":true,"args":{"command":"rm -rf .acai"}}`, protocol.Block},
		{`{"name":"task","kind":"agent","args":{"prompt":"rm -rf .acai"}}`, ""},
	} {
		ev := protocol.Event{Event: protocol.ToolCallStart, Project: w.project, Cwd: w.project, Data: protocol.RawMessage(c.data)}
		reply, err := hook.Func(t.Context(), &ev)
		if err != nil || reply.Action != c.want {
			t.Errorf("%s: %q %s, %v", c.data, reply.Action, reply.Reason, err)
		}
	}
}
