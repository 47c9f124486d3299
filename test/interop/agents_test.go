//go:build interop && unix

package interop

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// realAgent is an agent that others wrote, and how it is driven without a person, a login
// and a network. In texts, ${BASE} is the model's address, ${PROMPT} what the agent is
// asked, ${HOME} and ${PROJ} the folders of the person and the project.
type realAgent struct {
	name    string // as in hookd install
	program peerProgram
	wire    func(modelserver.Turn) string
	tools   tools
	args    []string
	asking  []string          // args with which the agent asks before it runs a command, nil: not without a person
	env     []string          // NAME=VALUE
	files   map[string]string // what a person has set up before hookd is installed, by path below the box
	mcp     map[string]string // files that name the MCP server ${MCP}, nil: the agent is not tried with one
	own     string            // its own settings, below the project: no model may write them
	trust   func(*stage)      // what a person does in the agent after hookd install --project
	leaves  []string          // args with which a person ends what the agent leaves running
	blocks  bool              // its settings can say that a call is refused when hookd cannot be started

	// mute are events that do not take effect as the agent is driven here, and what it does.
	mute map[protocol.EventName]string
	// races are events whose answers it takes or not, as it happens, and why.
	races map[protocol.EventName]string
}

// peerProgram is where an agent's program is after npm has installed its package.
type peerProgram struct {
	pkg  string
	path string // below the folder of the package, a pattern
	node int    // the oldest node that runs it, 0: it needs none, or any
}

// tools are the calls that the model makes of an agent's own tools.
type tools struct {
	shell func(command string) modelserver.Call
	write func(path, text string) modelserver.Call // path is absolute; nil: it has no such tool
	mcp   string                                   // the name of the tool say of the MCP server mini
	read  func(uri string) modelserver.Call        // reads a resource of the server mini; nil: it has no such tool
}

// call makes calls of a tool: pairs are names of members and, as %s in turn, the values.
func call(tool string, member string, more ...string) func(string) modelserver.Call {
	return func(value string) modelserver.Call {
		args := `{` + asJSON(member) + `:` + asJSON(value)
		for i := 0; i+1 < len(more); i += 2 {
			args += `,` + asJSON(more[i]) + `:` + asJSON(more[i+1])
		}
		return modelserver.Call{Name: tool, Args: args + `}`}
	}
}

// writes makes calls of a tool that writes a file.
func writes(tool, path, text string) func(string, string) modelserver.Call {
	return func(name, content string) modelserver.Call {
		return modelserver.Call{Name: tool, Args: `{` + asJSON(path) + `:` + asJSON(name) + `,` + asJSON(text) + `:` + asJSON(content) + `}`}
	}
}

// trustsFolder is a person's yes to the folder, as Gemini CLI and its descendants keep it.
func trustsFolder(file string) func(*stage) {
	return func(s *stage) { s.put("home/"+file, `{`+asJSON(s.project)+`: "TRUST_FOLDER"}`, 0o600) }
}

