package toolname

import "github.com/hookd-dev/hookd/protocol"

// Tool is a tool that some agents are known to have.
type Tool struct {
	Name string // as these agents call it
	Kind protocol.ToolKind
	Of   string // the agents that call it so

	// Ours is hookd's name of the tool, "" where no two agents have the same. It is a tool
	// of hookd's own loop, or one that the loop does not have (glob, web_fetch, web_search).
	Ours string
	// Args lists the members of a call's args that are another name, or have another form,
	// than hookd's. All others are the same, or have no match, and stay.
	Args []Arg
}

// Arg is a member of a call's args that an agent writes in its own way.
type Arg struct {
	Theirs, Ours string
	Form         Form
	Of           string // the agents that do; "" for all agents of the tool
}

// Form is how an agent writes the value of a member. The zero value is: as hookd does.
type Form uint8

const (
	Same         Form = iota
	Milliseconds      // a number; hookd has seconds
	Words             // a list of words, of which the first is a program; hookd has a command line
	Lines             // a list of command lines; hookd has one text
	Patch             // a text that says itself which files it changes; hookd has their path, or paths, too
	Files             // a list of paths, or of objects with a path; hookd has them as path, or paths, too
)

// Args that several tools have.
var (
	filePath   = Arg{Theirs: "file_path", Ours: "path"}
	dirPath    = Arg{Theirs: "dir_path", Ours: "path"}
	oldString  = Arg{Theirs: "old_string", Ours: "oldText"}
	newString  = Arg{Theirs: "new_string", Ours: "newText"}
	oldStr     = Arg{Theirs: "old_str", Ours: "oldText"}
	newStr     = Arg{Theirs: "new_str", Ours: "newText"}
	replaceAll = Arg{Theirs: "replace_all", Ours: "replaceAll"}
	fileText   = Arg{Theirs: "file_text", Ours: "content"}
	patchTexts = []Arg{ // of which an agent's first is what a patch of another agent becomes
		{"command", "command", Patch, "codex"}, {"patchText", "patchText", Patch, "opencode"}, {"input", "input", Patch, ""},
		{"patch", "patch", Patch, ""}, {"command", "command", Patch, ""}, {"patchText", "patchText", Patch, ""},
	}
	timeoutMs = Arg{Theirs: "timeout", Ours: "timeout", Form: Milliseconds}
	mcpServer = Arg{Theirs: "mcp_name", Ours: "server"}
)

// of is an arg that only some of a tool's agents have.
func (a Arg) of(agents string) Arg {
	a.Of = agents
	return a
}

