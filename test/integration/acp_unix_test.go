//go:build unix

package integration

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stubbornAgent is an agent that leaves processes, ignores TERM, and does not end when its
// input does. It asks for permission at the prompt "ask", quits at "quit", and reads no more
// after "hang". To session/new it answers with the MCP servers that it was given.
const stubbornAgent = `#!/bin/sh
trap '' TERM HUP
echo 'welcome to my agent'
echo 'ready' >&2
sleep 61 & (setsid sleep 62 2>/dev/null &)
while read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
	case $line in
	*'"outcome"'*) printf '{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","_meta":%s}}\n' "$line" ;;
	*'"quit"'*) exit 3 ;;
	*'"hang"'*) break ;;
	*'"ask"'*) echo '{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}],"toolCall":{"toolCallId":"c","kind":"execute","title":"rm x","rawInput":{"command":"rm x"}}}}' ;;
	*session/new*) printf '{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s","_meta":%s}}\n' "$id" "$line" ;;
	*) printf '{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}\n' "$id" ;;
	esac
done
while :; do sleep 0.2; done
`

func (p *proxied) prompt(text string) {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"` + text + `"}]}}`)
}

// proxyACP opens a session of the agent through hookd.
func proxyACP(t *testing.T, b *box) *proxied {
	t.Helper()
	p := proxyOf(t, b, stubbornAgent, "acp", "--")
	p.say(`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"` + b.project + `","mcpServers":[{"name":"files","command":"/bin/files","args":["a b"],"env":[]}]}}`)
	if got := p.answer(); !strings.Contains(got, `"--project","`) || !strings.Contains(got, `"mcp","--name","files","--","/bin/files","a b"]`) {
		t.Errorf("the MCP server is not guarded: %s", got)
	}
	return p
}

// However one side of a guarded agent ends, the other ends in time, with all that the agent
// started.
func TestEndsOfAGuardedAgent(t *testing.T) {
	for name, test := range map[string]struct {
		end    func(p *proxied)
		within time.Duration
		exit   int // -1: killed
		stderr string
	}{
		"the client closes its stream": {func(p *proxied) { p.in.Close() }, 6 * time.Second, 0, ""},
		"the client is gone in a turn": {func(p *proxied) {
			p.prompt("ask")
			p.read.Close()
			p.in.Close()
		}, 6 * time.Second, 1, ""}, // the question that nobody reads
		"the client is gone while the agent does not read": {func(p *proxied) {
			p.prompt("hang")
			p.in.Close()
			p.read.Close()
		}, 15 * time.Second, 1, ""},
		"a signal":        {func(p *proxied) { p.cmd.Process.Signal(syscall.SIGTERM) }, 4 * time.Second, 130, ""},
		"hookd is killed": {func(p *proxied) { p.cmd.Process.Kill() }, 2 * time.Second, -1, ""},
		"the agent quits": {func(p *proxied) {
			p.prompt("quit")
			if got := p.answer(); !strings.Contains(got, `"id":1,"error":{"code":-32603,"message":"hookd: the agent has ended: exit code 3"}`) {
				p.t.Error(got)
			}
		}, 4 * time.Second, 1, "the agent "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			p := proxyACP(t, b)
			began := time.Now()
			test.end(p)
			p.cmd.Wait()
			if took, exit := time.Since(began), p.cmd.ProcessState.ExitCode(); took > test.within || exit != test.exit {
				t.Errorf("exit code %d after %v; stderr: %s", exit, took, p.stderr)
			}
			if left := aliveAfter(b.folder, killedBound()); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
			for _, want := range []string{"ready\n", "welcome to my agent", test.stderr} {
				if !strings.Contains(p.stderr.String(), want) {
					t.Errorf("stderr is without %q: %s", want, p.stderr)
				}
			}
		})
	}
}

// A hook of the user refuses a command that an agent asks about, and a prompt.
func TestHooksOfAGuardedAgent(t *testing.T) {
	b := newBox(t)
	guard := "#!/bin/sh\n# hook: events=tool-call-start,prompt-submit match.when=\"!has(data.prompt)||data.prompt!='ask'\" can=block\n\"$HOOKD\" reply block 'not here'\n"
	if err := os.WriteFile(filepath.Join(b.home, ".acai", "hooks", "guard.sh"), []byte(guard), 0o755); err != nil {
		t.Fatal(err)
	}
	p := proxyACP(t, b)
	p.prompt("ask")
	got := p.answer() + p.answer()
	if !strings.Contains(got, `"optionId":"n","_meta":{"hookd":{"by":"guard.sh","reason":"not here"}}`) || !strings.Contains(got, "hookd: the hook guard.sh refused the call of bash: not here") {
		t.Error(got)
	}
	p.prompt("go")
	if got := p.answer() + p.answer(); !strings.Contains(got, "refused this prompt: not here") || !strings.Contains(got, `"id":1,"result":{"stopReason":"refusal"}`) {
		t.Error(got)
	}
	p.in.Close()
	p.cmd.Wait()
	if !strings.Contains(p.stderr.String(), "tool-call-start of bash refused by guard.sh: not here") {
		t.Error(p.stderr)
	}
}

