package guest

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/executor/process"
)

// agentMarks are variables that agents set for the commands that they run.
var agentMarks = []struct{ name, agent string }{
	{"CLAUDECODE", "Claude Code"}, {"GEMINI_CLI", "Gemini CLI"}, {"GEMINI_CWD", "Gemini CLI"}, {"QWEN_CODE", "Qwen Code"}, {"QWEN_CODE_CLI", "Qwen Code"},
	{"COPILOT_CLI", "GitHub Copilot CLI"}, {"CODEX_SANDBOX", "Codex CLI"}, {"CODEX_SANDBOX_NETWORK_DISABLED", "Codex CLI"}, {"CODEX_THREAD_ID", "Codex CLI"},
	{"CURSOR_AGENT", "Cursor"}, {"OPENCODE", "OpenCode"}, {"CRUSH", "Crush"}, {"CLINE_ACTIVE", "Cline"}, {"GOOSE_TERMINAL", "Goose"}, {"AI_AGENT", "an agent"},
}

// NotBelowAgent fails if an agent has started this process, as far as its variables and
// those of the processes above it say: what weakens hooks is a person's decision.
func NotBelowAgent(environ []string) error {
	if agent := agentIn(environ); agent != "" {
		return fmt.Errorf("%s has started this command", agent)
	}
	for _, above := range process.Ancestors() {
		if agent := agentIn(above.Environ); agent != "" {
			return fmt.Errorf("%s has started this command (process %d)", agent, above.Pid)
		}
	}
	return nil
}

// agentIn returns the agent that marked an environment, "" if none did.
func agentIn(environ []string) string {
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