// Vocabulary lists the tools hookd knows by name, what they do, whose names they are,
// and how they are called. Everything that has to do with names of tools goes by this
// table. A pattern that fits none of them is probably misspelt. Names of MCP servers'
// tools are in [ServerNames]. Where an agent has two tools for one of ours, the first
// is what ours becomes there.
var Vocabulary = []Tool{
	{"bash", protocol.KindShell, "hookd copilot crush opencode pi kodelet", "bash", []Arg{timeoutMs.of("opencode"), {"workdir", "dir", Same, "opencode"}}},
	{"read_file", protocol.KindRead, "hookd gemini qwen cline hermes", "read_file", []Arg{filePath.of("gemini qwen"), {"absolute_path", "path", Same, "gemini qwen"}, {"start_line", "offset", Same, "gemini"}}},
	{"write_file", protocol.KindWrite, "hookd gemini qwen hermes", "write_file", []Arg{filePath.of("gemini qwen")}},
	{"edit_file", protocol.KindWrite, "hookd", "edit_file", nil},
	{"list_dir", protocol.KindRead, "hookd", "list_dir", nil},
	{"grep", protocol.KindRead, "hookd copilot crush opencode pi kiro", "grep", []Arg{{"include", "glob", Same, "crush opencode"}}},
	{"spawn_subagent", protocol.KindAgent, "hookd", "spawn_subagent", nil},
	{"load_skill", protocol.KindRead, "hookd", "load_skill", nil},
	{"todo_write", protocol.KindOther, "hookd", "todo_write", nil},
	{"metadata_write", protocol.KindOther, "hookd", "metadata_write", nil},
	{"metadata_read", protocol.KindOther, "hookd", "metadata_read", nil},
	{"metadata_list", protocol.KindOther, "hookd", "metadata_list", nil},

	// Gemini CLI and Qwen Code.
	{"run_shell_command", protocol.KindShell, "gemini qwen", "bash", []Arg{timeoutMs.of("qwen"), {"dir_path", "dir", Same, "gemini"}, {"directory", "dir", Same, "gemini qwen"}}},
	{"read_many_files", protocol.KindRead, "gemini qwen", "", nil},
	{"list_directory", protocol.KindRead, "gemini qwen", "list_dir", []Arg{dirPath.of("gemini")}},
	{"glob", protocol.KindRead, "gemini qwen copilot crush opencode kiro", "glob", []Arg{dirPath.of("gemini")}},
	{"grep_search", protocol.KindRead, "gemini qwen", "grep", []Arg{dirPath.of("gemini"), {"include_pattern", "glob", Same, "gemini"}}},
	{"search_file_content", protocol.KindRead, "gemini", "grep", []Arg{dirPath, {Theirs: "include", Ours: "glob"}}},
	{"replace", protocol.KindWrite, "gemini", "edit_file", []Arg{filePath, oldString, newString, {Theirs: "allow_multiple", Ours: "replaceAll"}}},
	{"web_fetch", protocol.KindNet, "gemini qwen copilot kodelet kiro", "web_fetch", nil},
	{"google_web_search", protocol.KindNet, "gemini", "web_search", nil},
	{"save_memory", protocol.KindOther, "gemini qwen", "", nil},
	{"write_todos", protocol.KindOther, "gemini", "", nil},
	{"invoke_agent", protocol.KindAgent, "gemini", "spawn_subagent", nil},
	{"notebook_edit", protocol.KindWrite, "qwen", "", []Arg{{Theirs: "notebook_path", Ours: "path"}}},

	// GitHub Copilot CLI and Crush.
	{"powershell", protocol.KindShell, "copilot", "", nil},
	{"view", protocol.KindRead, "copilot crush", "read_file", []Arg{filePath.of("crush")}},
	{"create", protocol.KindWrite, "copilot", "write_file", []Arg{fileText, {Theirs: "path", Ours: "path"}, filePath}},
	{"edit", protocol.KindWrite, "copilot crush qwen opencode pi goose", "edit_file", []Arg{
		{"path", "path", Same, "copilot"}, filePath.of("copilot crush qwen"), {"filePath", "path", Same, "opencode"},
		oldStr.of("copilot"), newStr.of("copilot"), oldString.of("crush qwen"), newString.of("crush qwen"), replaceAll.of("crush qwen"),
		{"oldString", "oldText", Same, "opencode"}, {"newString", "newText", Same, "opencode"},
		{"before", "oldText", Same, "goose"}, {"after", "newText", Same, "goose"},
	}},
	{"rg", protocol.KindRead, "copilot", "grep", nil},
	{"agent", protocol.KindAgent, "qwen crush", "spawn_subagent", nil},
	{"task", protocol.KindAgent, "copilot opencode qwen", "spawn_subagent", nil},
	{"write", protocol.KindWrite, "crush opencode pi goose kiro", "write_file", []Arg{
		filePath.of("crush"), {"filePath", "path", Same, "opencode"}, fileText.of("kiro"), {"text", "content", Same, "kiro"}, oldStr.of("kiro"), newStr.of("kiro"),
	}},
	{"multiedit", protocol.KindWrite, "crush", "", []Arg{filePath}},
	{"ls", protocol.KindRead, "crush pi", "list_dir", nil},
	{"fetch", protocol.KindNet, "crush", "web_fetch", nil},
	{"download", protocol.KindWrite, "crush", "", []Arg{filePath}},

	// Claude Code, and agents with its names. Copilot has them for hooks that are
	// installed for Claude Code's names of events, besides its own above.
	{"Bash", protocol.KindShell, "claude codex copilot", "bash", []Arg{timeoutMs}},
	{"BashOutput", protocol.KindOther, "claude", "", nil},
	{"KillShell", protocol.KindOther, "claude", "", nil},
	{"PowerShell", protocol.KindShell, "claude", "", nil},
	{"Read", protocol.KindRead, "claude cursor factory copilot", "read_file", []Arg{filePath}},
	{"Glob", protocol.KindRead, "claude factory copilot", "glob", nil},
	{"Grep", protocol.KindRead, "claude cursor factory copilot", "grep", nil},
	{"LS", protocol.KindRead, "claude factory", "list_dir", nil},
	{"NotebookRead", protocol.KindRead, "claude", "", []Arg{{Theirs: "notebook_path", Ours: "path"}}},
	{"Write", protocol.KindWrite, "claude codex cursor copilot", "write_file", []Arg{filePath, {"contents", "content", Same, "cursor"}, fileText.of("copilot")}},
	{"Edit", protocol.KindWrite, "claude codex factory copilot", "edit_file", []Arg{
		filePath, oldStr.of("factory copilot"), newStr.of("factory copilot"), {"change_all", "replaceAll", Same, "factory"}, oldString, newString, replaceAll,
	}},
	{"MultiEdit", protocol.KindWrite, "claude factory", "", []Arg{filePath}},
	{"NotebookEdit", protocol.KindWrite, "claude", "", []Arg{{Theirs: "notebook_path", Ours: "path"}}},
	{"WebFetch", protocol.KindNet, "claude cursor copilot", "web_fetch", nil},
	{"WebSearch", protocol.KindNet, "claude cursor factory copilot", "web_search", nil},
	{"Agent", protocol.KindAgent, "claude copilot", "spawn_subagent", nil},
	{"Task", protocol.KindAgent, "claude cursor factory", "spawn_subagent", nil},
	{"TodoWrite", protocol.KindOther, "claude", "", nil},
	{"ExitPlanMode", protocol.KindOther, "claude", "", nil},
	{"AskUserQuestion", protocol.KindOther, "claude", "", nil},
	{"Skill", protocol.KindOther, "claude", "", nil},
	{"SlashCommand", protocol.KindOther, "claude", "", nil},

	// Codex CLI. Its hooks see its shell as Bash; its app server and older versions say
	// shell, with a list of words.
	{"shell", protocol.KindShell, "codex goose kiro", "bash", []Arg{{"command", "command", Words, "codex"}, {"workdir", "dir", Same, "codex"}, {"timeout_ms", "timeout", Milliseconds, "codex"}}},
	{"exec_command", protocol.KindShell, "codex", "bash", []Arg{{Theirs: "cmd", Ours: "command"}, {Theirs: "workdir", Ours: "dir"}}},
	{"local_shell", protocol.KindShell, "codex", "bash", []Arg{{"command", "command", Words, ""}, {Theirs: "workdir", Ours: "dir"}, {"timeout_ms", "timeout", Milliseconds, ""}}},
	{"apply_patch", protocol.KindWrite, "codex copilot opencode cline", "", patchTexts},
	{"view_image", protocol.KindRead, "codex", "", nil},
	{"web_search", protocol.KindNet, "codex copilot kiro hermes", "web_search", nil},
	{"update_plan", protocol.KindOther, "codex", "", nil},
	{"spawn_agent", protocol.KindAgent, "codex cline", "spawn_subagent", []Arg{{"message", "prompt", Same, "codex"}}},

	// Cursor and Factory Droid.
	{"Shell", protocol.KindShell, "cursor", "bash", []Arg{timeoutMs, {Theirs: "working_directory", Ours: "dir"}}},
	{"Delete", protocol.KindWrite, "cursor", "", []Arg{filePath}},
	{"Fetch", protocol.KindNet, "cursor", "web_fetch", nil},
	{"Execute", protocol.KindShell, "factory", "bash", nil},
	{"Create", protocol.KindWrite, "factory", "write_file", []Arg{filePath}},
	{"ApplyPatch", protocol.KindWrite, "factory", "", patchTexts},
	{"FetchUrl", protocol.KindNet, "factory", "web_fetch", nil},

	// OpenCode and pi.
	{"read", protocol.KindRead, "opencode pi kiro", "read_file", []Arg{{"filePath", "path", Same, "opencode"}, {"operations", "operations", Files, "kiro"}}},
	{"list", protocol.KindRead, "opencode", "list_dir", nil},
	{"webfetch", protocol.KindNet, "opencode", "web_fetch", nil},
	{"websearch", protocol.KindNet, "opencode", "web_search", nil},
	{"find", protocol.KindRead, "pi", "glob", nil},

	// kodelet, whose hooks run here.
	{"file_read", protocol.KindRead, "kodelet", "read_file", []Arg{filePath, {Theirs: "line_limit", Ours: "limit"}}},
	{"file_write", protocol.KindWrite, "kodelet", "write_file", []Arg{filePath, {Theirs: "text", Ours: "content"}}},
	{"file_edit", protocol.KindWrite, "kodelet", "edit_file", []Arg{filePath, {Theirs: "old_text", Ours: "oldText"}, {Theirs: "new_text", Ours: "newText"}, replaceAll}},
	{"grep_tool", protocol.KindRead, "kodelet", "grep", []Arg{{Theirs: "include", Ours: "glob"}}},
	{"glob_tool", protocol.KindRead, "kodelet", "glob", nil},
	{"subagent", protocol.KindAgent, "kodelet", "spawn_subagent", []Arg{{Theirs: "question", Ours: "prompt"}}},

	// Kiro, OpenHands, Goose, Hermes Agent, Cline.
	{"fs_read", protocol.KindRead, "kiro", "", []Arg{{Theirs: "operations", Ours: "operations", Form: Files}}},
	{"fs_write", protocol.KindWrite, "kiro", "write_file", []Arg{fileText, {Theirs: "text", Ours: "content"}, oldStr, newStr}},
	{"fs_append", protocol.KindWrite, "kiro", "", []Arg{{Theirs: "text", Ours: "content"}}},
	{"str_replace", protocol.KindWrite, "kiro", "edit_file", []Arg{{Theirs: "oldStr", Ours: "oldText"}, {Theirs: "newStr", Ours: "newText"}, replaceAll}},
	{"execute_cmd", protocol.KindShell, "kiro", "", nil},
	{"terminal", protocol.KindShell, "openhands hermes", "bash", nil},
	{"execute_bash", protocol.KindShell, "openhands kiro", "bash", nil},
	{"file_editor", protocol.KindWrite, "openhands", "", []Arg{fileText, oldStr, newStr}},
	{"str_replace_editor", protocol.KindWrite, "openhands copilot", "", []Arg{fileText, oldStr, newStr}},
	{"developer__shell", protocol.KindShell, "goose", "bash", nil},
	{"tree", protocol.KindRead, "goose", "list_dir", nil},
	{"text_editor", protocol.KindWrite, "goose", "", []Arg{fileText, oldStr, newStr}},
	{"developer__text_editor", protocol.KindWrite, "goose", "", []Arg{fileText, oldStr, newStr}},
	{"patch", protocol.KindWrite, "hermes", "edit_file", []Arg{oldString, newString, replaceAll, {Theirs: "patch", Ours: "patch", Form: Patch}}},
	{"execute_command", protocol.KindShell, "cline", "bash", nil},
	{"run_commands", protocol.KindShell, "cline", "bash", []Arg{{"commands", "command", Lines, ""}}},
	{"write_to_file", protocol.KindWrite, "cline", "write_file", nil},
	{"replace_in_file", protocol.KindWrite, "cline", "", nil},
	{"editor", protocol.KindWrite, "cline", "", nil},
	{"read_files", protocol.KindRead, "cline", "", []Arg{{Theirs: "files", Ours: "files", Form: Files}}},
	{"list_files", protocol.KindRead, "cline", "list_dir", nil},
	{"search_files", protocol.KindRead, "cline hermes", "grep", []Arg{{"regex", "pattern", Same, "cline"}, {"file_pattern", "glob", Same, "cline"}, {"file_glob", "glob", Same, "hermes"}}},
	{"search_codebase", protocol.KindRead, "cline", "", nil},
	{"fetch_web_content", protocol.KindNet, "cline", "web_fetch", nil},

	// What MCP servers have besides tools; mcp is hookd's own proxy of a server.
	{"read_mcp_resource", protocol.KindMCP, "mcp codex gemini crush opencode", "read_mcp_resource", []Arg{mcpServer.of("crush")}},
	{"get_mcp_prompt", protocol.KindMCP, "mcp", "get_mcp_prompt", nil},
	{"list_mcp_resources", protocol.KindMCP, "codex gemini crush opencode", "list_mcp_resources", []Arg{mcpServer.of("crush"), {"serverName", "server", Same, "gemini"}}},
	{"list_mcp_resource_templates", protocol.KindMCP, "codex opencode", "list_mcp_resources", nil},
	{"ReadMcpResourceTool", protocol.KindMCP, "claude", "read_mcp_resource", nil},
	{"ListMcpResourcesTool", protocol.KindMCP, "claude", "list_mcp_resources", nil},
	{"ReadMcpResourceDirTool", protocol.KindMCP, "claude", "list_mcp_resources", nil},
	{"access_mcp_resource", protocol.KindMCP, "cline", "read_mcp_resource", []Arg{{Theirs: "server_name", Ours: "server"}}},
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

// ServerName is how some agents write the name of an MCP server's tool.
type ServerName struct {
	Of   string
	Form string // with SERVER and TOOL
}

// ServerNames lists how agents name the tools of MCP servers. hookd and all agents that
// are not listed write mcp__SERVER__TOOL. A name of the form that the table of tools does
// not have is taken for such a tool; where the separator stands in it more than once, it
// does not say of which server. A form without a fixed beginning proves nothing: a plug-in's
// own tool may be called so, too ([Call].MayBe).
var ServerNames = []ServerName{
	{"gemini qwen crush hermes", "mcp_SERVER_TOOL"},
	{"cursor", "MCP:TOOL"},
	{"copilot", "SERVER-TOOL"},
	{"copilot", "SERVER/TOOL"}, // where it asks for permission
	{"kiro", "@SERVER/TOOL"},
	{"goose", "SERVER__TOOL"},
	{"opencode", "SERVER_TOOL"},
	{"openhands", "TOOL"},
}
