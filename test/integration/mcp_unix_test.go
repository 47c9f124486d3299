//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stubbornServer is an MCP server that leaves processes, ignores TERM, and does not end when
// its input does. The tool "quit" ends it, "hang" makes it read no more.
const stubbornServer = `#!/bin/sh
trap '' TERM HUP
echo 'welcome to my server'
echo 'ready' >&2
sleep 61 & (setsid sleep 62 2>/dev/null &)
while read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
	case $line in
	*'"quit"'*) exit 3 ;;
	*'"hang"'*) break ;;
	*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ran"}]}}\n' "$id" ;;
	esac
done
while :; do sleep 0.2; done
`

// proxied is a client's side of hookd mcp, and of hookd acp in front of an agent.
type proxied struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	read   io.Closer
	stderr *bytes.Buffer
}

func proxyMCP(t *testing.T, b *box) *proxied {
	t.Helper()
	return proxyOf(t, b, stubbornServer, "mcp", "--name", "odd", "--")
}

// proxyOf starts hookd in front of a shell script.
func proxyOf(t *testing.T, b *box, script string, command ...string) *proxied {
	t.Helper()
	server := filepath.Join(b.folder, "server.sh")
	if err := os.WriteFile(server, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &proxied{t: t, cmd: b.command(append(command, server)...), stderr: &bytes.Buffer{}}
	p.start()
	return p
}

func (p *proxied) start() {
	p.t.Helper()
	in, err := p.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	p.in, p.read, p.out, p.cmd.Stderr = in, out, bufio.NewReader(out), p.stderr
	startIn(p.t, p.cmd)
}

func (p *proxied) say(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *proxied) call(tool string) {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`)
}

func (p *proxied) answer() string {
	p.t.Helper()
	text, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v; stderr: %s", err, p.stderr)
	}
	return text
}

// However one side of a guarded server ends, the other ends in time, with all that the server
// started.
func TestEndsOfAGuardedServer(t *testing.T) {
	for name, test := range map[string]struct {
		end    func(p *proxied)
		within time.Duration
		exit   int // -1: killed
		stderr string
	}{
		"the client closes its stream": {func(p *proxied) { p.in.Close() }, 6 * time.Second, 0, ""},
		"the client is gone":           {func(p *proxied) { p.in.Close(); p.read.Close() }, 6 * time.Second, 0, ""},
		"the client is gone while the server does not read": {func(p *proxied) {
			p.call("hang")
			time.Sleep(300 * time.Millisecond) // hooks judge it, and what is no call does not wait for that
			go io.WriteString(p.in, strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/x","params":"`+strings.Repeat("x", 10_000)+`"}`+"\n", 50))
			time.Sleep(100 * time.Millisecond)
			p.in.Close()
			p.read.Close()
		}, 6 * time.Second, 1, ""}, // the answer that nobody reads
		"the client is gone, and another holds its stream": {func(p *proxied) {
			p.call("hang")
			p.read.Close()
		}, 6 * time.Second, 1, ""},
		"a signal":         {func(p *proxied) { p.cmd.Process.Signal(syscall.SIGTERM) }, 4 * time.Second, 130, ""},
		"hookd is killed":  {func(p *proxied) { p.cmd.Process.Kill() }, 2 * time.Second, -1, ""},
		"the server quits": {quits, 4 * time.Second, 1, "the MCP server "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			p := proxyMCP(t, b)
			p.call("run")
			if got := p.answer(); !strings.Contains(got, `"text":"ran"`) {
				t.Fatalf("%s; stderr: %s", got, p.stderr)
			}
			began := time.Now()
			test.end(p)
			p.cmd.Wait()
			if took, exit := time.Since(began), p.cmd.ProcessState.ExitCode(); took > test.within || exit != test.exit {
				t.Errorf("exit code %d after %v; stderr: %s", exit, took, p.stderr)
			}
			if left := aliveAfter(b.folder, killedBound()); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
			for _, want := range []string{"ready\n", "welcome to my server", test.stderr} {
				if !strings.Contains(p.stderr.String(), want) {
					t.Errorf("stderr is without %q: %s", want, p.stderr)
				}
			}
		})
	}
}

