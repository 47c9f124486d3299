package loader

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// projectVariable stands for the project's root in the settings of a server: one
// of user or machine does not start there, and is told of it only where a person
// allowed the project.
const projectVariable = "project"

// variable looks up what the settings of a layer's server refer to.
func (g *gathering) variable() func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name != projectVariable {
			return os.LookupEnv(name)
		}
		if g.layer != protocol.Project && !g.projectAllowed() {
			return "", false
		}
		if g.layer == protocol.Project {
			return g.scope.root, true
		}
		return g.Root, true
	}
}

// namesProject reports whether a server's settings name the project.
func namesProject(s schema.MCPServer) bool {
	texts := slices.Concat(s.Args, []string{s.URL}, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "${"+projectVariable) })
}

// startServer fills in how a server's program is started: what, where, and with
// which environment besides its own.
func (p *load) startServer(f *found, s *schema.MCPServer) {
	how := p.startOf(f)
	s.Command, s.Args, s.Dir = how.path, how.argv[1:], p.dirOf(f)
	c := p.envConfig(f.scope, nil)
	c.Names = p.withoutCode(f.layer, f.scope.own.Agent.Tools.Env)
	s.Environ = how.environ(append(hookenv.Allowed(c), f.ofPython()...))
}
