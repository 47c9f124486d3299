package mcpcmd

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// launchers are programs that run another one, which is among their arguments.
var launchers = []string{"npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "node", "deno", "python", "python3", "py", "docker", "podman", "env", "sh", "bash", "cmd", "go", "java", "dotnet", "ruby", "php", "perl"}

// words of launchers that are neither flags nor the program.
var launchWords = []string{"run", "exec", "x", "dlx", "tool", "tsx", "cmd"}

// nameOf returns what a server is called whose command line says no name: the program, or
// the package that a launcher runs.
func nameOf(argv []string) string {
	name := program(argv[0])
	if !slices.Contains(launchers, name) {
		return name
	}
	for _, word := range argv[1:] {
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "/c") || slices.Contains(launchWords, word) || strings.Contains(word, "=") {
			continue
		}
		if found := program(word); found != "" && !slices.Contains(launchers, found) {
			return found
		}
	}
	return name
}

// program returns the name of a file or a package, without its folder, scope, version and
// ending.
func program(word string) string {
	word = path.Base(filepath.ToSlash(strings.ReplaceAll(word, `\`, "/")))
	if at := strings.LastIndexAny(word, "@:"); at > 0 {
		word = word[:at]
	}
	for _, ending := range []string{".exe", ".cmd", ".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".jar", ".dll", ".rb", ".php", ".pl"} {
		word = strings.TrimSuffix(word, ending)
	}
	return word
}
