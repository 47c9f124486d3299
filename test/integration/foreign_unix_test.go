//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// foreignSettings are hooks of a user that were written for other agents.
const foreignSettings = `{"hooks": {"use": [
  {"name": "claude", "dialect": "claude", "events": ["PreToolUse", "Stop"], "command": "$HOME/bin/claude.sh"},
  {"name": "gemini", "dialect": "gemini", "events": ["BeforeTool"], "matcher": "run_shell_.*", "command": "$HOME/bin/gemini.sh", "timeout": 400},
  {"name": "cursor", "dialect": "cursor", "events": ["beforeShellExecution"], "matcher": "^npm", "command": "$HOME/bin/cursor.sh"},
  {"name": "kodelet", "dialect": "kodelet", "events": ["agent_stop"], "command": ["HOME/bin/kodelet"]}
]}}`

var foreignPrograms = map[string]string{
	"claude.sh": `input=$(cat)
case $input in
*'"hook_event_name":"Stop"'*'"stop_hook_active":false'*) echo "run the tests first" >&2; exit 2 ;;
*'"command":"rm '*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no removing"}}' ;;
*'"command":"change me"'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"changed"},"additionalContext":"it was changed"}}' ;;
*'"command":"ask me"'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}' ;;
esac
`,
	"gemini.sh": `case $(cat) in *'"tool_name":"run_shell_command"'*sleepy*) sleep 61 & sleep 62 ;; esac
`,
	"cursor.sh": `cat >/dev/null; echo '{"permission":"deny","agent_message":"use pnpm"}'
`,
	"kodelet": `case "$1" in
hook) echo agent_stop ;;
run) case $(cat) in *compact-me*) echo '{"result":"callback","callback":"compact","callback_args":{"keep":"all"}}' ;; esac ;;
esac
`,
}

// The daemon asks hooks of other agents as their agents do, for a host that knows nothing of
// that: each verdict reaches the host in hookd's words, a hook that hangs is over after its
// own limit, and nothing of it lives on.
func TestDaemonAsksHooksOfOtherAgents(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bin := filepath.Join(b.home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range foreignPrograms {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	settings := strings.ReplaceAll(foreignSettings, `"HOME/`, `"`+b.home+`/`)
	if err := os.WriteFile(filepath.Join(b.home, ".acai", "acai.json"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	k := serveHost(t, b, b.command("serve"), `{"ask":true,"continue":true,"callback":true}`)
	fire := func(event, data string) outcome {
		t.Helper()
		return k.outcome(k.call("event/fire", fmt.Sprintf(`{"event":%q,"session":{"id":"s1","key":%q},"data":%s}`, event, k.key, data)))
	}
	shell := func(command string) outcome {
		t.Helper()
		return fire("tool-call-start", fmt.Sprintf(`{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":%q},"parallel":1}`, command))
	}
	stop := func(response string, continued int) outcome {
		t.Helper()
		return fire("agent-stop", fmt.Sprintf(`{"reason":"done","response":%q,"messages":[{"role":"assistant","content":%[1]q}],"continued":%d,"continuedTotal":0}`, response, continued))
	}

	if o := shell("ls"); o.Action != "observe" || len(o.Runs) != 2 {
		t.Errorf("ls: %s %s: %+v", o.Action, o.Reason, o.Runs)
	}
	if o := shell("rm x"); o.Action != "block" || o.By == nil || *o.By != "claude" || o.Reason != "no removing" {
		t.Errorf("rm: %s by %v, %s: %s, %+v", o.Action, o.By, o.Reason, o.Event, o.Runs)
	}
	if o := shell("npm install"); o.Action != "block" || o.By == nil || *o.By != "cursor" || o.Reason != "use pnpm" {
		t.Errorf("npm: %s by %v, %s: %s, %+v", o.Action, o.By, o.Reason, o.Event, o.Runs)
	}
	if o := shell("ask me"); o.Action != "ask" || o.Reason != "sure?" {
		t.Errorf("ask: %s by %v, %s: %s, %+v", o.Action, o.By, o.Reason, o.Event, o.Runs)
	}
	o := shell("change me")
	if o.Action != "modify" || !strings.Contains(string(o.Event), `"args":{"command":"changed"}`) || len(o.Context) != 1 || o.Context[0].Text != "it was changed" {
		t.Errorf("change: %s by %v, %s: %s, %+v", o.Action, o.By, o.Reason, o.Event, o.Runs)
	}

	began := time.Now()
	o = shell("sleepy")
	if took := time.Since(began); took < 400*time.Millisecond || took > 10*time.Second {
		t.Errorf("the limit of 400 (milliseconds) took %v", took)
	}
	i := 0
	for i < len(o.Runs) && o.Runs[i].Hook != "gemini" {
		i++
	}
	if o.Action != "observe" || i == len(o.Runs) || o.Runs[i].Failure == nil || *o.Runs[i].Failure != "timeout" || o.Runs[i].Rule != "continue" {
		t.Errorf("sleepy: %s by %v, %s: %s, %+v", o.Action, o.By, o.Reason, o.Event, o.Runs)
	}
	if left := hooksAlive(b, time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}

	if o := stop("done", 0); o.Action != "continue" || o.Reason != "run the tests first" {
		t.Errorf("a stop: %s by %v, %s: %s, %+v", o.Action, o.By, o.Reason, o.Event, o.Runs)
	}
	if o := stop("done", 1); o.Action != "observe" {
		t.Errorf("a second stop: %s by %v, %s: %s, %+v", o.Action, o.By, o.Reason, o.Event, o.Runs)
	}
	line := k.call("event/fire", fmt.Sprintf(`{"event":"agent-stop","session":{"id":"s1","key":%q},"data":{"reason":"done","response":"x","messages":[{"role":"user","content":"compact-me"}],"continued":1,"continuedTotal":1}}`, k.key))
	if !strings.Contains(string(line), `"action":"callback"`) || !strings.Contains(string(line), `"callback":{"name":"compact","args":{"keep":"all"}`) {
		t.Errorf("a callback: %s", line)
	}
	list := string(k.call("hooks/list", fmt.Sprintf(`{"cwd":%q}`, b.project)))
	for _, want := range []string{`"dialect":"gemini","named":["BeforeTool"],"matcher":"run_shell_.*"`, `"timeoutMs":400`, `"byDialect":true`, `"dialect":"kodelet"`} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s: %s", want, list)
		}
	}
	k.in.Close()
	if err := k.cmd.Wait(); err != nil {
		t.Errorf("ended with %v\n%s", err, k.stderr)
	}
	if left := aliveAfter(b.folder, time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
}
