package foreignhooks

import (
	"strings"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Described turns the answer of a program that was asked for its events, in the form of
// another agent, into a description in ours: an object with the fields of a hook. ok is
// false for an answer in no other agent's form.
func Described(answer string) (entry string, ok bool) {
	answer = strings.TrimSpace(answer)
	for _, f := range All {
		if f.describe == nil {
			continue
		}
		if d, is := f.describe(f, answer); is {
			d.Description = clipped(d.Description)
			return string(object.Raw(d)), true
		}
	}
	return "", false
}

// clipped is a description of the length that a hook's may have.
func clipped(words string) string {
	const most = 200
	words = strings.Join(strings.Fields(words), " ")
	for utf8.RuneCountInString(words) > most {
		_, size := utf8.DecodeLastRuneInString(words)
		words = words[:len(words)-size]
	}
	return words
}

// Speaks says whose protocol a program plainly speaks by the words of its text, "" if it
// shows none or speaks hookd's own, and which word shows it.
func Speaks(program string) (dialect, word string) {
	for _, own := range ownWords {
		if strings.Contains(program, own) {
			return "", ""
		}
	}
	for _, of := range spoken {
		for _, word := range of.words {
			if strings.Contains(program, word) {
				return of.dialect, word
			}
		}
	}
	return "", ""
}

// ownWords are words of hookd's own protocol. A program that has one of them may speak
// another agent's besides.
var ownWords = []string{"HOOK_EVENT", "HOOK_ACTION", "HOOKD", "hookd", `"action"`, `\"action\"`, "'action'"}

// spoken are words that only programs for one agent have, the most telling first. The
// names that many agents took over from Claude Code come last.
var spoken = []struct {
	dialect string
	words   []string
}{
	{"openhands", []string{"OPENHANDS_", "event_type"}},
	{"cursor", []string{"CURSOR_PROJECT_DIR", "cursor_version", "beforeShellExecution", "followup_message", "agent_message", "updated_input"}},
	{"copilot", []string{"COPILOT_", "toolArgs", "modifiedArgs", "textResultForLlm"}},
	{"gemini", []string{"GEMINI_", "BeforeTool", "AfterTool", "BeforeAgent", "llm_request", "run_shell_command"}},
	{"kodelet", []string{"before_tool_call", "after_tool_call", "user_message_send", "tool_user_id", "follow_up_messages", "callback_args", "invoked_by"}},
	{"acai", []string{"ACAI_", "TOOL_ACTION", `"modifications"`}},
	{"claude", []string{"CLAUDE_PROJECT_DIR", "hookSpecificOutput", "permissionDecision", "hook_event_name", "tool_input", "tool_response", "stop_hook_active", `"decision"`, `\"decision\"`, "'decision'"}},
}

// HeaderFor is the header line that a program for another agent needs, as far as its text
// tells for which of that agent's events it is.
func HeaderFor(name, program string) string {
	f := Find(name)
	if f == nil {
		return ""
	}
	var events []string
	for _, e := range f.Events {
		if e.Event != "" && namesWord(program, e.Name) {
			events = append(events, e.Name)
		}
	}
	if len(events) == 0 {
		events = []string{f.Events[0].Name}
	}
	return "hook: dialect=" + name + " events=" + strings.Join(events, ",")
}

// namesWord reports whether a text has a word, and not only as a part of a longer one.
func namesWord(program, word string) bool {
	for rest := program; ; {
		at := strings.Index(rest, word)
		if at < 0 {
			return false
		}
		after := rest[at+len(word):]
		if (at == 0 || !isWordByte(rest[at-1])) && (after == "" || !isWordByte(after[0])) {
			return true
		}
		rest = after
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
