//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// described is a hook that says itself what it is for.
const described = `#!/bin/sh
test "$HOOK_ACTION" = describe && echo '{"events":["tool-call-start"],"can":"block"}'
:
`

// writeDescribed writes n hooks into a folder that are to be asked.
func writeDescribed(folder string, n int) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for i := range n {
		// Each of them differs, since answers are kept by content.
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d-hook.sh", i)), fmt.Appendf(nil, "%s# %d\n", described, i), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// describe is a first load of the user's hooks, which need no permission, compared with running the
// same programs one after the other.
func describe(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		p, err := newProject(ctx, k.folder, nil, nil)
		if err != nil {
			return nil, err
		}
		hooks := filepath.Join(p.home, ".acai", "hooks")
		if err := writeDescribed(hooks, n); err != nil {
			return nil, err
		}
		load := func(ctx context.Context) error {
			options := p.options(k.runtime)
			if options.StateDir, err = os.MkdirTemp(p.folder, "state-"); err != nil { // one that knows no answer
				return err
			}
			return loadReady(ctx, options, n)
		}
		env := hookenv.Allowed(hookenv.Config{Environ: p.environ(), Project: p.root})
		ask := func(ctx context.Context) error {
			for i := range n {
				path := filepath.Join(hooks, fmt.Sprintf("%d-hook.sh", i))
				r := k.runtime.Run(ctx, &process.Command{
					Path: path, Argv: []string{path, "hook"}, Dir: p.root,
					Env: append(slices.Clip(env), hookenv.VarAction+"="+hookenv.Describe, hookenv.VarProjectDir+"="+p.root, hookenv.VarFile+"="+path),
				})
				if r.Err != nil || r.ExitCode != 0 || len(r.Stdout) == 0 {
					return fmt.Errorf("%s: %v, exit code %d, stdout %q", path, r.Err, r.ExitCode, r.Stdout)
				}
			}
			return nil
		}
		return &race{turns: 1, players: []player{{name: "in a row", burst: each(ask)}, {name: ours, burst: each(load)}}}, nil
	}
}

// loadReady loads once, as a program that has just been started.
func loadReady(ctx context.Context, options loader.Options, n int) error {
	s, err := loader.Load(ctx, options)
	if err != nil {
		return err
	}
	if len(s.Hooks) != n {
		return fmt.Errorf("%d hooks were loaded, not %d: %v", len(s.Hooks), n, s.Findings)
	}
	for _, h := range s.Hooks {
		if h.Status != executor.Ready {
			return fmt.Errorf("hook %s is not ready: %s", h.Name, h.Why)
		}
	}
	return nil
}

// allowedHooks makes a project of n allowed hooks that have been asked.
func (k *kit) allowedHooks(ctx context.Context, n int) (*project, error) {
	p, err := newProject(ctx, k.folder, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := writeDescribed(p.hooks(), n); err != nil {
		return nil, err
	}
	if err := p.allow(ctx); err != nil {
		return nil, err
	}
	return p, loadReady(ctx, p.options(k.runtime), n)
}

// warm is a load of n hooks whose answers are known compared with that of one.
func warm(n int) func(context.Context, *kit) (*race, error) {
	return oneAndMany(n, func(ctx context.Context, k *kit, p *project, n int) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return loadReady(ctx, p.options(k.runtime), n) }, nil
	})
}

// reload is a reload of n hooks of which nothing changed compared with that of one.
func reload(n int) func(context.Context, *kit) (*race, error) {
	return oneAndMany(n, func(ctx context.Context, k *kit, p *project, n int) (func(context.Context) error, error) {
		e, err := p.open(ctx, k.runtime, k.pool)
		if err != nil {
			return nil, err
		}
		k.atEnd(e.close)
		return func(ctx context.Context) error {
			_, err := e.watcher.Reload(ctx)
			return err
		}, nil
	})
}

// settled is how old a change must be before the loader believes that equal stats
// mean equal content.
const settled = 200 * time.Millisecond

// oneAndMany races the same work on projects of one and of n allowed hooks.
func oneAndMany(n int, work func(context.Context, *kit, *project, int) (func(context.Context) error, error)) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		c := &race{turns: 2}
		for _, one := range []struct {
			name string
			n    int
		}{{"1 hook", 1}, {ours, n}} {
			p, err := k.allowedHooks(ctx, one.n)
			if err != nil {
				return nil, err
			}
			f, err := work(ctx, k, p, one.n)
			if err != nil {
				return nil, err
			}
			c.players = append(c.players, player{name: one.name, burst: each(f)})
		}
		time.Sleep(settled)
		return c, nil
	}
}

// change is from the change of a file until the new set rules. The file is one of those
// that hooks brought along, so many each.
func change(hooks, files int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		many, err := watchChanges(ctx, k, hooks, files, 0)
		if err != nil {
			return nil, err
		}
		return changeRace(ctx, k, many)
	}
}

