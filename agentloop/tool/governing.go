package tool

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// governing are the paths, in whatever folder, that hold hooks or hook settings,
// ours and other agents'. A model that could edit them could lift its own rules.
// Parts may be patterns of [path.Match].
var governing = split(
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

// gitFolder is git's: read freely, but what is written there is run by the next
// program that calls git, a hook among them.
var gitFolder = split(".git")

func split(paths ...string) (list [][]string) {
	for _, p := range paths {
		list = append(list, strings.Split(p, "/"))
	}
	return list
}

// named reports whether one of some paths is anywhere in a slashed path: itself,
// below any folder, or with more after it.
func named(slashed string, places [][]string) bool {
	parts := strings.Split(slashed, "/")
	for i := range parts {
		parts[i] = folded(parts[i])
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

// folded is a name as the most forgiving file system reads it: without regard to
// case, without characters that show as nothing (HFS+), without the blanks and dots
// at its end (Windows).
func folded(name string) string {
	shown := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		least := r
		for same := unicode.SimpleFold(r); same != r; same = unicode.SimpleFold(same) {
			least = min(least, same)
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
