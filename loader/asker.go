package loader

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// envConfig is what the environment of a layer's hooks is made from.
func (p *load) envConfig(layer protocol.Layer, named []string) executor.EnvConfig {
	c := executor.EnvConfig{
		Environ: os.Environ(), Project: p.project, Machine: layer == protocol.Managed,
		Names:  p.withoutCode(layer, slices.Concat(p.settings.Hooks.Env[layer], named)),
		Usable: p.outsideCheckouts,
	}
	if layer == protocol.Managed {
		// A program of a folder that somebody else may write would answer in place
		// of the one that the machine's hook means.
		checks := p.checksFor(layer)
		c.Usable = func(folder string) bool {
			_, unsafe, err := checks.follow(folder)
			return err == nil && unsafe == ""
		}
	}
	for _, dir := range p.settings.Hooks.Path[layer] {
		dir = p.expand(dir)
		// What a project brings along is run from private copies only, so it
		// cannot put its own folders before everybody else's programs.
		if layer == protocol.Project && !p.always && p.inProject(dir) {
			continue
		}
		c.Path = append(c.Path, dir)
	}
	return c
}

func (p *load) inProject(dir string) bool {
	if p.project == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return within(p.project, dir) || err == nil && within(p.project, real)
}

// searchPath is the PATH that the hooks of a layer get.
func (p *load) searchPath(layer protocol.Layer) string {
	if path, ok := p.paths[layer]; ok {
		return path
	}
	path := ""
	for _, variable := range p.sharedEnv(layer, nil) {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	p.paths[layer] = path
	return path
}

// hookFile is the hook's own file: what messages name, and what is never run
// twice at once while an old run of it still ends.
func (p *load) hookFile(f *found) string {
	if f.path != "" {
		return f.path
	}
	return f.own
}

// env is the environment of a layer's hook. All that many hooks share is made
// once.
func (p *load) env(f *found, action string) []string {
	env := append(slices.Clip(p.sharedEnv(f.layer, f.resolution.Hook.Env)), f.ofPython()...)
	return append(env,
		executor.EnvAction+"="+action, executor.EnvProjectDir+"="+p.project, executor.EnvFile+"="+p.hookFile(f))
}

// sharedEnv is made once for all hooks of a layer that name the same variables:
// it follows the links of every folder on PATH.
func (p *load) sharedEnv(layer protocol.Layer, named []string) []string {
	key := string(layer) + "\x00" + strings.Join(named, "\x00")
	shared, ok := p.envs[key]
	if !ok {
		shared = executor.AllowedEnv(p.envConfig(layer, named))
		p.envs[key] = shared
	}
	return shared
}

// asker is the way to ask a hook that may run.
func (p *load) asker(f *found) executor.Asker {
	h := &f.resolution.Hook
	s := p.startOf(f)
	args := p.fromSettings(f.layer, h.Args)
	if f.folder != "" {
		args = f.copied(args, f.folder)
	}
	c := executor.ProcessConfig{
		Path: s.path, Args: append(s.argv[1:], args...), Dir: p.dirOf(f), HookFile: p.hookFile(f),
		Env: s.environ(p.env(f, executor.ActionExecute)), Script: s.script,
		Key: p.root + "\x00" + string(h.Layer) + "\x00" + h.Name,
	}
	if h.Run != schema.Standby && h.Run != schema.Resident {
		return executor.NewProcess(p.opts.Runtime, c)
	}
	hooks := &p.settings.Hooks
	standing := executor.StandingConfig{
		Process: c, Layer: h.Layer, Name: h.Name, Mode: h.Run, Pool: hooks.Standby.Pool,
		Idle: hooks.Standby.Idle, Grace: hooks.Grace, Stderr: hooks.Limits.Stderr,
		Files: p.madeOf(f, &c),
	}
	if f.bundle != nil {
		standing.Hash = f.bundle.hash
	}
	return p.opts.Pool.Asker(standing)
}