// The record has what the person answers in the editor, also where nobody answers any more.
func TestAnswersInTheEditorAreRecorded(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	ask := "#!/bin/sh\n# hook: events=tool-call-start can=block\n\"$HOOKD\" reply ask 'sure?'\n"
	for _, by := range []string{"", ` \(asked by asks\.sh\)`} {
		if by != "" {
			if err := os.WriteFile(filepath.Join(b.home, ".acai", "hooks", "asks.sh"), []byte(ask), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		p := proxyACP(t, b)
		for _, outcome := range []string{`{"outcome":"selected","optionId":"y"}`, `{"outcome":"selected","optionId":"n"}`, `{"outcome":"cancelled"}`, ""} {
			p.prompt("ask")
			if got := p.answer(); !strings.Contains(got, `"id":9,"method":"session/request_permission"`) {
				t.Fatal(got)
			}
			if outcome == "" {
				break
			}
			answer := `{"jsonrpc":"2.0","id":9,"result":{"outcome":` + outcome + `}}`
			p.say(answer)
			if got := p.answer(); !strings.Contains(got, `"_meta":`+answer) {
				t.Fatal(got)
			}
		}
		p.in.Close()
		p.read.Close()
		p.cmd.Wait()
		out, err := b.command("log").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := ""
		for _, text := range []string{"allowed by the person", "refused by the person", "refused by the person, who chose none of the options", "refused: the person could not be asked"} {
			want += `(?s:.*)permission-request bash +` + text + by + "  ‹rm …›\n"
		}
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("without %s:\n%s", want, out)
		}
	}
}

// guardedFolder is another project in the box, whose guard a person has allowed.
func guardedFolder(t *testing.T, b *box) string {
	t.Helper()
	other := filepath.Join(b.folder, "other")
	if err := os.MkdirAll(filepath.Join(other, ".acai", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	guard := "#!/bin/sh\n# hook: events=tool-call-start can=block\n\"$HOOKD\" reply block 'not in other'\n"
	if err := os.WriteFile(filepath.Join(other, ".acai", "hooks", "guard.sh"), []byte(guard), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := b.command("--project", other, "trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return other
}

// What was allowed of a folder that a client adds to a session of hookd's own agent counts in it, and
// the session works in its own folder all the same.
func TestHooksOfTheFoldersOfASession(t *testing.T) {
	b := newBox(t)
	other, alone, script := guardedFolder(t, b), filepath.Join(b.folder, "alone"), filepath.Join(b.folder, "model.yaml")
	if err := os.Mkdir(alone, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("turns:\n- toolCalls: [{name: write_file, args: {path: new, content: x}}]\n- text: done\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for folders, want := range map[[2]string]string{{b.project, ""}: "", {b.project, other}: "not in other", {alone, ""}: "", {alone, other}: "not in other"} {
		p := &proxied{t: t, cmd: b.command("acp", "--model", "scripted:"+script, "--allow", "write"), stderr: &bytes.Buffer{}}
		p.start()
		all := ""
		until := func(id string) {
			for line := ""; !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`+id+`,`); all += line {
				line = p.answer()
			}
		}
		others := ""
		if folders[1] != "" {
			others = `,"additionalDirectories":["` + folders[1] + `"]`
		}
		p.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"` + folders[0] + `","mcpServers":[]` + others + `}}`)
		until("1")
		_, rest, _ := strings.Cut(all, `"sessionId":"`)
		id, _, _ := strings.Cut(rest, `"`)
		p.say(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"` + id + `","prompt":[{"type":"text","text":"go"}]}}`)
		until("2")
		p.in.Close()
		p.cmd.Wait()
		file := filepath.Join(folders[0], "new")
		if wrote := exists(file); wrote != (want == "") || !strings.Contains(all, want) {
			t.Errorf("%v: written %v: %s%s", folders, wrote, all, p.stderr)
		}
		_ = os.Remove(file)
	}
}

// What an agent does in a session is judged by the hooks of all folders that the session works in,
// and so are the calls of its MCP servers; where a link led before does not count.
func TestFoldersOfAGuardedAgent(t *testing.T) {
	b := newBox(t)
	other, link := guardedFolder(t, b), filepath.Join(b.folder, "link")
	if err := os.Mkdir(filepath.Join(b.folder, "open"), 0o755); err != nil {
		t.Fatal(err)
	}
	leads := func(to string) {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	leads(filepath.Join(b.folder, "open"))
	p := proxyOf(t, b, stubbornAgent, "acp", "--")
	open := func(where string) (answer string) {
		p.say(`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{` + where + `,"mcpServers":[{"name":"files","command":"/bin/files","args":[],"env":[]}]}}`)
		answer = p.answer()
		p.say(`{"jsonrpc":"2.0","id":0,"method":"session/close","params":{"sessionId":"s"}}`)
		p.answer()
		return answer
	}
	judged := func(where string, want bool) {
		t.Helper()
		p.say(`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{` + where + `,"mcpServers":[]}}`)
		p.answer()
		p.prompt("ask")
		got := p.answer()
		if strings.Contains(got, "refused the call of bash: not in other") != want {
			t.Errorf("%s: %s", where, got)
		}
		if !want {
			p.say(`{"jsonrpc":"2.0","id":9,"result":{"outcome":{"outcome":"cancelled"}}}`)
		}
		p.answer()
		p.say(`{"jsonrpc":"2.0","id":0,"method":"session/close","params":{"sessionId":"s"}}`)
		p.answer()
	}
	cwd := func(folder string) string { return `"cwd":"` + folder + `"` }
	judged(cwd(link), false)
	leads(other)
	judged(cwd(link), true)
	judged(cwd(b.project)+`,"additionalDirectories":["`+link+`"]`, true)
	if got, want := open(cwd(b.project)+`,"additionalDirectories":["`+link+`"]`), `"mcp","--also","`; !strings.Contains(got, want) || !strings.Contains(got, "/other\",\"--name\",\"files\"") {
		t.Errorf("%s, want %s", got, want)
	}
	p.in.Close()
	p.cmd.Wait()

	m := proxyOf(t, b, stubbornServer, "mcp", "--also", "missing", "--also", link, "--name", "odd", "--")
	m.call("go")
	if got := m.answer(); !strings.Contains(got, "not in other") {
		t.Error(got)
	}
	m.in.Close()
	m.cmd.Wait()
	if !strings.Contains(m.stderr.String(), "--also missing names no folder") || strings.Contains(m.stderr.String(), "--also "+link) {
		t.Error(m.stderr)
	}
}

// However the connection to a conductor ends, a member of its chain ends in time, with the hooks
// that it is asking.
func TestEndsOfAMemberOfAChain(t *testing.T) {
	for name, test := range map[string]struct {
		end    func(p *proxied)
		within time.Duration
		exit   int // -1: killed
	}{
		"the conductor closes its stream": {func(p *proxied) { p.in.Close() }, 6 * time.Second, 0},
		"the conductor is gone": {func(p *proxied) {
			p.read.Close()
			p.in.Close()
		}, 6 * time.Second, 1}, // the prompt's answer that nobody reads
		"a signal":        {func(p *proxied) { p.cmd.Process.Signal(syscall.SIGTERM) }, 4 * time.Second, 130},
		"hookd is killed": {func(p *proxied) { p.cmd.Process.Kill() }, 2 * time.Second, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			asked := filepath.Join(b.folder, "asked")
			hook := "#!/bin/sh\n# hook: events=prompt-submit can=block\n: >'" + asked + "'\nsleep 63 & wait\n"
			if err := os.WriteFile(filepath.Join(b.home, ".acai", "hooks", "slow.sh"), []byte(hook), 0o755); err != nil {
				t.Fatal(err)
			}
			p := &proxied{t: t, cmd: b.command("acp", "--chain"), stderr: &bytes.Buffer{}}
			p.start()
			p.say(`{"jsonrpc":"2.0","id":0,"method":"_proxy/initialize","params":{"protocolVersion":1}}`)
			if got, want := p.answer(), `{"jsonrpc":"2.0","id":"chain-1","method":"_proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1}}}`+"\n"; got != want {
				t.Error(got)
			}
			p.say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"` + b.project + `","mcpServers":[]}}`)
			p.answer()
			p.say(`{"jsonrpc":"2.0","id":"chain-2","result":{"sessionId":"s"}}`)
			p.answer()
			p.prompt("go")
			for began := time.Now(); !exists(asked) && time.Since(began) < 10*time.Second; {
				time.Sleep(10 * time.Millisecond)
			}
			began := time.Now()
			test.end(p)
			p.cmd.Wait()
			if took, exit := time.Since(began), p.cmd.ProcessState.ExitCode(); took > test.within || exit != test.exit || !exists(asked) {
				t.Errorf("exit code %d after %v; stderr: %s", exit, took, p.stderr)
			}
			if left := aliveAfter(b.folder, killedBound()); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}
