package loader

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/schema"
)

// asker is the way to ask a hook that may run.
func (p *assembly) asker(f *hook) executor.Asker {
	h := &f.resolution.Hook
	s := startOf(&f.subject, &f.verdict)
	args := f.scope.fromSettings(h.Args)
	if f.folder != "" {
		args = f.Copied(args, f.folder)
	}
	c := exechook.Config{
		Path: s.path, Args: append(s.argv[1:], args...), Dir: p.env.dirOf(&f.subject, f.resolution.Hook.InProject), HookFile: f.hookFile(),
		Env: s.environ(p.env.env(f.hookCandidate, hookenv.Execute)), Script: s.script,
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

// start is how a hook's program is started.
type start struct {
	path   string
	argv   []string // argv[0] included
	script string   // the file that path reads, "" if path is the hook's program itself
	sets   []string // variables that its interpreter line sets
}

// startOf puts together what is executed: for a hook of the project what was
// pinned, with the words of the interpreter line, then the private copy. Elsewhere
// the kernel does it.
func startOf(f *subject, v *verdict) start {
	argv := []string{v.run}
	if f.IsCommand() {
		argv = slices.Clone(f.Argv)
	}
	if v.pins.Program != nil {
		argv[0] = v.pins.Program.Path
	}
	s := start{path: argv[0], argv: argv}
	if v.pins.Interpreter == nil {
		return s
	}
	program, _ := f.Script()
	l, _ := program.Line()
	if l.Vague {
		return s // in place, where env itself may read it
	}
	s.script, s.path, s.sets = argv[0], v.pins.Interpreter.Path, l.Sets
	s.argv = slices.Concat([]string{s.path}, l.Args, argv)
	return s
}

// environ adds what an interpreter line sets.
func (s *start) environ(env []string) []string {
	for _, set := range s.sets {
		name, _, _ := strings.Cut(set, "=")
		env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		env = append(env, set)
	}
	return env
}
