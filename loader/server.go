package loader

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
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
		return g.root, true
	}
}

// namesProject reports whether a server's settings name the project.
func namesProject(s schema.MCPServer) bool {
	texts := slices.Concat(s.Args, []string{s.URL}, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "${"+projectVariable) })
}

// serverSets refuses variables by which a server of a project would load code that
// is no part of what is allowed.
func (in *place) serverSets(s *schema.MCPServer) *report.Problem {
	if !in.pinned {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if hookenv.LoadsCode(name) && in.setsCode(name+"="+s.Env[name]) {
			return &report.Problem{Why: fmt.Sprintf("env.%s may make it load code of the project, which nobody would see change", name), Remedy: "leave it out, or name a folder outside of the project"}
		}
	}
	return nil
}

// addSets puts in the files of the project that a server's variables name.
func (f *found) addSets(b *bundle, hashes *files.HashCache, in *place) error {
	if !in.pinned {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.server.Env)) {
		if err := f.addWords(b, hashes, in, []string{f.server.Env[name]}, kindRunner, ""); err != nil {
			return err
		}
	}
	return nil
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