// quits has the server end in the middle of a call.
func quits(p *proxied) {
	p.call("quit")
	if got := p.answer(); !strings.Contains(got, `"id":1,"error":{"code":-32000,"message":"hookd: the MCP server has ended: exit code 3"}`) {
		p.t.Error(got)
	}
}

// Hooks of the user judge the calls of a server, with the name that the command line says.
// Those of a project count when it was allowed, and not before.
func TestHooksOfAGuardedServer(t *testing.T) {
	b := newBox(t)
	guard := func(folder, tool, reason string) {
		path := filepath.Join(folder, ".acai", "hooks", reason+".sh")
		os.MkdirAll(filepath.Dir(path), 0o755)
		text := "#!/bin/sh\n# hook: events=tool-call-start match.tool=mcp__odd__" + tool + " can=block\necho '{\"action\":\"block\",\"reason\":\"" + reason + "\"}'\n"
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	guard(b.home, "mine", "users")
	asks := func(p *proxied, tool, want string) {
		t.Helper()
		p.call(tool)
		if got := p.answer(); !strings.Contains(got, `"text":"`+want) {
			t.Errorf("%s: %s; stderr: %s", tool, got, p.stderr)
		}
	}
	if err := os.WriteFile(filepath.Join(b.folder, "odd"), []byte(strings.Replace(stubbornServer, "echo 'ready'", `echo "of $HOME, $HOOKD_SERVER_ENV_HOME"`, 1)), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &proxied{t: t, cmd: b.command("mcp", "--name", "odd", "--", "odd"), stderr: &bytes.Buffer{}}
	p.cmd.Env = append(p.cmd.Env, "HOOKD_SERVER_ENV_HOME=/nowhere", "HOOKD_SERVER_ENV_PATH="+b.folder+":"+os.Getenv("PATH")) // the server's, not hookd's
	p.start()
	asks(p, "mine", "users")
	asks(p, "run", "ran")
	guard(b.project, "run", "projects")
	p.in.Close()
	p.cmd.Wait()
	if got := p.stderr.String(); !strings.Contains(got, "of /nowhere, \n") {
		t.Errorf("the server has other variables: %s", got)
	}
	p = proxyMCP(t, b)
	asks(p, "other", "ran")
	asks(p, "run", "blocked: the check projects.sh could not be made (untrusted)") // a guard of a project refuses until somebody looks
	p.in.Close()
	p.cmd.Wait()
	if count := strings.Count(p.stderr.String(), "nobody allowed the guards of this project"); count != 1 || !strings.Contains(p.stderr.String(), "mcp__odd__run refused by projects.sh") {
		t.Errorf("stderr names it %d times: %s", count, p.stderr)
	}
	if out, err := b.command("trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p = proxyMCP(t, b)
	asks(p, "run", "projects")
	p.in.Close()
	p.cmd.Wait()
}

// A server that is reached by an address is guarded as one that is a program, with the headers
// that the command line says, and is left at the end.
func TestGuardedAddress(t *testing.T) {
	b := newBox(t)
	os.MkdirAll(filepath.Join(b.home, ".acai", "hooks"), 0o755)
	rules := "rules:\n- {name: no-drop, events: [tool-call-start], match: {tool: mcp__far__drop}, reply: {action: block, reason: nothing is dropped}}\n"
	if err := os.WriteFile(filepath.Join(b.home, ".acai", "hooks", "far.rules.yaml"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	left := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("Authorization") != "Bearer s3cret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodDelete:
			left <- r.Header.Get("Mcp-Session-Id")
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case bytes.Contains(body, []byte(`"id"`)):
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s1")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","tools":[{"name":"drop"},{"name":"run"}],"content":[{"type":"text","text":"ran"}]}}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer server.Close()
	start := func(token string) *proxied {
		p := &proxied{t: t, cmd: b.command("mcp", "--name", "far", "--url", server.URL, "--header", "Authorization: Bearer ${FAR_TOKEN}"), stderr: &bytes.Buffer{}}
		p.cmd.Env = append(p.cmd.Env, "FAR_TOKEN="+token)
		p.start()
		return p
	}
	p := start("s3cret")
	for _, exchange := range []struct{ say, want, not string }{
		{`"method":"initialize","params":{}`, "2025-11-25", ""},
		{`"method":"tools/list"`, `{"name":"run"}`, "drop"},
		{`"method":"tools/call","params":{"name":"run"}`, `"ran"`, ""},
		{`"method":"tools/call","params":{"name":"drop"}`, "nothing is dropped", "ran"},
	} {
		p.say(`{"jsonrpc":"2.0","id":1,` + exchange.say + `}`)
		if got := p.answer(); !strings.Contains(got, exchange.want) || exchange.not != "" && strings.Contains(got, exchange.not) {
			t.Errorf("%s: %s; stderr: %s", exchange.say, got, p.stderr)
		}
	}
	began := time.Now()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil || time.Since(began) > 4*time.Second {
		t.Errorf("%v after %v; stderr: %s", err, time.Since(began), p.stderr)
	}
	if session := <-left; session != "s1" || strings.Contains(p.stderr.String(), "s3cret") {
		t.Errorf("session %q; stderr: %s", session, p.stderr)
	}
	p = start("wrong")
	p.call("run")
	if got := p.answer(); !strings.Contains(got, "401 Unauthorized: check the headers that hookd mcp sends") {
		t.Error(got)
	}
	p.in.Close()
	p.cmd.Wait()
}

// A host that starts its servers in a folder that is no project's has no guards of a project: that is said.
func TestNoProjectIsInFrontOfAServer(t *testing.T) {
	for name, test := range map[string]struct {
		folder string
		flags  []string
		said   bool
	}{
		"in a project": {"proj", nil, false},
		"elsewhere":    {"", nil, true},
		"it is named":  {"", []string{"--project", "proj"}, false},
		"another's is": {"", []string{"--also", "proj"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			c := b.command(append(append([]string{"mcp", "--name", "x"}, test.flags...), "--", "cat")...)
			c.Dir = filepath.Join(b.folder, test.folder)
			out, err := c.CombinedOutput()
			if err != nil || strings.Contains(string(out), "no project is here, in "+c.Dir) != test.said {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// Where hookd cannot begin, the client reads why, and what to do, as the answer to its first request:
// few people look at stderr of what their editor starts.
func TestAClientReadsWhyNothingBegins(t *testing.T) {
	for _, test := range []struct {
		command string
		says    []string
		exit    int
	}{
		{"mcp --name x -- no-such-server", []string{"the MCP server cannot be started", "no-such-server", "absolute path"}, 1},
		{"mcp --name x", []string{"no server is named", "--url"}, 3},
		{"mcp --nam x -- server", []string{"unknown flag: --nam", "hookd mcp --help"}, 3},
		{"mcp --url nowhere", []string{"--url"}, 3},
		{"acp -- no-such-agent", []string{"the agent cannot be started", "no-such-agent", "absolute path"}, 1},
		{"acp --mode default", []string{"--mode", "hookd acp --mode ID -- AGENT"}, 3},
		{"acp --modle x", []string{"unknown flag: --modle", "hookd acp --help"}, 3},
		{"acp --", []string{"no agent is named after --"}, 3},
	} {
		t.Run(test.command, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			p := &proxied{t: t, cmd: b.command(strings.Fields(test.command)...), stderr: &bytes.Buffer{}}
			p.start()
			p.say(`{"jsonrpc":"2.0","id":"one","method":"initialize","params":{}}`)
			got := p.answer()
			for _, want := range append(test.says, `{"jsonrpc":"2.0","id":"one","error":{"code":-32603,"message":"hookd: `) {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in %s", want, got)
				}
			}
			p.in.Close()
			if _, err := p.out.ReadString('\n'); err != io.EOF {
				t.Errorf("after the answer: %v", err)
			}
			if p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != test.exit || !strings.Contains(p.stderr.String(), test.says[0]) {
				t.Errorf("exit code %d: %s", p.cmd.ProcessState.ExitCode(), p.stderr)
			}
		})
	}
}
