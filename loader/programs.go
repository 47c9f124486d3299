package loader

import (
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/rule"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	rulereply "github.com/hookd-dev/hookd/protocol/rule"
	"github.com/hookd-dev/hookd/schema"
)

// asker is the way to ask a hook that may run.
func (p *assembly) asker(f *hook) executor.Asker {
	h := &f.Resolution.Hook
	if h.Reply != nil {
		answer, problems := rulereply.Compile(h.Reply, h.Events)
		if len(problems) > 0 { // it was rejected where it was read; it must not pass for one that is not there
			return rule.Broken(problems[0].Message)
		}
		return rule.New(answer)
	}
	s := trust.StartOf(&f.Subject, &f.Verdict)
	args := f.Scope.FromSettings(h.Args)
	if f.Folder != "" {
		args = f.Copied(args, f.Folder)
	}
	c := exechook.Config{
		Path: s.Path, Args: append(s.Argv[1:], args...), Dir: p.env.DirOf(&f.Subject, f.Resolution.Hook.InProject), HookFile: f.HookFile(),
		Env: s.Environ(p.env.Variables(f.Hook, hookenv.Execute)), Script: s.Script,
		Key: f.Scope.Root + "\x00" + string(h.Layer) + "\x00" + h.Name,
	}
	if foreign := h.Foreign(); foreign != nil {
		c.Selector, _ = foreign.Select(h.Named, h.Matcher) // one that cannot be compared selects all
	}
	if h.Run != schema.Standby && h.Run != schema.Resident {
		return exechook.New(p.opts.Runtime, c)
	}
	hooks := &f.Scope.Own.Hooks
	config := exechook.WorkerConfig{
		Program: c, Layer: h.Layer, Name: h.Name, Mode: h.Run, Pool: hooks.Standby.Pool,
		Idle: hooks.Standby.Idle, Grace: hooks.Grace, Stderr: hooks.Limits.Stderr,
		Files: p.processFiles(f, &c),
	}
	if f.Bundle != nil {
		config.Hash = f.Bundle.Hash
	}
	return p.opts.Pool.Asker(config)
}

// processFiles lists what a process of the hook is made of when it starts, besides its
// program: what starts that, the files it brings along where they are used, and
// those that its command line names. The last are nobody's to hash where a person
// owns the settings, and a program that runs once reads them anew each time.
func (p *assembly) processFiles(f *hook, c *exechook.Config) []string {
	var list []string
	add := func(path string) {
		if path != c.Path && !slices.Contains(list, path) && files.IsRegular(path) {
			list = append(list, path)
		}
	}
	add(c.Script)
	if program, bad := interpreter.ReadProgram(interpreter.FirstBytes(c.Path)); bad == nil {
		if starter, bad := program.Interpreter(p.env.SearchPath(f.Scope)); bad == nil {
			add(starter)
		}
	}
	if f.Bundle != nil {
		for _, m := range f.Bundle.Members {
			if f.Folder == "" {
				add(m.Path)
			} else {
				add(filepath.Join(f.Folder, filepath.FromSlash(m.Name)))
			}
		}
	}
	for _, arg := range c.Args {
		if _, path := interpreter.OptionPath(arg); filepath.IsAbs(path) {
			add(path)
		} else if path != "" {
			add(filepath.Join(c.Dir, path))
		}
	}
	return list
}

// servers returns the MCP servers that may be started. Of equal names the managed
// layer's counts before the project's, and that before the user's; a server that nobody
// allowed hides none.
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
