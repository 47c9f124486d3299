//go:build interop && unix

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// acpScript is what the model says to a client: a thought, a command, a change, a plan, an end.
const acpScript = `contextMax: 1000
turns:
- thinking: "hm"
  text: "I look."
  usage: {inputTokens: 10, outputTokens: 5, contextTokens: 15, costUsd: 0.01}
  toolCalls: [{name: bash, args: {command: "echo ran > ran"}}]
- toolCalls: [{name: write_file, args: {path: a.txt, content: "one\n"}}]
- toolCalls: [{name: edit_file, args: {path: a.txt, oldText: one, newText: two}}]
- toolCalls: [{name: bash, args: {command: "rm -rf x"}}]
- toolCalls: [{name: todo_write, args: {items: [{text: do it, status: pending}]}}]
- text: "done"
- text: "all of it in short"
- {text: "waiting", hang: true}
`

// acpNode is a client made of the official SDK.
const acpNode = `import * as acp from '@agentclientprotocol/sdk';
import {spawn} from 'node:child_process';
import {Readable, Writable} from 'node:stream';
const [cwd, answer, ...command] = process.argv.slice(2);
const child = spawn(command[0], command.slice(1), {stdio: ['pipe', 'pipe', 'inherit'], cwd});
const seen = {text: '', updates: [], asked: 0, hooks: [], terminals: [], embedded: 0};
const {terminal} = acp.methods.client;
await acp.client({name: 'interop'})
  .onRequest(acp.methods.client.session.requestPermission, ({params}) => {
    seen.asked++;
    const o = params.options.find(o => o.kind === answer);
    return {outcome: o ? {outcome: 'selected', optionId: o.optionId} : {outcome: 'cancelled'}};
  })
  .onRequest(terminal.create, ({params: p}) => {
    const env = Object.fromEntries(p.env.map(v => [v.name, v.value]));
    const shown = {output: '', released: false};
    const program = spawn(p.command, p.args, {cwd: p.cwd, env: {...process.env, ...env}, stdio: ['ignore', 'pipe', 'inherit']});
    program.stdout.on('data', text => shown.output += text);
    shown.left = new Promise(done => program.on('close', (exitCode, signal) => done({exitCode, signal})));
    return {terminalId: String(seen.terminals.push(shown) - 1)};
  })
  .onRequest(terminal.waitForExit, ({params}) => seen.terminals[params.terminalId].left)
  .onRequest(terminal.release, ({params}) => {
    seen.terminals[params.terminalId].released = true;
    return {};
  })
  .onRequest('_hookd/hooks/call', p => p, ({params}) => {
    seen.hooks.push(params.event.event);
    return {action: 'observe'};
  })
  .onNotification(acp.methods.client.session.update, ({params: {update}}) => {
    if (!seen.updates.includes(update.sessionUpdate)) seen.updates.push(update.sessionUpdate);
    if (update.status === 'completed' && update.content?.some(c => c.type === 'terminal')) seen.embedded++;
    if (update.sessionUpdate === 'agent_message_chunk') seen.text += update.content.text;
  })
  .connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async ctx => {
    const {agent} = acp.methods;
    const init = await ctx.request(agent.initialize, {protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {terminal: true, session: {notices: {}, compaction: {}}}});
    seen.version = init.protocolVersion;
    await ctx.request('_hookd/hooks/register', {hooks: [{name: 'mine', events: ['tool-call-start'], can: 'block'}]});
    const {sessionId, configOptions} = await ctx.request(agent.session.new, {cwd, mcpServers: [], additionalDirectories: [cwd + '/..']});
    seen.options = configOptions.map(o => o.category);
    const prompt = text => ctx.request(agent.session.prompt, {sessionId, prompt: [{type: 'text', text}]});
    seen.stop = (await prompt('hello')).stopReason;
    seen.refused = (await prompt('a secret')).stopReason;
    await prompt('/compact');
    await ctx.request(agent.session.setMode, {sessionId, modeId: 'edit'});
    const set = await ctx.request(agent.session.setConfigOption, {sessionId, configId: 'mode', value: 'ask'});
    seen.mode = set.configOptions.find(o => o.id === 'mode').currentValue;
    const hang = prompt('hang');
    await ctx.notify(agent.session.cancel, {sessionId});
    seen.cancelled = (await hang).stopReason;
    await ctx.request(agent.session.close, {sessionId});
    await ctx.request(agent.session.load, {sessionId, cwd, mcpServers: []});
    seen.listed = (await ctx.request(agent.session.list, {cwd})).sessions.length;
    seen.unknown = await ctx.request('_x/y', {}).then(() => 0, e => e.code);
  });
child.stdin.end();
seen.exit = await new Promise(done => child.on('exit', done));
console.log(JSON.stringify(seen));
`

// acpBox is a box with the script and hooks of the user.
func acpBox(t *testing.T) *box {
	b := newBox(t)
	b.write(t, "model.yaml", acpScript, 0o644)
	b.write(t, "home/.acai/hooks/guard.sh", "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash can=block\ncase $(cat) in *'rm -rf'*) echo '{\"action\":\"block\",\"reason\":\"nothing is removed\"}' ;; esac\n", 0o755)
	b.write(t, "home/.acai/hooks/prompts.sh", "#!/bin/sh\n# hook: events=prompt-submit can=block\ncase $(cat) in *secret*) echo '{\"action\":\"block\",\"reason\":\"no secrets\"}' ;; esac\n", 0o755)
	return b
}

