package schema

import (
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// ToolName is one tool that some agent is known to have.
type ToolName struct {
	Name string
	Kind protocol.ToolKind
	Of   string // the agents that call it so
}

// Vocabulary are the tools hookd knows by name, and their kinds. A matcher that
// fits none of them is probably misspelt. Names of MCP servers' tools begin
// with mcp__ (or mcp_) and are all of kind mcp.
var Vocabulary = []ToolName{
	{"bash", protocol.KindShell, "hookd"},
	{"read_file", protocol.KindRead, "hookd gemini"},
	{"write_file", protocol.KindWrite, "hookd gemini"},
	{"edit_file", protocol.KindWrite, "hookd"},
	{"list_dir", protocol.KindRead, "hookd"},
	{"grep", protocol.KindRead, "hookd"},

	{"Bash", protocol.KindShell, "claude"},
	{"BashOutput", protocol.KindShell, "claude"},
	{"KillShell", protocol.KindShell, "claude"},
	{"PowerShell", protocol.KindShell, "claude"},
	{"Read", protocol.KindRead, "claude cursor"},
	{"Glob", protocol.KindRead, "claude"},
	{"Grep", protocol.KindRead, "claude cursor"},
	{"LS", protocol.KindRead, "claude"},
	{"NotebookRead", protocol.KindRead, "claude"},
	{"Write", protocol.KindWrite, "claude cursor"},
	{"Edit", protocol.KindWrite, "claude"},
	{"MultiEdit", protocol.KindWrite, "claude"},
	{"NotebookEdit", protocol.KindWrite, "claude"},
	{"WebFetch", protocol.KindNet, "claude"},
	{"WebSearch", protocol.KindNet, "claude"},
	{"Task", protocol.KindAgent, "claude"},
	{"Agent", protocol.KindAgent, "claude"},
	{"TodoWrite", protocol.KindOther, "claude"},
	{"ExitPlanMode", protocol.KindOther, "claude"},
	{"AskUserQuestion", protocol.KindOther, "claude"},
	{"Skill", protocol.KindOther, "claude"},
	{"SlashCommand", protocol.KindOther, "claude"},

	{"run_shell_command", protocol.KindShell, "gemini"},
	{"read_many_files", protocol.KindRead, "gemini"},
	{"list_directory", protocol.KindRead, "gemini"},
	{"glob", protocol.KindRead, "gemini"},
	{"search_file_content", protocol.KindRead, "gemini"},
	{"grep_search", protocol.KindRead, "gemini"},
	{"replace", protocol.KindWrite, "gemini"},
	{"web_fetch", protocol.KindNet, "gemini"},
	{"google_web_search", protocol.KindNet, "gemini"},
	{"save_memory", protocol.KindOther, "gemini"},
	{"write_todos", protocol.KindOther, "gemini"},

	{"shell", protocol.KindShell, "codex"},
	{"exec_command", protocol.KindShell, "codex"},
	{"local_shell", protocol.KindShell, "codex"},
	{"apply_patch", protocol.KindWrite, "codex"},
	{"view_image", protocol.KindRead, "codex"},
	{"web_search", protocol.KindNet, "codex"},
	{"update_plan", protocol.KindOther, "codex"},

	{"Shell", protocol.KindShell, "cursor"},
	{"Delete", protocol.KindWrite, "cursor"},
	{"execute_bash", protocol.KindShell, "openhands"},
	{"terminal", protocol.KindShell, "openhands"},
	{"file_editor", protocol.KindWrite, "openhands"},
	{"str_replace_editor", protocol.KindWrite, "openhands"},
}

// MatcherKinds are the words that stand for a kind of tool in match.tool.
var MatcherKinds = map[string]protocol.ToolKind{
	"@shell": protocol.KindShell,
	"@read":  protocol.KindRead,
	"@write": protocol.KindWrite,
	"@net":   protocol.KindNet,
	"@mcp":   protocol.KindMCP,
	"@agent": protocol.KindAgent,
}

// KnownTool returns the kind of a tool by its exact name; known is false for a
// tool no row knows, which belongs to every kind.
func KnownTool(name string) (kind protocol.ToolKind, known bool) {
	if kind, known = kindOf()[name]; known {
		return kind, true
	}
	if isMCPName(name) {
		return protocol.KindMCP, true
	}
	return protocol.KindOther, false
}

// kindOf finds a tool's kind without a walk through the vocabulary: matchers ask
// at every event.
var kindOf = sync.OnceValue(func() map[string]protocol.ToolKind {
	kinds := make(map[string]protocol.ToolKind, len(Vocabulary))
	for _, t := range Vocabulary {
		kinds[t.Name] = t.Kind
	}
	return kinds
})

func isMCPName(name string) bool {
	return len(name) > len("mcp_") && name[:len("mcp_")] == "mcp_"
}

// KnownSources are the values data.source has at some event.
var KnownSources = []string{"startup", "resume", "fork", "user", "follow-up", "recipe", "hook", "sub-agent"}
