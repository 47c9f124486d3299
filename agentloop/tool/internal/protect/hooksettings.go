package protect

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// hookSettings are the paths, in any folder, that hold hooks or their settings, ours
// and those of other agents. A model that edits them lifts its own rules. Parts may
// be patterns of [path.Match].
var hookSettings = split(
	".acai",
	".claude/settings*.json", ".claude/hooks", ".claude/plugins",
	".gemini", ".codex", ".copilot", ".openhands", ".opencode", ".kodelet", ".crush",
	".cursor/hooks.json", ".cursor/hooks", ".cursor/mcp.json",
	".github/hooks", ".github/copilot", ".vscode/mcp.json",
	".kiro/hooks", ".kiro/agents", ".kiro/settings", ".amazonq",
	".windsurf/hooks.json", ".codeium", ".clinerules/hooks", ".cline",
	".qwen/settings*.json", ".qwen/hooks", ".factory/settings*.json", ".factory/hooks.json", ".factory/hooks",
	".continue/settings*.json", ".augment/settings*.json",
	"opencode.json", "opencode.jsonc", "kodelet-config.yaml", "crush.json", ".crush.json", ".mcp.json",
)

// gitFolder may be read. What is written there is run by the next program that calls
// git, a hook among them.
var gitFolder = split(".git")

func split(paths ...string) (list [][]string) {
	for _, p := range paths {
		list = append(list, strings.Split(p, "/"))
	}
	return list
}

// contains reports whether a slashed path has one of some places in it, at any depth
// and with anything after it.
func contains(slashed string, places [][]string) bool {
	parts := strings.Split(slashed, "/")
	for i := range parts {
		parts[i] = Fold(parts[i])
	}
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
		if match, _ := path.Match(pattern, parts[i]); !match {
			return false
		}
	}
	return true
}

// Fold returns a name as the most forgiving file system reads it: in one case, without
// characters that do not show (HFS+), without blanks and dots at its end (Windows).
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
	if shown == "git~1" { // the short name of .git on Windows
		return ".git"
	}
	return shown
}
