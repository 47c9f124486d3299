package discover

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// projectVariable stands for the project's root in the settings of a server: one
// of user or machine does not start there, and gets its path only where a person
// allowed the project.
const projectVariable = "project"

// variable looks up what the settings of a layer's server refer to.
func (g *layerScan) variable() func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name != projectVariable {
			return os.LookupEnv(name)
		}
		if g.scope.Layer != protocol.Project && !g.Env.ProjectAllowed() {
			return "", false
		}
		if g.scope.Layer == protocol.Project {
			return g.scope.Root, true
		}
		return g.Env.Workspace.Root, true
	}
}

// namesProject reports whether a server's settings name the project.
func namesProject(s schema.MCPServer) bool {
	texts := slices.Concat(s.Args, []string{s.URL}, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "${"+projectVariable) })
}
