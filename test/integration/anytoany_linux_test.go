package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// anySettings are the settings of a person who has hooks for four agents, where those agents
// have them, and below each folder the programs.
var anySettings = map[string]string{
	".acai/acai.json": `{"hooks": {"import": ["claude", "gemini", "kodelet"]}}`,
	".claude/settings.json": `{"hooks": {
  "PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "$HOME/.claude/hooks/guard.sh", "timeout": 10}]}],
  "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "$HOME/.claude/hooks/guard.sh"}]}],
  "PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "$HOME/.claude/hooks/guard.sh"}]}],
  "Stop": [{"hooks": [{"type": "command", "command": "$HOME/.claude/hooks/guard.sh"}]}]
}}`,
	".claude/hooks/guard.sh": `#!/bin/bash
input=$(cat)
[ "$CLAUDECODE" = 1 ] && [ -d "$CLAUDE_PROJECT_DIR" ] || exit 0
case $input in
*'"hook_event_name":"PreToolUse"'*'"tool_name":"Bash"'*'"command":"claude-no"'*) echo "claude says no" >&2; exit 2 ;;
*'"hook_event_name":"PreToolUse"'*'"command":"claude-other"'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"claude-changed"}}}' ;;
*'"tool_name":"Write"'*'"content":"claude-secret"'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"claude sees a secret"}}' ;;
*'"hook_event_name":"UserPromptSubmit"'*'"prompt":"claude-note"'*) echo "claude says it is monday" ;;
*'"hook_event_name":"PostToolUse"'*'"command":"claude-done"'*) echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"claude saw it"}}' ;;
*'"hook_event_name":"Stop"'*'"last_assistant_message":"claude-stop"'*) echo '{"decision":"block","reason":"claude wants tests"}' ;;
esac
`,
	".gemini/settings.json": `{"hooks": {
  "BeforeTool": [{"matcher": "run_shell_command|write_file", "hooks": [{"type": "command", "command": "$HOME/.gemini/hooks/guard.sh", "timeout": 10000}]}],
  "BeforeAgent": [{"hooks": [{"type": "command", "command": "$HOME/.gemini/hooks/guard.sh"}]}],
  "AfterTool": [{"hooks": [{"type": "command", "command": "$HOME/.gemini/hooks/guard.sh"}]}],
  "AfterAgent": [{"hooks": [{"type": "command", "command": "$HOME/.gemini/hooks/guard.sh"}]}]
}}`,
	".gemini/hooks/guard.sh": `#!/bin/bash
input=$(cat)
[ -d "$GEMINI_PROJECT_DIR" ] || exit 0
case $input in
*'"hook_event_name":"BeforeTool"'*'"tool_name":"run_shell_command"'*'"command":"gemini-no"'*) echo '{"decision":"deny","reason":"gemini says no"}' ;;
*'"hook_event_name":"BeforeTool"'*'"command":"gemini-other"'*) echo '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"gemini-changed"}}}' ;;
*'"tool_name":"write_file"'*'"content":"gemini-secret"'*) echo "gemini sees a secret" >&2; exit 2 ;;
*'"hook_event_name":"BeforeAgent"'*'"prompt":"gemini-no"'*) echo '{"decision":"deny","reason":"gemini says no to that"}' ;;
*'"hook_event_name":"AfterTool"'*'"command":"gemini-done"'*) echo '{"decision":"deny","reason":"gemini hides it"}' ;;
*'"hook_event_name":"AfterAgent"'*'"prompt_response":"gemini-stop"'*) echo '{"decision":"deny","reason":"gemini wants tests"}' ;;
esac
`,
	".kodelet/hooks/guard": `#!/bin/sh
case "$1" in
hook) echo before_tool_call ;;
run)
  input=$(cat)
  echo "$PPID" >>"$HOME/asked"
  case $input in
  *'"tool_name":"bash"'*'"command":"kodelet-no"'*) echo '{"blocked":true,"reason":"kodelet says no"}' ;;
  *'"command":"kodelet-other"'*) echo '{"blocked":false,"input":{"command":"kodelet-changed"}}' ;;
  *'"tool_name":"file_write"'*'"text":"kodelet-secret"'*) echo '{"blocked":true,"reason":"kodelet sees a secret"}' ;;
  esac ;;
esac
`,
	".kodelet/hooks/prompt": `#!/bin/sh
case "$1" in
hook) echo user_message_send ;;
run) case $(cat) in *'"message":"kodelet-no"'*) echo '{"blocked":true,"reason":"kodelet says no to that"}' ;; esac ;;
esac
`,
	".kodelet/hooks/stop": `#!/bin/sh
case "$1" in
hook) echo agent_stop ;;
run) case $(cat) in *kodelet-stop*) echo '{"follow_up_messages":["kodelet wants tests"]}' ;; esac ;;
esac
`,
	".acai/hooks/guard.sh": `#!/bin/sh
if [ "$TOOL_ACTION" = describe ]; then
  echo '{"name":"guard","description":"Guards","timing":"before","event":"tool-call-start","parameters":[]}'
  exit 0
fi
echo "$PPID" >>"$HOME/asked"
case $(cat) in
*'"command":"acai-no"'*) echo "acai says no" >&2; echo block ;;
*'"command":"acai-other"'*) echo '{"action":"modify","modifications":{"args":{"command":"acai-changed"}}}' ;;
*'"content":"acai-secret"'*) echo '{"action":"block","reason":"acai sees a secret"}' ;;
*) echo continue ;;
esac
`,
}

