package install

import (
	"time"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
)

// Agents are all agents that hookd can be installed into, by name.
var Agents = []*Agent{
	{
		Name: "claude", Title: "Claude Code", Programs: []string{"claude"}, Dialect: hosts.Find("claude"),
		layout: layout{style: groups, unit: time.Second, entry: groupedEntry("onFailure", "block"), files: onePerScope(configtext.JSON, func(p Places) [3]string {
			return [3]string{p.home("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), p.project(".claude/settings.json"),
				p.system("/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json", `C:\Program Files\ClaudeCode\managed-settings.json`)}
		})},
		events: eventRules{
			oldest: Version{1, 0, 38},
			since: map[string]Version{ // from its change log, or the first version in which the event was seen
				"SubagentStop": {1, 0, 41}, "PreCompact": {1, 0, 48}, "UserPromptSubmit": {1, 0, 54}, "SessionStart": {1, 0, 62},
				"SessionEnd": {1, 0, 85}, "SubagentStart": {2, 0, 43}, "PermissionRequest": {2, 0, 45}, "PostCompact": {2, 1, 76},
				"StopFailure": {2, 1, 78}, "PermissionDenied": {2, 1, 89}, "PostToolUseFailure": {2, 1, 119}, "PostToolBatch": {2, 1, 240},
				"UserPromptExpansion": {2, 1, 240}, "PreSkillShellCommand": {2, 1, 332},
			},
			limits: map[string]time.Duration{"SessionEnd": 10 * time.Second}, // without one its hooks share 1.5 s
			blocks: Version{2, 1, 295},
		},
	},
	{
		Name: "cline", Title: "Cline", Programs: []string{"cline"}, Dialect: hosts.Find("cline"),
		Confirm: "in VS Code, hooks must be switched on in Cline's settings (Features, Enable Hooks)",
		layout: layout{style: scripts, windows: PowerShell, files: func(p Places, s Scope) []file {
			switch s {
			case User:
				return []file{{path: p.home("CLINE_HOOKS_DIR", ".cline/hooks")}, {path: p.home("", "Documents/Cline/Hooks")}}
			case Project:
				return []file{{path: p.project(".clinerules/hooks")}, {path: p.project(".cline/hooks")}}
			}
			return nil
		}},
	},
	{
		Name: "codex", Title: "Codex CLI", Programs: []string{"codex"}, Dialect: hosts.Find("codex"),
		Confirm: "Codex runs no new or changed hook before it is trusted: start codex, enter /hooks and trust those of hookd",
		layout: layout{style: groups, windows: Cmd, unit: time.Second, entry: plainEntry("timeout", time.Second), files: func(p Places, s Scope) []file {
			switch s {
			case User:
				return []file{{path: p.home("CODEX_HOME", ".codex", "hooks.json"), format: configtext.JSON},
					{path: p.home("CODEX_HOME", ".codex", "config.toml"), format: configtext.TOML, shared: true}}
			case Project:
				return []file{{path: p.project(".codex/hooks.json"), format: configtext.JSON},
					{path: p.project(".codex/config.toml"), format: configtext.TOML, shared: true}}
			}
			return single(p.system("/etc/codex/hooks.json", "/etc/codex/hooks.json", ""), configtext.JSON)
		}},
		events: eventRules{
			oldest: Version{0, 124, 0}, // the first with hooks on by default
			since: map[string]Version{ // those that were seen in 0.169 and may be older
				"SessionEnd": {0, 169, 0}, "SubagentStart": {0, 169, 0}, "SubagentStop": {0, 169, 0}, "PreCompact": {0, 169, 0}, "PostCompact": {0, 169, 0},
				"PreModelRequest": {0, 169, 0}, "Interrupt": {0, 169, 0},
			},
		},
	},
	{
		Name: "copilot", Title: "GitHub Copilot CLI", Programs: []string{"copilot"}, Dialect: hosts.Find("copilot"),
		InProject: "Copilot runs the hooks of a project only in a folder that it trusts: confirm the folder when it asks",
		layout: layout{style: flat, windows: PowerShell, unit: time.Second, own: true, entry: copilotEntry, root: []rootMember{{"version", 1}}, files: onePerScope(configtext.JSON, func(p Places) [3]string {
			return [3]string{p.home("COPILOT_HOME", ".copilot", "hooks", "hookd.json"), p.project(".github/hooks/hookd.json"),
				p.system("/etc/github-copilot/policy.d/hookd.json", "/etc/github-copilot/policy.d/hookd.json", "")}
		})},
	},
	{
		Name: "crush", Title: "Crush", Programs: []string{"crush"}, Dialect: hosts.Find("crush"),
		layout: layout{style: flat, unit: time.Second, entry: crushEntry, loose: true, files: func(p Places, s Scope) []file {
			switch s {
			case User:
				return single(p.config("crush", "crush.json"), configtext.JSON)
			case Project:
				return []file{{path: p.project("crush.json"), format: configtext.JSON}, {path: p.project(".crush.json"), format: configtext.JSON}}
			}
			return nil
		}},
	},
	{
		Name: "cursor", Title: "Cursor", Programs: []string{"cursor-agent", "cursor"}, Dialect: hosts.Find("cursor"),
		InProject: "Cursor runs the hooks of a project only in a workspace that it trusts",
		layout: layout{style: flat, windows: Cmd, unit: time.Second, entry: shortEntry("failClosed", true), root: []rootMember{{"version", 1}}, files: onePerScope(configtext.JSON, func(p Places) [3]string {
			return [3]string{p.home("", ".cursor/hooks.json"), p.project(".cursor/hooks.json"),
				p.system("/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json", `C:\ProgramData\Cursor\hooks.json`)}
		})},
		events: eventRules{
			oldest: Version{1, 7, 0},
			// The editor updates itself and is rarely on PATH. Without preToolUse no hook of
			// tool-call-start would be asked about a command.
			assumed: Version{2, 4, 0},
			since: map[string]Version{ // an event that Cursor does not know makes the whole file invalid
				"preToolUse": {2, 4, 0}, "postToolUse": {2, 4, 0}, "postToolUseFailure": {2, 4, 0}, "sessionStart": {2, 4, 0}, "sessionEnd": {2, 4, 0},
				"subagentStart": {2, 4, 0}, "subagentStop": {2, 4, 0}, "preCompact": {2, 4, 0}, "beforeTabFileRead": {2, 4, 0}, "afterTabFileEdit": {2, 4, 0},
				"afterShellExecution": {2, 4, 0}, "afterMCPExecution": {2, 4, 0}, "afterAgentResponse": {2, 4, 0}, "afterAgentThought": {2, 4, 0},
			},
		},
	},
	{
		Name: "factory", Title: "Factory Droid", Programs: []string{"droid"}, Dialect: hosts.Find("factory"),
		Confirm: "Droid takes changed hooks over after they were reviewed: enter /hooks in a new session",
		layout: layout{style: groups, windows: Cmd, unit: time.Second, bare: true, entry: plainEntry("timeout", time.Second), files: func(p Places, s Scope) []file {
			at := func(path func(string) string) []file {
				// The first that holds hooks counts, and the others do not.
				return []file{{path: path("hooks.json"), format: configtext.JSON, atRoot: true}, {path: path("hooks/hooks.json"), format: configtext.JSON, shared: true, atRoot: true},
					{path: path("settings.json"), format: configtext.JSON, shared: true}}
			}
			switch s {
			case User:
				return at(func(name string) string { return p.home("", ".factory/"+name) })
			case Project:
				return at(func(name string) string { return p.project(".factory/" + name) })
			}
			return nil
		}},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Programs: []string{"gemini"}, Dialect: hosts.Find("gemini"),
		InProject: "Gemini runs the hooks of a project only in a folder that it trusts, and warns once about new ones",
		layout: layout{style: groups, windows: PowerShell, unit: time.Millisecond, entry: namedEntry, files: onePerScope(configtext.JSON, func(p Places) [3]string {
			return [3]string{p.home("", ".gemini/settings.json"), p.project(".gemini/settings.json"),
				p.system("/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json", `C:\ProgramData\gemini-cli\settings.json`)}
		})},
		events: eventRules{oldest: Version{0, 26, 0}},
	},
	{
		Name: "goose", Title: "Goose", Programs: []string{"goose"}, Dialect: hosts.Find("goose"),
		layout: layout{style: groups, windows: Cmd, unit: time.Second, own: true, entry: groupedEntry("on_failure", "block"), also: goosePlugin, files: func(p Places, s Scope) []file {
			if folder := gooseFolder(p, s); folder != nil {
				return single(folder("hooks/hooks.json"), configtext.JSON)
			}
			return nil
		}},
		events: eventRules{oldest: Version{1, 38, 0}},
	},
	{
		Name: "hermes", Title: "Hermes Agent", Programs: []string{"hermes"}, Dialect: hosts.Find("hermes"),
		Confirm: "Hermes asks at the terminal before it runs a new hook: start hermes once and say yes, or see hermes hooks doctor",
		layout: layout{style: flat, windows: Cmd, unit: time.Second, entry: shortEntry("fail_closed", true), files: func(p Places, s Scope) []file {
			if s == User {
				return single(p.home("HERMES_HOME", ".hermes", "config.yaml"), configtext.YAML)
			}
			return nil
		}},
	},
	{
		Name: "kiro", Title: "Kiro", Programs: []string{"kiro-cli", "kiro"}, Dialect: hosts.Find("kiro"),
		layout: layout{style: listed, windows: Cmd, unit: time.Second, own: true, entry: kiroEntry, root: []rootMember{{"version", "v1"}}, files: func(p Places, s Scope) []file {
			switch s {
			case User:
				return single(p.home("", ".kiro/hooks/hookd.json"), configtext.JSON)
			case Project:
				return single(p.project(".kiro/hooks/hookd.json"), configtext.JSON)
			}
			return nil
		}},
		// These names belong to the files of single agents, which older versions read.
		events: eventRules{skipped: []string{"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"}},
	},
	{
		Name: "openhands", Title: "OpenHands", Programs: []string{"openhands"}, Dialect: hosts.Find("openhands"),
		Confirm: "OpenHands reads the hooks of the project or those of the person, not both: the project's file wins",
		layout: layout{style: groups, windows: Cmd, unit: time.Second, bare: true, entry: plainEntry("timeout", time.Second), loose: true, files: func(p Places, s Scope) []file {
			switch s {
			case User:
				return single(p.home("", ".openhands/hooks.json"), configtext.JSON)
			case Project:
				return single(p.project(".openhands/hooks.json"), configtext.JSON)
			}
			return nil
		}},
	},
	{
		Name: "opencode", Title: "OpenCode", Programs: []string{"opencode"}, Dialect: hosts.Find("opencode"),
		Confirm: "OpenCode loads plug-ins when it starts: start it again. With a plug-in it fetches @opencode-ai/plugin from npm at its next start, which without a network takes more than a minute",
		layout: layout{style: plugin, files: func(p Places, s Scope) []file {
			switch s {
			case User:
				return []file{{path: p.config("opencode", "plugin", "hookd.ts")}}
			case Project:
				return []file{{path: p.project(".opencode/plugin/hookd.ts")}}
			}
			return nil
		}},
	},
	{
		Name: "pi", Title: "pi", Programs: []string{"pi"}, Dialect: hosts.Find("pi"),
		Confirm: "pi loads extensions when it starts: start it again, or enter /reload",
		layout: layout{style: plugin, files: func(p Places, s Scope) []file {
			switch s {
			case User:
				return []file{{path: p.home("PI_CODING_AGENT_DIR", ".pi/agent", "extensions", "hookd.ts")}}
			case Project:
				return []file{{path: p.project(".pi/extensions/hookd.ts")}}
			}
			return nil
		}},
	},
	{
		Name: "qwen", Title: "Qwen Code", Programs: []string{"qwen"}, Dialect: hosts.Find("qwen"),
		InProject: "Qwen runs the hooks of a project only in a folder that it trusts",
		layout: layout{style: groups, windows: Cmd, unit: time.Millisecond, entry: namedEntry, files: onePerScope(configtext.JSON, func(p Places) [3]string {
			return [3]string{p.home("", ".qwen/settings.json"), p.project(".qwen/settings.json"),
				p.system("/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json", `C:\ProgramData\qwen-code\settings.json`)}
		})},
	},
	{
		Name: "windsurf", Title: "Windsurf", Programs: []string{"windsurf"}, Dialect: hosts.Find("windsurf"),
		layout: layout{style: flat, windows: Cmd, entry: windsurfEntry, files: onePerScope(configtext.JSON, func(p Places) [3]string {
			return [3]string{p.home("", ".codeium/windsurf/hooks.json"), p.project(".windsurf/hooks.json"),
				p.system("/etc/windsurf/hooks.json", "/Library/Application Support/Windsurf/hooks.json", `C:\ProgramData\Windsurf\hooks.json`)}
		})},
	},
}

// onePerScope are the files of an agent that has one file in each scope.
func onePerScope(format configtext.Format, paths func(p Places) [3]string) func(Places, Scope) []file {
	return func(p Places, s Scope) []file {
		of := paths(p)
		switch s {
		case User:
			return single(of[0], format)
		case Project:
			return single(of[1], format)
		}
		return single(of[2], format)
	}
}

func single(path string, format configtext.Format) []file {
	if path == "" {
		return nil
	}
	return []file{{path: path, format: format}}
}