// acpRun runs a client of npm to its end.
func (b *box) acpRun(t *testing.T, program string, args ...string) (out []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.WaitDelay = b.project, time.Second
	cmd.Env = append(os.Environ(), "HOME="+b.home, "XDG_STATE_HOME="+filepath.Join(b.folder, "state"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.Bytes())
	}
	return out
}

// TestACPAgentWithSDK: the official SDK's client works with hookd acp, hooks judge what it does, and
// its own hook is asked.
func TestACPAgentWithSDK(t *testing.T) {
	folder := peer(t, acpSDK)
	b := acpBox(t)
	b.write(t, "client.mjs", acpNode, 0o644)
	if err := os.Symlink(filepath.Dir(filepath.Dir(folder)), filepath.Join(b.folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for answer, ran := range map[string]bool{"allow_once": true, "reject_once": false, "none": false} {
		os.Remove(filepath.Join(b.project, "ran"))
		out := b.acpRun(t, "node", filepath.Join(b.folder, "client.mjs"), b.project, answer, binary, "acp", "--model", "scripted:"+filepath.Join(b.folder, "model.yaml"))
		var seen struct {
			Text, Stop, Refused, Cancelled, Mode  string
			Updates, Hooks, Options               []string
			Asked, Version, Listed, Unknown, Exit int
			Embedded                              int
			Terminals                             []struct {
				Output   string
				Released bool
			}
		}
		if err := json.Unmarshal(out, &seen); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if shown := len(seen.Terminals); ran && (shown != 1 || seen.Embedded != 1 || seen.Terminals[0].Output != "$ echo ran > ran\n" || !seen.Terminals[0].Released) || !ran && shown > 0 {
			t.Errorf("%s: terminals %+v, %d in calls", answer, seen.Terminals, seen.Embedded)
		}
		_, err := os.Stat(filepath.Join(b.project, "ran"))
		if seen.Version != 1 || seen.Exit != 0 || seen.Stop != "end_turn" || seen.Refused != "refusal" || seen.Cancelled != "cancelled" || seen.Unknown != -32601 {
			t.Errorf("%s: %s", answer, out)
		}
		if (err == nil) != ran || seen.Asked != 3 || seen.Listed == 0 || !slices.Contains(seen.Hooks, "tool-call-start") || !strings.Contains(seen.Text, "done") {
			t.Errorf("%s: ran %v: %s", answer, err == nil, out)
		}
		if seen.Mode != "ask" || !slices.Equal(seen.Options, []string{"mode", "model"}) {
			t.Errorf("%s: %s", answer, out)
		}
		for _, kind := range []string{"config_option_update", "current_mode_update", "compaction_update", "compaction_summary_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "available_commands_update", "session_info_update", "notice", "user_message_chunk"} {
			if !slices.Contains(seen.Updates, kind) {
				t.Errorf("%s: no %s came: %s", answer, kind, out)
			}
		}
	}
}

// TestACPAgentWithACPX: acpx, a client for the command line, drives hookd acp; each frame of both is one of
// the published schema.
func TestACPAgentWithACPX(t *testing.T) {
	program := filepath.Join(filepath.Dir(peer(t, "acpx@0.19.1")), ".bin", "acpx")
	check := newFrameChecker(t)
	b := acpBox(t)
	agent := binary + " acp --model scripted:" + filepath.Join(b.folder, "model.yaml")
	out := b.acpRun(t, program, "--agent", agent, "--cwd", b.project, "--approve-all", "--format", "json", "exec", "hello")
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	fromAgent := 0
	for _, line := range lines {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		from := "client"
		if m.Method == "session/update" || m.Method == "session/request_permission" || strings.HasPrefix(m.Method, "fs/") || strings.HasPrefix(m.Method, "terminal/") || m.Method == "" && check.asked["client "+string(m.ID)] != "" && check.asked["agent "+string(m.ID)] == "" {
			from = "agent"
		}
		if m.Method == "" && check.asked["client "+string(m.ID)] != "" && check.asked["agent "+string(m.ID)] != "" {
			continue // ids of both sides: which of them it answers the line does not say
		}
		if from == "agent" {
			fromAgent++
		}
		if err := check.check(from, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, want := range []string{"terminal/create", "terminal/release", `[{"type":"terminal","terminalId":`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is nowhere: %s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(b.project, "a.txt")); err != nil || fromAgent < 20 {
		t.Errorf("%v, %d frames of hookd: %s", err, fromAgent, out)
	}
}

// TestACPAgentFrames: each frame of the golden conversations of hookd acp is one of the published
// schema.
func TestACPAgentFrames(t *testing.T) {
	files, err := filepath.Glob("../../cmd/hookd/internal/acpagent/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		check := newFrameChecker(t)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			from := map[string]string{"<- ": "agent", "-> ": "client"}[line[:3]]
			if err := check.check(from, strings.TrimSpace(line[3:])); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), line, err)
			}
		}
	}
	if err := newFrameChecker(t).check("agent", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"plan","entries":[{"content":"x"}]}}}`); err == nil {
		t.Error("a frame that is none passes")
	}
}
