package tool

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/protect"
)

// allowed are the variables a tool's process gets without being named: the list
// of docs/environment.md. LC_ and SSL_CERT_ are prefixes.
var allowed = []string{
	"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy",
	// Windows programs do not start without these.
	"SYSTEMROOT", "SystemRoot", "COMSPEC", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE",
}

// Env picks from an environment what a tool's process may see: the allow list
// and the extra names. PATH loses its relative entries and those inside the
// project, so that a project cannot plant a program.
func Env(environ []string, project string, extra ...string) []string {
	var env []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == "PATH":
			env = append(env, "PATH="+outsidePath(value, project))
		case slices.Contains(allowed, name), slices.Contains(extra, name),
			strings.HasPrefix(name, "LC_"), strings.HasPrefix(name, "SSL_CERT_"):
			env = append(env, variable)
		}
	}
	return env
}

func outsidePath(path, project string) string {
	var kept []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && !protect.IsInside(dir, project) {
			kept = append(kept, dir)
		}
	}
	return strings.Join(kept, string(filepath.ListSeparator))
}
