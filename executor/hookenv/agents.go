package hookenv

import "strings"

// agentMarks are variables that other agents set for the commands that they run.
var agentMarks = []struct{ name, agent string }{
	{"CLAUDECODE", "Claude Code"}, {"GEMINI_CLI", "Gemini CLI"}, {"GEMINI_CWD", "Gemini CLI"}, {"QWEN_CODE", "Qwen Code"}, {"QWEN_CODE_CLI", "Qwen Code"},
	{"COPILOT_CLI", "GitHub Copilot CLI"}, {"CODEX_SANDBOX", "Codex CLI"}, {"CODEX_SANDBOX_NETWORK_DISABLED", "Codex CLI"}, {"CODEX_THREAD_ID", "Codex CLI"},
	{"CURSOR_AGENT", "Cursor"}, {"OPENCODE", "OpenCode"}, {"CRUSH", "Crush"}, {"CLINE_ACTIVE", "Cline"}, {"GOOSE_TERMINAL", "Goose"}, {"AI_AGENT", "an agent"},
}

// AgentIn returns the other agent that marked an environment as that of a command which
// it runs, "" if none did.
func AgentIn(environ []string) string {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		for _, mark := range agentMarks {
			if name == mark.name && value != "" && value != "0" && value != "false" {
				return mark.agent
			}
		}
	}
	return ""
}
