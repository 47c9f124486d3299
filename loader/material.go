package loader

import (
	"path"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Material is what a layer holds for the agent loop besides its hooks. One of a
// project may be used only if a person allowed it (protocol, section 7): a skill
// and a recipe speak to the model, a server runs.
type Material struct {
	Kind   records.Kind    `json:"kind"`
	Name   string          `json:"name"`
	Layer  protocol.Layer  `json:"source"`
	Path   string          `json:"path"`   // where it was written; of a server the settings file
	Hash   string          `json:"hash"`   // of the bundle; "" of one that cannot be used
	Status executor.Status `json:"status"` // ready untrusted changed broken disabled
	Why    string          `json:"why"`    // for any status but ready

	Unwatched []string `json:"unwatched,omitzero"` // code of the project that it runs and that nobody allowed, in words
	Given     bool     `json:"given,omitzero"`     // a server of user or machine that is told where the project lies

	// Use is the file to read: the private copy of a project's, the original of
	// other layers. It is "" for a server and for what may not be used.
	Use string `json:"-"`
	// Beside are the further files of a skill that is a folder, relative to the
	// folder of Use, with slashes between parts.
	Beside []string `json:"-"`
}

// materialOf returns it as the snapshot shows it.
func materialOf(f *trust.DecidedResource) Material {
	m := Material{Kind: f.Kind, Name: f.Title, Layer: f.Scope.Layer, Path: f.Path, Status: f.Status, Why: f.Why, Unwatched: f.Unwatched, Given: f.Given}
	if m.Status == "" {
		m.Status = executor.Ready
	}
	if f.Bundle != nil {
		m.Hash = f.Bundle.Hash
	}
	if f.Run != "" && f.Kind != records.KindServer {
		m.Use, m.Beside = f.Run, filesOf(f.Resource)
	}
	return m
}

// filesOf are the files of a material but the first.
func filesOf(f *candidate.Resource) []string {
	var names []string
	for _, m := range f.Bundle.Members {
		if name, below := strings.CutPrefix(m.Name, path.Dir(f.Base)+"/"); below && m.Name != f.Base {
			names = append(names, name)
		}
	}
	return names
}

// servers are those that may be started,
// by name the managed layer's before the project's before the user's: one that
// nobody allowed takes no name away.
func (p *assembly) servers() map[string]schema.MCPServer {
	allowed := map[string]schema.MCPServer{}
	order := append([]*candidate.Scope{p.user()}, p.projectScopes()...)
	for _, scope := range append(order, p.machine()) {
		for _, f := range p.resources {
			if f.Kind != records.KindServer || f.Scope != scope || f.Run == "" {
				continue
			}
			s := *f.Server
			s.Layer = f.Scope.Layer
			if len(f.Argv) > 0 {
				p.startServer(f, &s)
			}
			allowed[f.Title] = s
		}
	}
	return allowed
}

// startServer fills in how a server's program is started: what, where, and with
// which environment besides its own.
func (p *assembly) startServer(f *trust.DecidedResource, s *schema.MCPServer) {
	how := trust.StartOf(&f.Subject, &f.Verdict)
	s.Command, s.Args, s.Dir = how.Path, how.Argv[1:], p.env.DirOf(&f.Subject, false)
	c := p.env.EnvConfig(f.Scope, nil)
	c.Names = p.env.WithoutCode(f.Scope.Layer, f.Scope.Own.Agent.Tools.Env)
	s.Environ = how.Environ(append(hookenv.Allowed(c), f.OfPython()...))
}