// changeAmongUnallowed is change with many hooks in the same folder that nobody allowed.
func changeAmongUnallowed(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		many, err := watchChanges(ctx, k, 1, 10, n)
		if err != nil {
			return nil, err
		}
		return changeRace(ctx, k, many)
	}
}

// changeRace compares changes among many files with changes among ten.
func changeRace(ctx context.Context, k *kit, many burst) (*race, error) {
	few, err := watchChanges(ctx, k, 1, 10, 0)
	return &race{turns: 1, time: 3 * usualTime, players: []player{
		{name: "10 files", most: 3, burst: few}, {name: ours, most: 3, burst: many},
	}}, err
}

// watchChanges watches a project whose hooks brought along so many files each, besides
// so many hooks that nobody allowed.
func watchChanges(ctx context.Context, k *kit, hooks, files, unallowed int) (burst, error) {
	program, err := k.hook(ctx, "sh", silent)
	if err != nil {
		return nil, err
	}
	list := guards(program, hooks, "")
	for i := range list {
		list[i].Files = []string{fmt.Sprintf("lib%d/*", i)}
	}
	p, err := newProject(ctx, k.folder, list, nil)
	if err != nil {
		return nil, err
	}
	for i := range hooks {
		folder := filepath.Join(p.hooks(), fmt.Sprintf("lib%d", i))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		for n := range files - 1 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.txt", n)), fmt.Appendf(nil, "%d of %d\n", n, i), 0o600); err != nil {
				return nil, err
			}
		}
	}
	if err := p.allow(ctx); err != nil {
		return nil, err
	}
	for n := range unallowed {
		text := "#!/bin/sh\n# hook: events=tool-call-end can=observe\n"
		if err := os.WriteFile(filepath.Join(p.hooks(), fmt.Sprintf("unallowed%d.sh", n)), []byte(text), 0o700); err != nil {
			return nil, err
		}
	}
	sets := make(chan *loader.Snapshot, 64)
	options := p.options(k.runtime)
	options.OnChange = func(s *loader.Snapshot) { sets <- s }
	watcher, err := loader.Watch(context.WithoutCancel(ctx), options)
	if err != nil {
		return nil, err
	}
	k.atEnd(func() error { watcher.Close(); return nil })
	odd := false
	return func(ctx context.Context, n int) (all []time.Duration, err error) {
		for range n {
			time.Sleep(2 * settled) // whatever the last change left to do
			for len(sets) > 0 {
				<-sets
			}
			odd = !odd
			took, err := changeOnce(ctx, p, odd, sets)
			if err != nil {
				return nil, err
			}
			all = append(all, took)
		}
		return all, nil
	}, nil
}

// changeOnce makes the file another one than the one that was allowed, or that again.
func changeOnce(ctx context.Context, p *project, odd bool, sets <-chan *loader.Snapshot) (time.Duration, error) {
	text, want := "0 of 0\n", executor.Ready
	if odd {
		text, want = "another text\n", executor.Changed
	}
	fresh := filepath.Join(p.hooks(), "_new.tmp")
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := os.Rename(fresh, filepath.Join(p.hooks(), "lib0", "0.txt")); err != nil {
		return 0, err
	}
	limit := time.After(20 * time.Second)
	for {
		select {
		case s := <-sets:
			first := slices.IndexFunc(s.Hooks, func(h loader.Info) bool { return h.Status != executor.Untrusted })
			if first >= 0 && s.Hooks[first].Status == want {
				return time.Since(began), nil
			}
		case <-limit:
			return 0, fmt.Errorf("the hook is not %s 20 s after its file changed", want)
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// fire is hookd fire as a whole process, in a project without hooks, compared with an empty
// program in Go.
func fire(ctx context.Context, k *kit) (*race, error) {
	p, err := newProject(ctx, k.folder, nil, nil)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(p.folder, "data.json")
	if err := os.WriteFile(data, p.event(usualSize).Data, 0o600); err != nil {
		return nil, err
	}
	spawner, err := k.startSpawner(ctx, p.root, p.environ()) // so that they get the project's folder and environment
	if err != nil {
		return nil, err
	}
	k.atEnd(spawner.close)
	args := []string{"fire", string(protocol.ToolCallStart), "--json", "--data", "@" + data}
	c := &race{}
	for _, one := range []struct {
		name  string
		build func() (string, error)
		args  []string
	}{
		{"empty Go", func() (string, error) { return k.empty(ctx) }, nil},
		{"lean", func() (string, error) { return k.hookd(ctx, leanTag) }, args},
		{"whole", func() (string, error) { return k.hookd(ctx, "") }, args},
	} {
		program, err := one.build()
		if err != nil {
			return nil, err
		}
		player, err := spawnsWith(spawner, k.folder, one.name, work{program: program, args: one.args})
		if err != nil {
			return nil, err
		}
		c.players = append(c.players, player)
	}
	return c, nil
}

// leanTag builds hookd without the agent loop, for hosts that start it for each event.
const leanTag = "lean"
