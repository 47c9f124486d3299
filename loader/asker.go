package loader

import (
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/schema"
)

// asker is the way to ask a hook that may run.
func (p *assembly) asker(f *hook) executor.Asker {
	h := &f.Resolution.Hook
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
	if h.Run != schema.Standby && h.Run != schema.Resident {
		return exechook.New(p.opts.Runtime, c)
	}
	hooks := &f.Scope.Own.Hooks
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
