package foreignhooks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// guardInfo is a hook that may do all.
var guardInfo = protocol.HookInfo{Name: "h", Layer: protocol.Project, Class: protocol.CanModify}

// inWords is a result in a line: the action with its reason, or the failure.
func inWords(r protocol.ReadResult) string {
	if r.Failure != nil {
		return "failure " + string(r.Failure.Kind)
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	add("%s", r.Reply.Action)
	for _, p := range []struct{ name, text string }{
		{"reason", r.Reply.Reason}, {"context", r.Reply.Context}, {"notice", r.Reply.Notice}, {"patch", string(r.Reply.Patch)},
		{"changes", string(r.Reply.Changes)}, {"response", string(r.Reply.Response)}, {"messages", string(r.Reply.Messages)},
	} {
		if p.text != "" {
			add("%s=%s", p.name, p.text)
		}
	}
	if c := r.Reply.Callback; c != nil {
		add("callback=%s %v", c.Name, c.Args)
	}
	if r.ByExit {
		add("by exit")
	}
	return strings.Join(parts, " ")
}

// replyTable is what hooks of other agents answer, and what that is here.
var replyTable = []struct {
	dialect, event, stdout, stderr string
	exit                           int
	want                           string
}{
	// Claude Code.
	{"claude", "PreToolUse", ``, "", 0, "observe"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "", 0, "block reason=no"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "", 1, "block reason=no"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, "", 0, "observe"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}`, "", 0, "ask reason=sure?"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"nope"}}`, "", 0, "failure reply"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}`, "", 0, "failure reply"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "", 0, "failure reply"},
	{"claude", "PreToolUse", `{"decision":"block","reason":"legacy"}`, "", 0, "block reason=legacy"},
	{"claude", "PreToolUse", `{"decision":"approve","decision":"block","reason":"twice"}`, "", 0, "block reason=twice"},
	{"claude", "PreToolUse", `{"decision":"approve"}`, "", 0, "observe"},
	{"claude", "PreToolUse", ``, "secret file", 2, "block reason=secret file by exit"},
	{"claude", "PreToolUse", ``, "", 2, "block reason=refused by exit code 2, without a reason by exit"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, "no", 2, "block reason=no by exit"},
	{"claude", "PreToolUse", `{"broken`, "no", 2, "block reason=no by exit"},
	{"claude", "PreToolUse", `{"broken`, "", 0, "failure reply"},
	{"claude", "PreToolUse", `plain text`, "", 0, "observe"},
	{"claude", "PreToolUse", ``, "oops", 1, "failure exit"},
	{"claude", "PreToolUse", ``, "", 3, "failure exit"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls -l"}}}`, "", 0, `modify patch=[{"op":"replace","path":"/args","value":{"command":"ls -l"}}]`},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","updatedInput":{"command":"ls -l"}}}`, "", 0, "block"},
	{"claude", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"note"},"systemMessage":"for you"}`, "", 0, "observe context=note notice=for you"},
	{"claude", "PreToolUse", `{"continue":false,"stopReason":"enough"}`, "", 0, "stop reason=enough"},
	{"claude", "PreToolUse", `{"continue":"false"}`, "", 0, "failure reply"},
	{"claude", "PreToolUse", `{"async":true}`, "", 0, "observe"},
	{"claude", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, "", 0, "allow"},
	{"claude", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"rm"}}}}`, "", 0, "observe"},
	{"claude", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`, "", 0, "block reason=no"},
	{"claude", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}`, "", 0, "stop reason=no"},
	{"claude", "PermissionRequest", ``, "no", 2, "failure exit"},
	{"claude", "PostToolUse", `{"decision":"block","reason":"look again"}`, "", 0, "observe context=look again"},
	{"claude", "PostToolUse", ``, "lint failed", 2, "observe context=lint failed"},
	{"claude", "PostToolUse", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"new","stderr":""}}}`, "", 0, `modify patch=[{"op":"replace","path":"/result","value":{"isError":false,"exitCode":0,"content":[{"type":"text","text":"new"}]}}]`},
	{"claude", "PostToolUse", `{"continue":false,"stopReason":"halt"}`, "", 0, "stop reason=halt"},
	{"claude", "PostToolUseFailure", `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"hint"}}`, "", 0, "observe context=hint"},
	{"claude", "PostToolBatch", `{"decision":"block","reason":"end it"}`, "", 0, "stop reason=end it"},
	{"claude", "UserPromptSubmit", `{"decision":"block","reason":"no secrets"}`, "", 0, "block reason=no secrets"},
	{"claude", "UserPromptSubmit", `it is monday`, "", 0, "observe context=it is monday"},
	{"claude", "UserPromptSubmit", ``, "no", 2, "block reason=no by exit"},
	{"claude", "SessionStart", `remember this`, "", 0, "observe context=remember this"},
	{"claude", "SessionStart", ``, "hm", 2, "observe notice=hm"},
	{"claude", "Stop", `{"decision":"block","reason":"run the tests"}`, "", 0, "block reason=run the tests"},
	{"claude", "Stop", ``, "run the tests", 2, "block reason=run the tests by exit"},
	{"claude", "Stop", ``, "python3: can't open file '/h.py': [Errno 2] No such file", 2, "failure exit"},
	{"claude", "Stop", `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"}}`, "", 0, "continue reason=go on"},
	{"claude", "Stop", `{"continue":false,"decision":"block","reason":"x","stopReason":"now"}`, "", 0, "stop reason=now"},
	{"claude", "SubagentStop", `{"decision":"block","reason":"more"}`, "", 0, "block reason=more"},
	{"claude", "PreCompact", `{"decision":"block","reason":"not now"}`, "", 0, "block reason=not now"},
	{"claude", "PreCompact", `keep names`, "", 0, "observe context=keep names"},
	{"claude", "Notification", `{"systemMessage":"x"}`, "", 0, "observe notice=x"},
	{"claude", "SubagentStart", `{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"be brief"}}`, "", 0, "observe context=be brief"},

	// Gemini CLI: JSON counts before the exit code.
	{"gemini", "BeforeTool", `{"decision":"deny","reason":"no"}`, "", 0, "block reason=no"},
	{"gemini", "BeforeTool", `{"decision":"block","reason":"no"}`, "", 1, "block reason=no"},
	{"gemini", "BeforeTool", `{"decision":"allow"}`, "", 2, "observe"},
	{"gemini", "BeforeTool", `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "", 0, "observe"},
	{"gemini", "BeforeTool", ``, `{"decision":"deny","reason":"on stderr"}`, 0, "block reason=on stderr"},
	{"gemini", "BeforeTool", ``, "no", 2, "block reason=no by exit"},
	{"gemini", "BeforeTool", ``, "no", 3, "block reason=no by exit"},
	{"gemini", "BeforeTool", `text`, "", 2, "block reason=text by exit"},
	{"gemini", "BeforeTool", ``, "", 2, "block reason=refused by exit code 2, without a reason by exit"},
	{"gemini", "BeforeTool", ``, "warn", 1, "failure exit"},
	{"gemini", "BeforeTool", `text`, "", 0, "observe notice=text"},
	{"gemini", "BeforeTool", `{"decision":"ask","reason":"sure?"}`, "", 0, "ask reason=sure?"},
	{"gemini", "BeforeTool", `{"continue":false,"stopReason":"enough"}`, "", 0, "stop reason=enough"},
	{"gemini", "BeforeTool", `{"hookSpecificOutput":{"tool_input":{"timeout":5}}}`, "", 0, `modify patch=[{"op":"replace","path":"/args","value":{"command":"ls","timeout":5}}]`},
	{"gemini", "BeforeTool", `{"decision":7}`, "", 0, "failure reply"},
	{"gemini", "BeforeTool", `{"dec`, "", 0, "failure reply"},
	{"gemini", "AfterTool", `{"decision":"deny","reason":"hidden"}`, "", 0, "block reason=hidden"},
	{"gemini", "AfterTool", `{"hookSpecificOutput":{"additionalContext":"note"}}`, "", 0, "observe context=note"},
	{"gemini", "BeforeAgent", `{"decision":"deny","reason":"no"}`, "", 0, "block reason=no"},
	{"gemini", "BeforeAgent", `{"hookSpecificOutput":{"additionalContext":"note"}}`, "", 0, "observe context=note"},
	{"gemini", "AfterAgent", `{"decision":"deny","reason":"run the tests"}`, "", 0, "block reason=run the tests"},
	{"gemini", "AfterAgent", ``, "run the tests", 2, "block reason=run the tests by exit"},
	{"gemini", "BeforeModel", `{"decision":"deny","reason":"no","hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"role":"model","parts":["canned"]}}]}}}`, "", 0, `modify response={"message":{"role":"assistant","content":"canned"}}`},
	{"gemini", "BeforeModel", `{"decision":"deny","reason":"no"}`, "", 0, "block reason=no"},
	{"gemini", "BeforeToolSelection", `{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["read_file"]}}}`, "", 0, `modify patch=[{"op":"replace","path":"/tools","value":[{"name":"read_file","description":"d","schema":{}}]}]`},
	{"gemini", "BeforeToolSelection", `{"hookSpecificOutput":{"toolConfig":{"mode":"NONE"}}}`, "", 0, `modify patch=[{"op":"replace","path":"/tools","value":[]}]`},
	{"gemini", "AfterModel", `{"hookSpecificOutput":{"llm_response":{"text":"other"}}}`, "", 0, `modify patch=[{"op":"replace","path":"/message","value":{"role":"assistant","content":"other"}}]`},
	{"gemini", "PreCompress", `{"decision":"deny"}`, "", 0, "observe"},
	{"gemini", "SessionStart", `{"hookSpecificOutput":{"additionalContext":"note"}}`, "", 0, "observe context=note"},

	// Codex CLI: one unknown member throws all away.
	{"codex", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "", 0, "block reason=no"},
	{"codex", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"},"extra":1}`, "", 0, "failure reply"},
	{"codex", "PreToolUse", `{"permissionDecision":"deny"}`, "", 0, "failure reply"},
	{"codex", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, "", 0, "failure reply"},
	{"codex", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}`, "", 0, "failure reply"},
	{"codex", "PreToolUse", `{"continue":false}`, "", 0, "failure reply"},
	{"codex", "PreToolUse", `{"decision":"block","reason":"no"}`, "", 0, "block reason=no"},
	{"codex", "PreToolUse", ``, "no", 2, "block reason=no by exit"},
	{"codex", "PreToolUse", ``, "", 2, "failure exit"},
	{"codex", "PreToolUse", ``, "x", 1, "failure exit"},
	{"codex", "PreToolUse", `{"decision":"block","reason":"no"}`, "x", 1, "block reason=no"},
	{"codex", "PreToolUse", `text`, "", 0, "observe"},
	{"codex", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls -l"}}}`, "", 0, `modify patch=[{"op":"replace","path":"/args","value":{"command":"ls -l"}}]`},
	{"codex", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls -l"}}}`, "", 0, "failure reply"},
	{"codex", "PostToolUse", `{"decision":"block","reason":"hidden"}`, "", 0, "block reason=hidden"},
	{"codex", "UserPromptSubmit", `note`, "", 0, "observe context=note"},
	{"codex", "UserPromptSubmit", `{"continue":false,"stopReason":"no"}`, "", 0, "stop reason=no"},
	{"codex", "Stop", `{"decision":"block","reason":"run the tests"}`, "", 0, "block reason=run the tests"},
	{"codex", "Stop", `text`, "", 0, "failure reply"},
	{"codex", "Stop", `{"hookSpecificOutput":{"hookEventName":"Stop"}}`, "", 0, "failure reply"},
	{"codex", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, "", 0, "allow"},
	{"codex", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`, "", 0, "block reason=no"},
	{"codex", "PreCompact", `{"continue":false,"stopReason":"not now"}`, "", 0, "block reason=not now"},

	// Cursor.
	{"cursor", "preToolUse", `{"permission":"deny","user_message":"for you","agent_message":"no"}`, "", 0, "block reason=no notice=for you"},
	{"cursor", "preToolUse", `{"permission":"allow"}`, "", 0, "observe"},
	{"cursor", "preToolUse", `{"permission":"allow","updated_input":{"command":"ls -l"}}`, "", 0, `modify patch=[{"op":"replace","path":"/args","value":{"command":"ls -l"}}]`},
	{"cursor", "preToolUse", `{}`, "", 0, "observe"},
	{"cursor", "preToolUse", ``, "", 0, "observe"},
	{"cursor", "preToolUse", `garbage`, "", 0, "failure reply"},
	{"cursor", "preToolUse", `{"permission":"maybe"}`, "", 0, "failure reply"},
	{"cursor", "preToolUse", "log line\n{\"permission\":\"deny\",\"agent_message\":\"no\"}", "", 0, "block reason=no"},
	{"cursor", "preToolUse", ``, "no", 2, "block reason=no by exit"},
	{"cursor", "preToolUse", ``, "x", 1, "failure exit"},
	{"cursor", "beforeShellExecution", `{"permission":"ask","user_message":"sure?"}`, "", 0, "ask reason=sure?"},
	{"cursor", "beforeReadFile", `{"permission":"deny"}`, "", 0, "block"},
	{"cursor", "beforeSubmitPrompt", `{"continue":false,"user_message":"no"}`, "", 0, "block reason=no"},
	{"cursor", "stop", `{"followup_message":"run the tests"}`, "", 0, "continue reason=run the tests"},
	{"cursor", "stop", `{"decision":"block","reason":"run the tests"}`, "", 0, "continue reason=run the tests"},
	{"cursor", "stop", ``, "x", 2, "failure exit"},
	{"cursor", "postToolUse", `{"additional_context":"note"}`, "", 0, "observe context=note"},

	// GitHub Copilot CLI.
	{"copilot", "preToolUse", `{"permissionDecision":"deny","permissionDecisionReason":"no"}`, "", 0, "block reason=no"},
	{"copilot", "preToolUse", "{\"type\":\"progress\",\"message\":\"…\"}\n{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"no\"}", "", 0, "block reason=no"},
	{"copilot", "preToolUse", `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "", 0, "observe"},
	{"copilot", "preToolUse", `{"permissionDecision":"ask","permissionDecisionReason":"sure?"}`, "", 0, "ask reason=sure?"},
	{"copilot", "preToolUse", `{"modifiedArgs":{"command":"ls -l"}}`, "", 0, `modify patch=[{"op":"replace","path":"/args","value":{"command":"ls -l"}}]`},
	{"copilot", "preToolUse", ``, "x", 1, "failure exit"},
	{"copilot", "preToolUse", `{"permissionDecision":"deny","permissionDecisionReason":"no"}`, "x", 1, "block reason=no"},
	{"copilot", "preToolUse", ``, "no", 2, "block reason=no by exit"},
	{"copilot", "preToolUse", `garbage`, "", 0, "observe"},
	{"copilot", "preToolUse", `{"permissionDecision":1}`, "", 0, "failure reply"},
	{"copilot", "PreToolUse", `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}`, "", 0, "block reason=no"},
	{"copilot", "postToolUse", `{"modifiedResult":{"resultType":"success","textResultForLlm":"new"}}`, "", 0, `modify patch=[{"op":"replace","path":"/result","value":{"isError":false,"exitCode":0,"content":[{"type":"text","text":"new"}]}}]`},
	{"copilot", "postToolUse", `{"decision":"block","reason":"hidden"}`, "", 0, "block reason=hidden"},
	{"copilot", "userPromptSubmitted", `{"decision":"block","reason":"no"}`, "", 0, "block reason=no"},
	{"copilot", "userPromptSubmitted", `{"modifiedPrompt":"other"}`, "", 0, `modify patch=[{"op":"replace","path":"/prompt","value":"other"}]`},
	{"copilot", "userPromptTransformed", `{"modifiedTransformedPrompt":"other"}`, "", 0, `modify patch=[{"op":"replace","path":"/prompt","value":"other"}]`},
	{"copilot", "permissionRequest", `{"behavior":"allow"}`, "", 0, "allow"},
	{"copilot", "permissionRequest", `{"behavior":"deny","message":"no"}`, "", 0, "block reason=no"},
	{"copilot", "agentStop", `{"decision":"block","reason":"run the tests"}`, "", 0, "block reason=run the tests"},
	{"copilot", "subagentStop", `{"modifiedResponse":"short"}`, "", 0, `modify patch=[{"op":"replace","path":"/response","value":"short"}]`},
	{"copilot", "postToolUseFailure", ``, "hint", 2, "observe context=hint"},

	// OpenHands.
	{"openhands", "PreToolUse", `{"decision":"deny","reason":"no"}`, "", 0, "block reason=no"},
	{"openhands", "PreToolUse", `{"decision":"deny","reason":"no"}`, "", 1, "block reason=no"},
	{"openhands", "PreToolUse", `{"decision":"DENY","reason":"no"}`, "", 0, "block reason=no"},
	{"openhands", "PreToolUse", `{"decision":"deny","reason":["no"]}`, "", 0, "block reason=refused without a reason"},
	{"openhands", "PreToolUse", `{"decision":"block","reason":"no"}`, "", 0, "failure reply"},
	{"openhands", "Stop", `{"decision":"deny","additionalContext":"run the tests","reason":"no"}`, "", 2, "block reason=run the tests by exit"},
	{"openhands", "PreToolUse", ``, "no", 2, "block reason=no by exit"},
	{"openhands", "PreToolUse", `{"decision":null}`, "no", 2, "block reason=no by exit"},
	{"openhands", "PreToolUse", `{"continue":false,"reason":"no"}`, "", 0, "block reason=no"},
	{"openhands", "PreToolUse", ``, "x", 1, "failure exit"},
	{"openhands", "PreToolUse", `{"decision":"perhaps"}`, "", 0, "failure reply"},
	{"openhands", "UserPromptSubmit", `{"additionalContext":"note"}`, "", 0, "observe context=note"},
	{"openhands", "Stop", `{"decision":"deny","reason":"run the tests"}`, "", 0, "block reason=run the tests"},
	{"openhands", "Stop", ``, "python3: can't open file '/h.py': [Errno 2] No such file", 2, "failure exit"},
	{"openhands", "PostToolUse", `{"decision":"deny"}`, "", 0, "observe"},

	// kodelet.
	{"kodelet", "before_tool_call", `{"blocked":true,"reason":"no"}`, "", 0, "block reason=no"},
	{"kodelet", "before_tool_call", `{"Blocked":true,"reason":"no"}`, "", 0, "block reason=no"},
	{"kodelet", "before_tool_call", `{"blocked":"true"}`, "", 0, "failure reply"},
	{"kodelet", "before_tool_call", `{"blocked":false}`, "", 0, "observe"},
	{"kodelet", "before_tool_call", `{"input":{"command":"ls -l"}}`, "", 0, `modify patch=[{"op":"replace","path":"/args","value":{"command":"ls -l"}}]`},
	{"kodelet", "before_tool_call", `{"input":null}`, "", 0, "observe"},
	{"kodelet", "before_tool_call", `{"input":"ls"}`, "", 0, "failure reply"},
	{"kodelet", "before_tool_call", `{"blocked":true} x`, "", 0, "failure reply"},
	{"kodelet", "before_tool_call", `{"blocked":true,"reason":"no"}`, "", 1, "block reason=no"},
	{"kodelet", "before_tool_call", ``, "no", 2, "failure exit"},
	{"kodelet", "after_tool_call", `{"output":{"toolName":"bash","success":true,"metadataType":"bash","metadata":{"output":"new"}}}`, "", 0, `modify patch=[{"op":"replace","path":"/result","value":{"isError":false,"exitCode":0,"content":[{"type":"text","text":"new"}]}}]`},
	{"kodelet", "user_message_send", `{"blocked":true,"reason":"no"}`, "", 0, "block reason=no"},
	{"kodelet", "agent_stop", `{"follow_up_messages":["run the linter","and the tests"]}`, "", 0, "continue reason=run the linter\nand the tests messages=[{\"role\":\"user\",\"content\":\"run the linter\"},{\"role\":\"user\",\"content\":\"and the tests\"}]"},
	{"kodelet", "agent_stop", `{"result":"continue","follow_ups":["run the linter"]}`, "", 0, `continue reason=run the linter messages=[{"role":"user","content":"run the linter"}]`},
	{"kodelet", "agent_stop", `{"result":"mutate","messages":[{"role":"user","content":"short"}]}`, "", 0, `modify patch=[{"op":"replace","path":"/messages","value":[{"role":"user","content":"short"}]}]`},
	{"kodelet", "agent_stop", `{"result":"callback","callback":"compact","callback_args":{"a":"b"}}`, "", 0, "callback callback=compact map[a:b]"},
	{"kodelet", "after_turn", `{"result":"callback","callback":"compact"}`, "", 0, "callback callback=compact map[]"},
	{"kodelet", "after_turn", `{"result":"mutate","messages":[{"role":"user","content":"short"}]}`, "", 0, `modify patch=[{"op":"replace","path":"/messages","value":[{"role":"user","content":"short"}]}]`},
	{"kodelet", "after_turn", `{"result":"explode"}`, "", 0, "failure reply"},
	{"kodelet", "turn_end", `anything`, "", 0, "observe"},

	// acai.
	{"acai", "tool-call-start", `continue`, "", 0, "observe"},
	{"acai", "tool-call-start", `observe`, "", 0, "observe"},
	{"acai", "tool-call-start", `block`, "no", 0, "block reason=no"},
	{"acai", "tool-call-start", `"block"`, "", 0, "block reason=refused without a reason"},
	{"acai", "tool-call-start", `modify`, "", 0, "observe"},
	{"acai", "tool-call-start", `{"action":"block","reason":"no"}`, "", 0, "block reason=no"},
	{"acai", "tool-call-start", `{"action":"modify","modifications":{"args":{"command":"ls -l"}}}`, "", 0, `modify changes={"args":{"command":"ls -l"}}`},
	{"acai", "tool-call-start", `{"modifications":{"args":{"command":"ls -l"}}}`, "", 0, `modify changes={"args":{"command":"ls -l"}}`},
	{"acai", "tool-call-start", `{"action":"modify","modifications":{"name":"rm"}}`, "", 0, "failure reply"},
	{"acai", "tool-call-start", `{"action":"explode"}`, "", 0, "failure reply"},
	{"acai", "tool-call-start", `blocked`, "", 0, "failure reply"},
	{"acai", "tool-call-start", `{"action":"block","reason":"no"}`, "x", 3, "block reason=no"},
	{"acai", "tool-call-start", ``, "x", 2, "failure exit"},
	{"acai", "tool-call-end", `{"action":"modify","modifications":{"msg":"new"}}`, "", 0, `modify patch=[{"op":"replace","path":"/result","value":{"isError":false,"exitCode":0,"content":[{"type":"text","text":"new"}]}}]`},
	{"acai", "agent-stop", `block`, "enough", 0, "stop reason=enough"},
	{"acai", "step-stop", `{"action":"block","reason":"enough"}`, "", 0, "stop reason=enough"},
}

func TestReplies(t *testing.T) {
	answered := map[string]bool{}
	for _, test := range replyTable {
		a := asked(t, Find(test.dialect), test.event, "")
		end := Ending{Stdout: []byte(test.stdout), Stderr: []byte(test.stderr), Exit: test.exit, Program: []string{"/h.py"}}
		got := inWords(a.Reply(guardInfo, end))
		if got != test.want {
			t.Errorf("%s %s, exit %d, %s%s:\n got %s\nwant %s", test.dialect, test.event, test.exit, test.stdout, test.stderr, got, test.want)
		}
		answered[test.dialect] = true
	}
	for _, f := range All {
		if !answered[f.Name] {
			t.Errorf("no reply of %s", f.Name)
		}
	}
}

// A hook that took too long, was ended or could not be started has answered nothing, but a
// refusal that it had said before counts.
func TestAnswerOfAHookThatDidNotEndWell(t *testing.T) {
	refusals := map[string][2]string{
		"claude": {"PreToolUse", `{"decision":"block","reason":"no"}`}, "gemini": {"BeforeTool", `{"decision":"deny","reason":"no"}`},
		"codex": {"PreToolUse", `{"decision":"block","reason":"no"}`}, "cursor": {"preToolUse", `{"permission":"deny","agent_message":"no"}`},
		"copilot": {"preToolUse", `{"permissionDecision":"deny","permissionDecisionReason":"no"}`}, "kodelet": {"before_tool_call", `{"blocked":true,"reason":"no"}`},
		"openhands": {"PreToolUse", `{"decision":"deny","reason":"no"}`}, "acai": {"tool-call-start", `{"action":"block","reason":"no"}`},
	}
	for _, f := range All {
		a := asked(t, f, refusals[f.Name][0], "")
		for _, end := range []Ending{
			{Failure: &protocol.Failure{Kind: protocol.FailTimeout, Detail: "timed out"}}, {Signal: "SIGSEGV"},
			{Failure: &protocol.Failure{Kind: protocol.FailOutput, Detail: "too much"}},
		} {
			want := "failure signal"
			if end.Failure != nil {
				want = "failure " + string(end.Failure.Kind)
			}
			if got := inWords(a.Reply(guardInfo, end)); got != want {
				t.Errorf("%s: %s, want %s", f.Name, got, want)
			}
			end.Stdout = []byte(refusals[f.Name][1])
			if got := inWords(a.Reply(guardInfo, end)); got != "block reason=no" {
				t.Errorf("%s, %s: a refusal is lost: %s", f.Name, want, got)
			}
			end.Stdout = []byte("{}")
			if got := inWords(a.Reply(guardInfo, end)); got != want {
				t.Errorf("%s: %s, want %s", f.Name, got, want)
			}
		}
		end := Ending{Failure: &protocol.Failure{Kind: protocol.FailAborted}, Stdout: []byte(refusals[f.Name][1])}
		if got := inWords(a.Reply(guardInfo, end)); got != "failure aborted" {
			t.Errorf("%s: %s after an abort", f.Name, got)
		}
	}
}

// FuzzForeignReply: no output of a hook brings hookd down, none but an object or a word of
// the agent is a verdict, and a reply that counts is one that our own check allows.
func FuzzForeignReply(f *testing.F) {
	for _, test := range replyTable {
		of := slices.IndexFunc(All, func(f *Agent) bool { return f.Name == test.dialect })
		event := slices.IndexFunc(All[of].Events, func(e HookEvent) bool { return e.Name == test.event })
		f.Add(uint8(of), uint8(event), []byte(test.stdout), []byte(test.stderr), uint8(test.exit))
	}
	f.Fuzz(func(t *testing.T, of, event uint8, stdout, stderr []byte, exit uint8) {
		foreign := All[int(of)%len(All)]
		e := &foreign.Events[int(event)%len(foreign.Events)]
		if e.Event == "" {
			return
		}
		a := asked(t, foreign, e.Name, "")
		given := bytes.Clone(stdout)
		r := a.Reply(guardInfo, Ending{Stdout: stdout, Stderr: stderr, Exit: int(exit), Program: []string{"/h.py"}})
		if !bytes.Equal(given, stdout) {
			t.Fatal("stdout was written to")
		}
		if (r.Reply == nil) == (r.Failure == nil) {
			t.Fatalf("both or neither of reply and failure: %+v", r)
		}
		if r.Failure != nil {
			return
		}
		for _, words := range []string{r.Reply.Reason, r.Reply.Context, r.Reply.Notice} {
			if !utf8.ValidString(words) {
				t.Fatalf("%q is not valid UTF-8", words)
			}
		}
		for _, value := range []protocol.RawMessage{r.Reply.Patch, r.Reply.Changes, r.Reply.Messages, r.Reply.Response} {
			if value != nil && !jsonspan.Valid(value) {
				t.Fatalf("%s is no JSON", value)
			}
		}
		said := bytes.Contains(stdout, []byte("{")) || bytes.Contains(stderr, []byte("{")) || foreign.Name == "acai"
		switch r.Reply.Action {
		case protocol.Observe:
		case protocol.Block, protocol.Stop:
			if !said && exit < 2 {
				t.Fatalf("%s %s: blocked by %q, exit %d", foreign.Name, e.Name, stdout, exit)
			}
		default:
			if !said {
				t.Fatalf("%s %s: %s by %q", foreign.Name, e.Name, r.Reply.Action, stdout)
			}
		}
		protocol.Begin(protocol.Event{Event: e.Event, Data: protocol.Complete(protocol.Lookup(e.Event), a.ev.Data)}, protocol.FoldOptions{}).Add(protocol.Answer{HookInfo: guardInfo, ReadResult: r})
	})
}
