package protect

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// agentPlaces are the paths, in any folder, that hold hooks of one agent or their
// settings. Whoever edits them lifts the agent's rules. Parts may be patterns of
// [path.Match].
type agentPlaces struct {
	title string
	paths string // separated by blanks
	also  string // what the file tools of hookd's own loop keep out of besides
}

// agents is the table of hook settings, ours and those of other agents.
var agents = []agentPlaces{
	{"hookd", ".acai", ""},
	{"Claude Code", ".claude/settings*.json .claude/hooks .claude/plugins .claude/mods .claude.json", ""},
	{"Gemini CLI", ".gemini/settings.json .gemini/hooks .gemini/extensions .gemini/policies .gemini/trusted_hooks.json .gemini/trustedFolders.json .gemini/.env", ".gemini"},
	{"Codex", ".codex/hooks.json .codex/config.toml .codex/*.config.toml .codex/requirements.toml .codex/hooks .codex/plugins", ".codex"},
	{"Copilot CLI", ".copilot/hooks .copilot/settings*.json .copilot/config.json .github/hooks .github/copilot", ".copilot"},
	{"OpenHands", ".openhands/hooks.json .openhands/hooks", ".openhands"},
	{"OpenCode", ".opencode/plugin .opencode/plugins .opencode/opencode.json .opencode/opencode.jsonc .config/opencode opencode.json opencode.jsonc", ".opencode"},
	{"kodelet", ".kodelet/hooks .kodelet/config.yaml kodelet-config.yaml", ".kodelet"},
	{"Crush", "crush.json .crush.json .config/crush .crush/crush.json .local/share/crush/crush.json", ".crush"},
	{"Cursor", ".cursor/hooks.json .cursor/hooks", ".cursor/mcp.json"},
	{"Kiro", ".kiro/hooks .kiro/agents .kiro/settings .amazonq/cli-agents", ".amazonq"},
	{"Windsurf", ".windsurf/hooks.json .codeium/windsurf/hooks.json .codeium/hooks.json", ".codeium"},
	{"Cline", ".clinerules/hooks .cline/hooks .cline/settings.json Documents/Cline/Hooks", ".cline"},
	{"Qwen Code", ".qwen/settings*.json .qwen/hooks .qwen/extensions .qwen/trustedFolders.json .qwen/.env", ""},
	{"Factory", ".factory/settings*.json .factory/hooks.json .factory/hooks", ""},
	{"Goose", ".config/goose .goose/plugins .agents/plugins", ""},
	{"Hermes", ".hermes/config.yaml .hermes/shell-hooks-allowlist.json .hermes/plugins", ""},
	{"pi", ".pi/extensions .pi/settings.json .pi/agent/extensions .pi/agent/settings.json", ""},
	{"Continue", ".continue/settings*.json", ""},
	{"Auggie", ".augment/settings*.json", ""},
	{"an MCP server", "", ".mcp.json .vscode/mcp.json"},
	{"an agent of an editor", "", ".zed/settings.json .config/zed/settings.json .jetbrains/acp.json"}, // or a server
}

// machinePlaces are the folders and files of the machine's own hook settings, absolute.
var machinePlaces = []struct{ title, paths string }{
	{"hookd", "/etc/acai"},
	{"Claude Code", "/etc/claude-code|/Library/Application Support/ClaudeCode"},
	{"Codex", "/etc/codex"},
	{"Gemini CLI", "/etc/gemini-cli|/Library/Application Support/GeminiCli"},
	{"Qwen Code", "/etc/qwen-code|/Library/Application Support/QwenCode"},
	{"Cursor", "/etc/cursor|/Library/Application Support/Cursor/hooks.json"},
	{"Copilot CLI", "/etc/github-copilot"},
	{"Windsurf", "/etc/windsurf|/Library/Application Support/Windsurf/hooks.json"},
	{"Auggie", "/etc/augment"},
}

// hookPlace is one path of the table.
type hookPlace struct {
	title string
	parts []string
}

var (
	hookPlaces   = sync.OnceValue(func() []hookPlace { return placesOf(func(a agentPlaces) string { return a.paths }) }) // hook settings
	hookSettings = sync.OnceValue(func() [][]string {
		return partsOf(placesOf(func(a agentPlaces) string { return a.paths + " " + a.also }))
	})
)

// gitFolder may be read. What is written there is run by the next program that calls
// git, a hook among them.
var gitFolder = [][]string{{".git"}}

func placesOf(paths func(agentPlaces) string) (list []hookPlace) {
	for _, a := range agents {
		for _, p := range strings.Fields(paths(a)) {
			list = append(list, hookPlace{a.title, splitFolded(p)})
		}
	}
	return list
}

func partsOf(places []hookPlace) (list [][]string) {
	for _, p := range places {
		list = append(list, p.parts)
	}
	return list
}

// splitFolded returns the parts of a slashed path, folded.
func splitFolded(slashed string) []string {
	parts := strings.Split(slashed, "/")
	for i := range parts {
		parts[i] = Fold(parts[i])
	}
	return parts
}

// contains reports whether a slashed path has one of some places in it, at any depth
// and with anything after it.
func contains(slashed string, places [][]string) bool {
	parts := splitFolded(slashed)
	return slices.ContainsFunc(places, func(place []string) bool {
		for at := range parts {
			if begins(parts[at:], place) {
				return true
			}
		}
		return false
	})
}

func begins(parts, place []string) bool {
	if len(parts) < len(place) {
		return false
	}
	for i, pattern := range place {
		if pattern == parts[i] {
			continue
		}
		if !strings.ContainsAny(pattern, `*?[\`) {
			return false
		}
		if match, _ := path.Match(pattern, parts[i]); !match {
			return false
		}
	}
	return true
}

// Fold returns a name as the most forgiving file system reads it: in one case, without
// characters that do not show (HFS+), without blanks and dots at its end and without the
// name of a stream after a colon (Windows).
func Fold(name string) string {
	shown := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return unicode.ToLower(least)
	}, name)
	if trimmed := strings.TrimRight(shown, " ."); trimmed != "" {
		shown = trimmed
	}
	if at := strings.IndexByte(shown, ':'); at > 0 { // a stream of a file on Windows
		shown = shown[:at]
	}
	if shown == "git~1" { // the short name of .git on Windows
		return ".git"
	}
	return shown
}
