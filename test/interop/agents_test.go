//go:build interop && unix

package interop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// realAgent is an agent that npm installs, and how it is driven without a person, a login
// and a network.
type realAgent struct {
	name     string // as in hookd install
	pkg      string
	program  string // below the folder of the package, a pattern
	shell    string // its shell tool, and the member that is the command
	member   string
	stream   func(modelserver.Turn) string
	args     []string
	env      []string
	files    map[string]string // written before hookd is installed, below the box
	base     string            // the variable of the model's address
	basePath string
}

var realAgents = []realAgent{
	{name: "claude", pkg: "@anthropic-ai/claude-code", program: "../claude-code-*/claude", shell: "Bash", member: "command", stream: modelserver.Anthropic,
		args: []string{"-p", "do the thing", "--allowedTools", "Bash"}, base: "ANTHROPIC_BASE_URL",
		env: []string{"ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}},
	{name: "gemini", pkg: "@google/gemini-cli", program: "bundle/gemini.js", shell: "run_shell_command", member: "command", stream: gemini,
		args: []string{"-p", "do the thing", "--yolo", "--model", "gemini-2.5-flash"}, base: "GOOGLE_GEMINI_BASE_URL",
		env:   []string{"GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false"},
		files: map[string]string{"home/.gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}}`}},
	{name: "codex", pkg: "@openai/codex", program: "bin/codex.js", shell: "exec_command", member: "cmd", stream: responses,
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-s", "danger-full-access", "-m", "mock-model",
			"-c", `model_provider="mock"`, "-c", `model_providers.mock={name="mock",base_url="${BASE}/v1",wire_api="responses",env_key="MOCK_KEY"}`, "do the thing"},
		env: []string{"MOCK_KEY=none"}},
	{name: "qwen", pkg: "@qwen-code/qwen-code", program: "cli.js", shell: "run_shell_command", member: "command", stream: modelserver.OpenAI,
		args: []string{"-p", "do the thing", "--yolo", "--auth-type", "openai"}, base: "OPENAI_BASE_URL", basePath: "/v1",
		env: []string{"OPENAI_API_KEY=none", "OPENAI_MODEL=mock-model",
			"HTTPS_PROXY=", "https_proxy=", "HTTP_PROXY=", "http_proxy="}, // it would ask the proxy for this machine's addresses, too
		files: map[string]string{"home/.qwen/settings.json": `{"privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}}`}},
	{name: "opencode", pkg: "opencode-ai", program: "../opencode-linux-*/bin/opencode", shell: "bash", member: "command", stream: modelserver.OpenAI,
		args: []string{"run", "do the thing", "--model", "mock/mock-model"},
		env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_SHARE=1",
			"npm_config_fetch_retries=0"},
		files: map[string]string{"proj/opencode.json": `{"provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": {"baseURL": "${BASE}/v1", "apiKey": "none"}, "models": {"mock-model": {"name": "mock", "tool_call": true}}}}}`}},
}

const reason = "a person does that, not an agent"

// Hooks of the person, which need no record of trust.
const (
	refusing = `#!/bin/sh
# hook: events=tool-call-start match.tool=@shell can=block
command=$("$HOOKD" get data.args.command) || exit 1
case "$command" in *refused.txt*) "$HOOKD" reply block "` + reason + `" ;; esac
`
	changing = `#!/bin/sh
# hook: events=tool-call-start match.tool=@shell can=modify
command=$("$HOOKD" get data.args.command) || exit 1
case "$command" in *original.txt*) echo '{"action":"modify","changes":{"args":{"command":"echo it was changed >changed.txt; cat changed.txt"}}}' ;; esac
`
)

// TestRealAgents: an agent into which hookd install put hookd does not run what a hook
// refuses, and its model reads the reason; it runs what a hook made of a call, and a call
// that no hook minds. Where an agent takes no changed args, it does not run the call.
func TestRealAgents(t *testing.T) {
	for i := range realAgents {
		a := &realAgents[i]
		t.Run(a.name, func(t *testing.T) { a.test(t) })
	}
}

func (a *realAgent) test(t *testing.T) {
	folder := peer(t, a.pkg)
	found, _ := filepath.Glob(filepath.Join(folder, filepath.FromSlash(a.program)))
	if len(found) == 0 {
		t.Skipf("%s has no program for this system (%s)", a.pkg, a.program)
	}
	model := newAgentModel(t, a.stream,
		a.calls("call_1", "echo no >refused.txt"), a.calls("call_2", "echo no >original.txt"), a.calls("call_3", "echo the third ran >third.txt; cat third.txt"),
		modelserver.Turn{Text: "All is done.", Input: 30, Output: 5})
	b := newBox(t)
	b.write(t, "home/.acai/hooks/refusing.sh", refusing, 0o755)
	b.write(t, "home/.acai/hooks/changing.sh", changing, 0o755)
	for path, text := range a.files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.folder, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		b.write(t, path, strings.ReplaceAll(text, "${BASE}", model.url), 0o600)
	}
	programs := filepath.Join(b.folder, "bin")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(found[0], filepath.Join(programs, a.name)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(found[0], 0o755); err != nil {
		t.Fatal(err)
	}
	env := a.environment(b, model.url, programs)
	_, done, _ := strings.Cut(b.must(t, env, binary, "install", a.name, "--yes"), "✓ ")
	t.Log(strings.TrimSpace(done))

	var args []string
	for _, arg := range a.args {
		args = append(args, strings.ReplaceAll(arg, "${BASE}", model.url))
	}
	began := time.Now()
	said := b.must(t, env, filepath.Join(programs, a.name), args...)
	t.Logf("the agent ran for %s", time.Since(began).Round(100*time.Millisecond))

	told := model.told()
	if len(told) != 3 {
		t.Fatalf("the model read %d results, want 3; the agent said:\n%s", len(told), said)
	}
	if b.has("proj/refused.txt") {
		t.Error("the call that a hook refused was run")
	}
	if !strings.Contains(told[0], reason) {
		t.Errorf("the model does not read why its call was refused: %s", told[0])
	}
	if b.has("proj/original.txt") {
		t.Error("the call that a hook changed was run as the model wrote it")
	}
	switch ran := b.has("proj/changed.txt"); {
	case a.changes() && (!ran || !strings.Contains(told[1], "it was changed")):
		t.Errorf("the call as the hook wants it: run %v, and the model reads %s", ran, told[1])
	case !a.changes() && (ran || !strings.Contains(told[1], "the hook changing.sh changed args")):
		t.Errorf("the agent takes no changed args: run %v, and the model reads %s, want a refusal that says so", ran, told[1])
	}
	if !b.has("proj/third.txt") || !strings.Contains(told[2], "the third ran") {
		t.Errorf("the call that no hook minds was not run: %s", told[2])
	}
	if log := b.must(t, env, binary, "log"); !strings.Contains(log, "refusing.sh") {
		t.Errorf("hookd log does not show the refusal:\n%s", log)
	}
}

// calls is a turn with one call of the shell tool.
func (a *realAgent) calls(id, command string) modelserver.Turn {
	args := `{` + asJSON(a.member) + `:` + asJSON(command) + `,"description":"a step"}`
	if a.member == "cmd" {
		args = `{"cmd":` + asJSON(command) + `}`
	}
	return modelserver.Turn{Calls: []modelserver.Call{{ID: id, Name: a.shell, Args: args}}, Input: 20, Output: 5}
}

// changes reports whether the agent takes changed args, by the table of docs/bridges.md.
func (a *realAgent) changes() bool {
	for _, row := range hosts.Find(a.name).Rows {
		if row.Event == protocol.ToolCallStart && row.Same == "" {
			return row.Can.Change.Possible()
		}
	}
	return false
}

// environment has no key, and a proxy at which nobody answers for all but this machine.
func (a *realAgent) environment(b *box, url, programs string) []string {
	const nowhere = "http://127.0.0.1:9"
	env := append([]string{
		"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + b.home, "LANG=C.UTF-8", "SHELL=/bin/sh", "TERM=dumb", "CI=1",
		"XDG_STATE_HOME=" + filepath.Join(b.folder, "state"), "TMPDIR=" + b.folder,
		"HTTPS_PROXY=" + nowhere, "https_proxy=" + nowhere, "HTTP_PROXY=" + nowhere, "http_proxy=" + nowhere, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}, a.env...)
	if a.base != "" {
		env = append(env, a.base+"="+url+a.basePath)
	}
	return env
}

func (b *box) has(path string) bool {
	_, err := os.Stat(filepath.Join(b.folder, path))
	return err == nil
}

// must runs a program in the project to a good end and returns what it prints.
func (b *box) must(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env, c.WaitDelay = b.project, env, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}