var realAgents = []realAgent{
	{
		name: "claude", wire: modelserver.Anthropic,
		program: peerProgram{pkg: "@anthropic-ai/claude-code@latest", path: "../claude-code-*/claude"},
		tools:   tools{shell: call("Bash", "command", "description", "a step"), write: writes("Write", "file_path", "content"), mcp: "mcp__mini__say", read: call("ReadMcpResourceTool", "uri", "server", "mini")},
		args:    []string{"-p", "${PROMPT}", "--allowedTools", "Bash,Write,mcp__mini__say,ReadMcpResourceTool", "--mcp-config", "${HOME}/mcp.json"},
		asking:  []string{"-p", "${PROMPT}"},
		env:     []string{"ANTHROPIC_BASE_URL=${BASE}", "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"},
		mcp:     map[string]string{"home/mcp.json": `{"mcpServers":{"mini":{"command":"node","args":["${MCP}"]}}}`},
		own:     ".claude/settings.local.json",
		blocks:  true,
	},
	{
		name: "gemini", wire: gemini,
		program: peerProgram{pkg: "@google/gemini-cli@latest", path: "bundle/gemini.js", node: 20},
		tools:   tools{shell: call("run_shell_command", "command", "description", "a step"), write: writes("write_file", "file_path", "content"), mcp: "mcp_mini_say", read: call("read_mcp_resource", "uri")},
		args:    []string{"-p", "${PROMPT}", "--yolo", "--model", "gemini-2.5-flash"},
		env:     []string{"GOOGLE_GEMINI_BASE_URL=${BASE}", "GEMINI_API_KEY=none", "GEMINI_TELEMETRY_ENABLED=false"},
		files: map[string]string{"home/.gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": true}}, "general": {"enableAutoUpdate": false},
			"mcpServers": {"mini": {"command": "node", "args": ["${MCP}"], "trust": true}}}`,
			"home/.gemini/trustedFolders.json": `{"${PROJ}": "TRUST_FOLDER"}`}, // without it no run begins
		mcp: map[string]string{},
		own: ".gemini/settings.json",
	},
	{
		name: "codex", wire: responses,
		program: peerProgram{pkg: "@openai/codex@latest", path: "bin/codex.js", node: 16},
		tools:   tools{shell: call("exec_command", "cmd"), mcp: "mcp__mini/say", read: call("read_mcp_resource", "uri", "server", "mini")},
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-s", "danger-full-access", "-m", "mock-model",
			"-c", `model_provider="mock"`, "-c", `model_providers.mock={name="mock",base_url="${BASE}/v1",wire_api="responses",env_key="MOCK_KEY"}`, "${PROMPT}"},
		env:   []string{"MOCK_KEY=none"},
		files: map[string]string{"home/.codex/config.toml": "[mcp_servers.mini]\ncommand = \"node\"\nargs = [\"${MCP}\"]\n"},
		mcp:   map[string]string{},
		own:   ".codex/hooks.json",
		trust: trustInCodex,
	},
	{
		name: "qwen", wire: modelserver.OpenAI,
		program: peerProgram{pkg: "@qwen-code/qwen-code@latest", path: "cli*.js", node: 22},
		tools:   tools{shell: call("run_shell_command", "command", "description", "a step"), write: writes("write_file", "file_path", "content"), mcp: "mcp__mini__say"},
		args:    []string{"-p", "${PROMPT}", "--yolo", "--auth-type", "openai"},
		env: []string{"OPENAI_BASE_URL=${BASE}/v1", "OPENAI_API_KEY=none", "OPENAI_MODEL=mock-model",
			"HTTPS_PROXY=", "https_proxy=", "HTTP_PROXY=", "http_proxy="}, // it would ask the proxy for this machine's addresses, too
		files: map[string]string{"home/.qwen/settings.json": `{"privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
			"mcpServers": {"mini": {"command": "node", "args": ["${MCP}"], "trust": true}}}`},
		mcp:   map[string]string{},
		own:   ".qwen/settings.json",
		trust: trustsFolder(".qwen/trustedFolders.json"),
	},
	{
		name: "opencode", wire: modelserver.OpenAI,
		program: peerProgram{pkg: "opencode-ai@latest", path: "../opencode-linux-*/bin/opencode"},
		tools:   tools{shell: call("bash", "command", "description", "a step"), write: writes("write", "filePath", "content"), mcp: "mini_say", read: call("read_mcp_resource", "uri", "server", "mini")},
		args:    []string{"run", "${PROMPT}", "--model", "mock/mock-model"},
		env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_SHARE=1",
			"npm_config_fetch_retries=0"},
		files: map[string]string{"proj/opencode.json": `{"provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": {"baseURL": "${BASE}/v1", "apiKey": "none"},
			"models": {"mock-model": {"name": "mock", "tool_call": true}}}}, "mcp": {"mini": {"type": "local", "command": ["node", "${MCP}"]}}}`},
		mcp: map[string]string{},
		own: ".opencode/plugin/more.ts",
	},
	{
		name: "copilot", wire: modelserver.OpenAI,
		program: peerProgram{pkg: "@github/copilot@latest", path: "../copilot-linux-*/copilot"},
		tools:   tools{shell: call("bash", "command", "description", "a step"), write: writes("create", "path", "file_text"), mcp: "mini-say"},
		args:    []string{"-p", "${PROMPT}", "--allow-all-tools", "--allow-all-paths", "--model", "mock-model", "--no-auto-update"},
		asking:  []string{"-p", "${PROMPT}", "--model", "mock-model", "--no-auto-update"},
		env: []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=${BASE}/v1", "COPILOT_PROVIDER_API_KEY=none", "COPILOT_PROVIDER_TYPE=openai",
			"COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS=1000"},
		mcp:   map[string]string{"home/.copilot/mcp-config.json": `{"mcpServers":{"mini":{"type":"local","command":"node","args":["${MCP}"],"tools":["*"]}}}`},
		own:   ".github/hooks/more.json",
		trust: func(s *stage) { s.args = append(slices.Clone(s.args), "--trust-folder") },
	},
	{
		name: "pi", wire: modelserver.OpenAI,
		program: peerProgram{pkg: "@mariozechner/pi-coding-agent@latest", path: "dist/cli.js", node: 20},
		tools:   tools{shell: call("bash", "command"), write: writes("write", "path", "content")},
		args:    []string{"-p", "${PROMPT}", "--offline", "--provider", "mock", "--model", "mock-model"},
		env:     []string{"PI_OFFLINE=1"},
		files: map[string]string{"home/.pi/agent/models.json": `{"providers": {"mock": {"baseUrl": "${BASE}/v1", "api": "openai-completions", "apiKey": "none",
			"models": [{"id": "mock-model"}]}}}`},
		own:   ".pi/extensions/more.ts",
		races: map[protocol.EventName]string{protocol.AgentStop: "pi -p waits for no hook of agent_end: mostly it has ended before they have answered"},
	},
	{
		name: "cline", wire: modelserver.OpenAI,
		program: peerProgram{pkg: "cline@latest", path: "../@cline/cli-linux-*/bin/cline"},
		tools: tools{shell: func(c string) modelserver.Call {
			return modelserver.Call{Name: "run_commands", Args: `{"commands":[` + asJSON(c) + `]}`}
		}},
		args: []string{"${PROMPT}"},
		files: map[string]string{"home/.cline/data/settings/providers.json": `{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {
			"settings": {"provider": "openai-compatible", "apiKey": "none", "model": "mock-model", "baseUrl": "${BASE}/v1"}, "updatedAt": "2026-11-29T08:00:00Z", "tokenSource": "manual"}}}`},
		own:    ".clinerules/hooks/PreToolUse",
		leaves: []string{"hub", "stop"},
		mute: map[protocol.EventName]string{
			protocol.PromptSubmit: "Cline in a terminal asks no hook about a prompt",
			protocol.SessionStart: "Cline in a terminal does not wait for hooks of a task's start",
		},
	},
	{
		name: "factory", wire: modelserver.OpenAI,
		program: peerProgram{pkg: "@factory/cli-linux-x64-baseline@latest", path: "bin/droid"},
		tools:   tools{shell: call("Execute", "command", "summary", "a step"), write: writes("Create", "file_path", "content")},
		args:    []string{"exec", "--skip-permissions-unsafe", "-m", "custom:mock-model", "${PROMPT}"},
		env:     []string{"FACTORY_API_KEY=fk-none", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false"},
		files: map[string]string{"home/.factory/settings.json": `{"customModels": [{"model": "mock-model", "displayName": "mock", "baseUrl": "${BASE}/v1", "apiKey": "none",
			"provider": "generic-chat-completion-api", "maxOutputTokens": 1000}], "enableDroidShield": false}`},
		own:  ".factory/hooks.json",
		mute: map[protocol.EventName]string{protocol.PromptSubmit: "droid exec asks no hook about its prompt"},
	},
	{
		name: "crush", wire: modelserver.OpenAI,
		program: peerProgram{pkg: "github.com/charmbracelet/crush@latest", path: "crush"},
		tools:   tools{shell: call("bash", "command", "description", "a step"), write: writes("write", "file_path", "content"), mcp: "mcp_mini_say", read: call("read_mcp_resource", "uri", "mcp_name", "mini")},
		args:    []string{"run", "--quiet", "${PROMPT}"},
		env:     []string{"CRUSH_DISABLE_PROVIDER_AUTO_UPDATE=1", "CRUSH_DISABLE_METRICS=1", "DO_NOT_TRACK=1"},
		files: map[string]string{"home/.config/crush/crush.json": `{"providers": {"mock": {"name": "mock", "type": "openai-compat", "base_url": "${BASE}/v1", "api_key": "none",
			"models": [{"id": "mock-model", "name": "mock", "context_window": 100000, "default_max_tokens": 1000}]}},
			"models": {"large": {"provider": "mock", "model": "mock-model"}, "small": {"provider": "mock", "model": "mock-model"}},
			"mcp": {"mini": {"type": "stdio", "command": "node", "args": ["${MCP}"]}}}`},
		mcp: map[string]string{},
		own: "crush.json",
	},
}
