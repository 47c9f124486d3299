package discover

import (
	"slices"
	"strings"
)

// What a hooks folder may hold that is no hook: editors' leftovers, notes,
// settings and side files.
var (
	skippedPrefixes = []string{".", "_", "#"}
	skippedSuffixes = []string{
		"~", ".bak", ".orig", ".rej", // older versions
		".swp", ".swx", ".tmp", ".part", // being edited or downloaded
		".disable",                               // switched off by its name
		".md", ".txt", ".json", ".yaml", ".toml", // notes, side files, settings, tests
		".test.yml", ".test.jsonc", // tests with an ending that is not read: hookd test says so
	}
)

// leftover reports whether a name is that of an older version, or of what an editor
// works on.
func leftover(name string) bool {
	return strings.ContainsAny(name[:1], "._#") || !isDocument(name)
}

func isDocument(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(documents, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// documents are the endings of files that somebody may mean for hookd.
var documents = []string{".json", ".jsonc", ".yaml", ".yml", ".toml"}

// skipped reports whether a name in a hooks folder is never taken for a hook.
func skipped(name string) bool {
	for _, prefix := range skippedPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if strings.Contains(strings.ToLower(name), rulesMark) && isDocument(name) {
		return true // rules, or said not to be read where those are
	}
	for _, suffix := range skippedSuffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return strings.Trim(name, "0123456789") == "" // vim tests a folder with a file named 4913
}
