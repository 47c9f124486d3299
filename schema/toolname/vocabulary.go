package toolname

import "github.com/hookd-dev/hookd/protocol"

// Tool is one tool that some agent is known to have.
type Tool struct {
	Name string
	Kind protocol.ToolKind
	Of   string // the agents that call it so
}

// Vocabulary lists the tools hookd knows by name, what they do, and whose names they
// are. Everything that has to do with names of tools goes by this table. A pattern
// that fits none of them is probably misspelt. Names of MCP servers' tools begin with
// mcp__ (or mcp_) and are all of kind mcp.
var Vocabulary = []Tool{
	{"bash", protocol.KindShell, "hookd copilot crush"},
	{"read_file", protocol.KindRead, "hookd gemini qwen"},
	{"write_file", protocol.KindWrite, "hookd gemini qwen"},
	{"edit_file", protocol.KindWrite, "hookd"},
	{"list_dir", protocol.KindRead, "hookd"},
	{"grep", protocol.KindRead, "hookd copilot crush"},
	{"spawn_subagent", protocol.KindAgent, "hookd"},
	{"load_skill", protocol.KindRead, "hookd"},
	{"todo_write", protocol.KindOther, "hookd"},
	{"metadata_write", protocol.KindOther, "hookd"},
	{"metadata_read", protocol.KindOther, "hookd"},
	{"metadata_list", protocol.KindOther, "hookd"},

	{"Bash", protocol.KindShell, "claude codex"},
	{"BashOutput", protocol.KindOther, "claude"},
	{"KillShell", protocol.KindOther, "claude"},
	{"PowerShell", protocol.KindShell, "claude"},
	{"Read", protocol.KindRead, "claude cursor factory"},
	{"Glob", protocol.KindRead, "claude factory"},
	{"Grep", protocol.KindRead, "claude cursor factory"},
	{"LS", protocol.KindRead, "claude factory"},
	{"NotebookRead", protocol.KindRead, "claude"},
	{"Write", protocol.KindWrite, "claude codex cursor"},
	{"Edit", protocol.KindWrite, "claude codex factory"},
	{"MultiEdit", protocol.KindWrite, "claude"},
	{"NotebookEdit", protocol.KindWrite, "claude"},
	{"WebFetch", protocol.KindNet, "claude cursor"},
	{"WebSearch", protocol.KindNet, "claude cursor factory"},
	{"Task", protocol.KindAgent, "claude cursor factory"},
	{"Agent", protocol.KindAgent, "claude"},
	{"TodoWrite", protocol.KindOther, "claude"},
	{"ExitPlanMode", protocol.KindOther, "claude"},
	{"AskUserQuestion", protocol.KindOther, "claude"},
	{"Skill", protocol.KindOther, "claude"},
	{"SlashCommand", protocol.KindOther, "claude"},

	{"run_shell_command", protocol.KindShell, "gemini qwen"},
	{"read_many_files", protocol.KindRead, "gemini qwen"},
	{"list_directory", protocol.KindRead, "gemini qwen"},
	{"glob", protocol.KindRead, "gemini qwen copilot crush"},
	{"search_file_content", protocol.KindRead, "gemini"},
	{"grep_search", protocol.KindRead, "gemini qwen"},
	{"replace", protocol.KindWrite, "gemini"},
	{"web_fetch", protocol.KindNet, "gemini qwen copilot"},
	{"google_web_search", protocol.KindNet, "gemini"},
	{"save_memory", protocol.KindOther, "gemini qwen"},
	{"write_todos", protocol.KindOther, "gemini"},

	{"shell", protocol.KindShell, "codex"},
	{"exec_command", protocol.KindShell, "codex"},
	{"local_shell", protocol.KindShell, "codex"},
	{"apply_patch", protocol.KindWrite, "codex copilot"},
	{"view_image", protocol.KindRead, "codex"},
	{"web_search", protocol.KindNet, "codex copilot"},
	{"update_plan", protocol.KindOther, "codex"},

	{"Shell", protocol.KindShell, "cursor"},
	{"Delete", protocol.KindWrite, "cursor"},
	{"Fetch", protocol.KindNet, "cursor"},
	{"Execute", protocol.KindShell, "factory"},
	{"Create", protocol.KindWrite, "factory"},
	{"ApplyPatch", protocol.KindWrite, "factory"},
	{"FetchUrl", protocol.KindNet, "factory"},

	{"powershell", protocol.KindShell, "copilot"},
	{"view", protocol.KindRead, "copilot crush"},
	{"create", protocol.KindWrite, "copilot"},
	{"edit", protocol.KindWrite, "copilot crush qwen"},
	{"rg", protocol.KindRead, "copilot"},
	{"write", protocol.KindWrite, "crush"},
	{"multiedit", protocol.KindWrite, "crush"},
	{"fetch", protocol.KindNet, "crush"},
	{"fs_read", protocol.KindRead, "kiro"},
	{"fs_write", protocol.KindWrite, "kiro"},

	{"execute_bash", protocol.KindShell, "openhands kiro"},
	{"terminal", protocol.KindShell, "openhands"},
	{"file_editor", protocol.KindWrite, "openhands"},
	{"str_replace_editor", protocol.KindWrite, "openhands copilot"},
}

// Kinds are the words that stand for a kind of tool in a pattern.
var Kinds = map[string]protocol.ToolKind{
	"@shell": protocol.KindShell,
	"@read":  protocol.KindRead,
	"@write": protocol.KindWrite,
	"@net":   protocol.KindNet,
	"@mcp":   protocol.KindMCP,
	"@agent": protocol.KindAgent,
}
