package loader

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// envConfig is what the environment of a layer's hooks is made from.
func (p *load) envConfig(layer protocol.Layer, named []string) executor.EnvConfig {
	c := executor.EnvConfig{
		Environ: os.Environ(), Project: p.project,
		Names: slices.Concat(p.settings.Hooks.Env[layer], named),
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
	for _, variable := range executor.AllowedEnv(p.envConfig(layer, nil)) {
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

// asker is the way to ask a hook that may run.
func (p *load) asker(f *found) executor.Asker {
	h := &f.resolution.Hook
	return executor.NewProcess(p.opts.Runtime, executor.ProcessConfig{
		Path: f.run, Args: append(p.argv(f)[1:], h.Args...), Dir: p.root, HookFile: p.hookFile(f),
		Env: executor.HookEnv(p.envConfig(f.layer, h.Env), executor.ActionExecute, p.hookFile(f)),
	})
}

// askEnv is the environment of a program that is asked what it is for.
func (p *load) askEnv(f *found) []string {
	return executor.HookEnv(p.envConfig(f.layer, f.resolution.Hook.Env), executor.ActionDescribe, p.hookFile(f))
}
