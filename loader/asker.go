package loader

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// envConfig is what the environment of a scope's hooks is made from.
func (p *load) envConfig(s *scope, named []string) hookenv.Config {
	c := hookenv.Config{
		Environ: os.Environ(), Project: p.projectDir(s), Machine: s.layer == protocol.Managed,
		Names:  p.withoutCode(s.layer, slices.Concat(s.own.Hooks.Env[s.layer], named)),
		Usable: p.outsideCheckouts,
	}
	if s.layer == protocol.Managed {
		// A program of a folder that somebody else may write would answer in place
		// of the one that the machine's hook means.
		checks := p.checksFor(s.layer)
		c.Usable = func(folder string) bool {
			_, unsafe, err := checks.Follow(folder)
			return err == nil && unsafe == ""
		}
	}
	for _, dir := range s.own.Hooks.Path[s.layer] {
		dir = p.expand(dir, s)
		// What a project brings along is run from private copies only, so it
		// cannot put its own folders before everybody else's programs.
		if s.needsTrust() && inFolder(s.project, dir) {
			continue
		}
		c.Path = append(c.Path, dir)
	}
	return c
}

// projectDir is the project that the hooks of a scope are told: their own, and
// for those of user and machine the one that the agent works in.
func (p *load) projectDir(s *scope) string {
	if s.project != "" {
		return s.root
	}
	if p.Project == "" {
		return ""
	}
	return p.Root
}

// inFolder reports whether a path leads into a folder, as written or through
// links.
func inFolder(folder, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return files.Within(folder, path) || err == nil && files.Within(folder, real)
}

// searchPath is the PATH that the hooks of a scope get.
func (p *load) searchPath(s *scope) string {
	if path, ok := p.paths[s]; ok {
		return path
	}
	path := ""
	for _, variable := range p.sharedEnv(s, nil) {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	p.paths[s] = path
	return path
}

// hookFile is the hook's own file: what messages name, and what is never run
// twice at once while an old run of it still ends.
func (p *load) hookFile(f *found) string {
	if f.path != "" {
		return f.path
	}
	return f.Own
}

// env is the environment of a layer's hook. All that many hooks share is made
// once.
func (p *load) env(f *found, action string) []string {
	env := append(slices.Clip(p.sharedEnv(f.scope, f.resolution.Hook.Env)), f.ofPython()...)
	if program := p.program(env); program != "" {
		env = append(env, hookenv.VarProgram+"="+program)
	}
	return append(env,
		hookenv.VarAction+"="+action, hookenv.VarProjectDir+"="+p.projectDir(f.scope), hookenv.VarFile+"="+p.hookFile(f))
}

// program is the hookd whose commands get and reply a hook uses: the running one, or
// where this package is part of another program, the one on the hook's own PATH, on
// which no folder of a project is.
func (p *load) program(env []string) string {
	if p.opts.Program != "" {
		return p.opts.Program
	}
	for _, one := range env {
		if path, is := strings.CutPrefix(one, "PATH="); is {
			return interpreter.LookPath("hookd", path)
		}
	}
	return ""
}

// envKey names an environment within a load.
type envKey struct {
	scope *scope
	named string
}

// sharedEnv is made once for all hooks of a scope that name the same variables:
// it follows the links of every folder on PATH.
func (p *load) sharedEnv(s *scope, named []string) []string {
	key := envKey{s, strings.Join(named, "\x00")}
	shared, ok := p.envs[key]
	if !ok {
		shared = hookenv.Allowed(p.envConfig(s, named))
		p.envs[key] = shared
	}
	return shared
}

// asker is the way to ask a hook that may run.
func (p *load) asker(f *found) executor.Asker {
	h := &f.resolution.Hook
	s := p.startOf(f)
	args := f.scope.fromSettings(h.Args)
	if f.folder != "" {
		args = f.Copied(args, f.folder)
	}
	c := exechook.Config{
		Path: s.path, Args: append(s.argv[1:], args...), Dir: p.dirOf(f), HookFile: p.hookFile(f),
		Env: s.environ(p.env(f, hookenv.Execute)), Script: s.script,
		Key: f.scope.root + "\x00" + string(h.Layer) + "\x00" + h.Name,
	}
	if h.Run != schema.Standby && h.Run != schema.Resident {
		return exechook.New(p.opts.Runtime, c)
	}
	hooks := &f.scope.own.Hooks
	config := exechook.WorkerConfig{
		Program: c, Layer: h.Layer, Name: h.Name, Mode: h.Run, Pool: hooks.Standby.Pool,
		Idle: hooks.Standby.Idle, Grace: hooks.Grace, Stderr: hooks.Limits.Stderr,
		Files: p.madeOf(f, &c),
	}
	if f.Bundle != nil {
		config.Hash = f.Bundle.Hash
	}
	return p.opts.Pool.Asker(config)
}