// hostCall is how one agent calls its hooks: TEXT stands for what differs. said is what of
// its answer says so, in its own words.
type hostCall struct {
	event, input string
	said         string
}

// anyHosts are agents as hosts, by what a hook may want to say there.
var anyHosts = map[string]map[string]hostCall{
	"claude": {
		"shell":  {"PreToolUse", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"TEXT"},"tool_use_id":"u"}`, `"permissionDecision":"deny"`},
		"change": {"PreToolUse", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"TEXT"},"tool_use_id":"u"}`, `"updatedInput":{"command":`},
		"write":  {"PreToolUse", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"CWD/x","content":"TEXT"},"tool_use_id":"u"}`, `"permissionDecision":"deny"`},
		"prompt": {"UserPromptSubmit", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"UserPromptSubmit","prompt":"TEXT"}`, `"decision":"block"`},
		"result": {"PostToolUse", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"TEXT"},"tool_response":{"stdout":"out","stderr":"","interrupted":false,"isImage":false},"tool_use_id":"u"}`, `"decision":"block"`},
		"stop":   {"Stop", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"TEXT"}`, `"decision":"block"`},
	},
	"gemini": {
		"shell":   {"BeforeTool", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00.000Z","tool_name":"run_shell_command","tool_input":{"command":"TEXT"}}`, `"decision":"deny"`},
		"change":  {"BeforeTool", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00.000Z","tool_name":"run_shell_command","tool_input":{"command":"TEXT"}}`, `"tool_input":{"command":`},
		"write":   {"BeforeTool", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00.000Z","tool_name":"write_file","tool_input":{"file_path":"CWD/x","content":"TEXT"}}`, `"decision":"deny"`},
		"prompt":  {"BeforeAgent", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"BeforeAgent","timestamp":"2026-01-01T00:00:00.000Z","prompt":"TEXT"}`, `"decision":"deny"`},
		"context": {"BeforeAgent", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"BeforeAgent","timestamp":"2026-01-01T00:00:00.000Z","prompt":"TEXT"}`, `"additionalContext":`},
		"seen":    {"AfterTool", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"AfterTool","timestamp":"2026-01-01T00:00:00.000Z","tool_name":"run_shell_command","tool_input":{"command":"TEXT"},"tool_response":{"llmContent":"out","returnDisplay":"out"}}`, `"additionalContext":`},
		"stop":    {"AfterAgent", `{"session_id":"s","transcript_path":"/t","cwd":"CWD","hook_event_name":"AfterAgent","timestamp":"2026-01-01T00:00:00.000Z","prompt":"p","prompt_response":"TEXT","stop_hook_active":false}`, `"decision":"deny"`},
	},
	"codex": {
		"shell":   {"PreToolUse", `{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"CWD","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"TEXT"},"tool_use_id":"u"}`, `"permissionDecision":"deny"`},
		"change":  {"PreToolUse", `{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"CWD","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"TEXT"},"tool_use_id":"u"}`, `"permissionDecision":"allow","updatedInput":{"command":`},
		"prompt":  {"UserPromptSubmit", `{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"CWD","hook_event_name":"UserPromptSubmit","model":"m","permission_mode":"default","prompt":"TEXT"}`, `"decision":"block"`},
		"context": {"UserPromptSubmit", `{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"CWD","hook_event_name":"UserPromptSubmit","model":"m","permission_mode":"default","prompt":"TEXT"}`, `"additionalContext":`},
		"result":  {"PostToolUse", `{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"CWD","hook_event_name":"PostToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"TEXT"},"tool_response":"out","tool_use_id":"u"}`, `"decision":"block"`},
		"seen":    {"PostToolUse", `{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"CWD","hook_event_name":"PostToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"TEXT"},"tool_response":"out","tool_use_id":"u"}`, `"additionalContext":`},
		"stop":    {"Stop", `{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"CWD","hook_event_name":"Stop","model":"m","permission_mode":"default","stop_hook_active":false,"last_assistant_message":"TEXT"}`, `"decision":"block"`},
	},
	"copilot": {
		"shell":  {"preToolUse", `{"sessionId":"s","timestamp":1767225600000,"cwd":"CWD","toolName":"bash","toolArgs":{"command":"TEXT"}}`, `"permissionDecision":"deny"`},
		"change": {"preToolUse", `{"sessionId":"s","timestamp":1767225600000,"cwd":"CWD","toolName":"bash","toolArgs":{"command":"TEXT"}}`, `"modifiedArgs":{"command":`},
		"write":  {"preToolUse", `{"sessionId":"s","timestamp":1767225600000,"cwd":"CWD","toolName":"create","toolArgs":{"path":"CWD/x","file_text":"TEXT"}}`, `"permissionDecision":"deny"`},
		"prompt": {"userPromptSubmitted", `{"sessionId":"s","timestamp":1767225600000,"cwd":"CWD","prompt":"TEXT"}`, `"decision":"block"`},
	},
	"cursor": {
		"shell":  {"preToolUse", `{"conversation_id":"s","generation_id":"g","model":"m","session_id":"s","cursor_version":"2.4.0","workspace_roots":["CWD"],"user_email":null,"transcript_path":null,"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"TEXT","working_directory":"CWD"},"tool_use_id":"u","cwd":"CWD"}`, `"permission":"deny"`},
		"write":  {"preToolUse", `{"conversation_id":"s","generation_id":"g","model":"m","session_id":"s","cursor_version":"2.4.0","workspace_roots":["CWD"],"user_email":null,"transcript_path":null,"hook_event_name":"preToolUse","tool_name":"Write","tool_input":{"file_path":"CWD/x","contents":"TEXT"},"tool_use_id":"u","cwd":"CWD"}`, `"permission":"deny"`},
		"prompt": {"beforeSubmitPrompt", `{"conversation_id":"s","generation_id":"g","model":"m","session_id":"s","cursor_version":"2.4.0","workspace_roots":["CWD"],"user_email":null,"transcript_path":null,"hook_event_name":"beforeSubmitPrompt","prompt":"TEXT","attachments":[],"composer_mode":"agent"}`, `"continue":false`},
	},
}

// anySayings are what the hooks of each agent say: on which kind of call with which text, and
// the words that reach the host.
var anySayings = map[string]map[string][2]string{
	"claude": {
		"shell": {"claude-no", "claude says no"}, "change": {"claude-other", "claude-changed"}, "write": {"claude-secret", "claude sees a secret"},
		"context": {"claude-note", "claude says it is monday"}, "seen": {"claude-done", "claude saw it"}, "stop": {"claude-stop", "claude wants tests"},
	},
	"gemini": {
		"shell": {"gemini-no", "gemini says no"}, "change": {"gemini-other", "gemini-changed"}, "write": {"gemini-secret", "gemini sees a secret"},
		"prompt": {"gemini-no", "gemini says no to that"}, "result": {"gemini-done", "gemini hides it"}, "stop": {"gemini-stop", "gemini wants tests"},
	},
	"kodelet": {
		"shell": {"kodelet-no", "kodelet says no"}, "change": {"kodelet-other", "kodelet-changed"}, "write": {"kodelet-secret", "kodelet sees a secret"},
		"prompt": {"kodelet-no", "kodelet says no to that"},
	},
	"acai": {"shell": {"acai-no", "acai says no"}, "change": {"acai-other", "acai-changed"}, "write": {"acai-secret", "acai sees a secret"}},
}

// Hooks that a person has for Claude Code, Gemini CLI, kodelet and acai, as those agents have
// them, answer the events of five other agents: each verdict reaches the host in its own
// words, the same from a daemon and from a program that works alone, and what no hook minds
// passes without a word.
func TestHooksOfFourAgentsUnderFiveBridges(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	s := newStation(t, binary)
	if err := os.Remove(filepath.Join(s.home, ".acai", "hooks", "guard.sh")); err != nil {
		t.Fatal(err)
	}
	for name, text := range anySettings {
		shellHook(t, filepath.Join(s.home, name), text)
		if strings.HasSuffix(name, ".json") {
			if err := os.Chmod(filepath.Join(s.home, name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	daemon := s.daemonSeeing("nobody else")
	for host, calls := range anyHosts {
		for kind, call := range calls {
			if said := s.both(t, daemon, host, call, "nobody minds"); strings.Trim(said, "{}\n") != "" {
				t.Errorf("%s %s: what nobody minds is answered with %s", host, kind, said)
			}
			for agent, sayings := range anySayings {
				saying, says := sayings[kind]
				if !says || agent == host { // that agent runs its own hooks itself
					continue
				}
				said := s.both(t, daemon, host, call, saying[0])
				if !strings.Contains(said, call.said) || !strings.Contains(said, saying[1]) {
					t.Errorf("%s %s: the hook of %s says %q, and the host is told %s, not %s", host, kind, agent, saying[1], said, call.said)
				}
			}
		}
	}
	if len(s.askers()) < len(anyHosts) {
		t.Errorf("the hooks that tell by whom they are asked were asked %d times", len(s.askers()))
	}
}

// both returns what a host is told of a call, which is the same by a daemon and without.
func (s *station) both(t *testing.T, d *daemon, host string, call hostCall, text string) string {
	t.Helper()
	input := strings.NewReplacer("CWD", s.project, "TEXT", text).Replace(call.input)
	where := fmt.Sprintf("%s %s, %s", host, call.event, text)
	messenger := s.command(host, call.event)
	messenger.Path = s.hookd + "-bridge"
	before := len(s.askers())
	warm := s.run(messenger, input)
	if len(s.askers()) > before && !s.byDaemon(d.Process.Pid) {
		t.Errorf("%s: the daemon %d was not asked, but %v", where, d.Process.Pid, s.askers()[before:])
	}
	cold := s.run(s.command("bridge", host, call.event), input)
	if warm.stdout != cold.stdout || warm.stderr != cold.stderr || warm.code != cold.code {
		t.Errorf("%s:\nby a daemon: %+v\nalone: %+v", where, warm, cold)
	}
	if warm.code != 0 || warm.took > 30*time.Second || cold.took > 30*time.Second {
		t.Errorf("%s: %+v, %+v", where, warm, cold)
	}
	return warm.stdout
}
