//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
)

// loadEntries are about the time until hooks can be asked.
func (b *bench) loadEntries() []entry {
	var list []entry
	for _, n := range []int{100, 1000} {
		list = append(list, entry{
			name: fmt.Sprintf("describe/%d", n), about: fmt.Sprintf("asking %d hooks in sh what they are for, against one after the other", n),
			prepare: func(ctx context.Context) (*contest, error) { return b.describe(ctx, n) },
		})
	}
	return append(list,
		entry{name: "reload", about: "a reload of the daemon, nothing changed", prepare: b.reload},
		entry{name: "change", about: "from the change of a file until the new set rules", prepare: b.change},
		entry{name: "warm", about: "start of an engine whose hooks are allowed and described", prepare: b.warm},
	)
}

// described is a hook that says itself what it is for.
const described = `#!/bin/sh
test "$HOOK_ACTION" = describe && echo '{"events":["tool-call-start"],"can":"block"}'
:
`

// askedHooks writes n hooks into a folder that are to be asked.
func askedHooks(folder string, n int) error {
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

// describe races a first load of the user's hooks, which need no leave, with
// running the same programs one after the other.
func (b *bench) describe(ctx context.Context, n int) (*contest, error) {
	p, err := newProject(ctx, b.folder, nil, nil)
	if err != nil {
		return nil, err
	}
	hooks := filepath.Join(p.home, ".acai", "hooks")
	if err := askedHooks(hooks, n); err != nil {
		return nil, err
	}
	settings := fmt.Sprintf(`{"hooks":{"maxHooks":%d}}`, n)
	if err := os.WriteFile(filepath.Join(p.home, ".acai", "acai.json"), []byte(settings), 0o600); err != nil {
		return nil, err
	}
	load := func(ctx context.Context) error {
		options := p.options(b.contained)
		if options.StateDir, err = os.MkdirTemp(p.folder, "state-"); err != nil { // one that knows no answer
			return err
		}
		return loadReady(ctx, options, n)
	}
	// The environment is made once, as a load makes it.
	env := hookenv.Allowed(hookenv.Config{Environ: p.environ(), Project: p.root})
	ask := func(ctx context.Context, i int) error {
		path := filepath.Join(hooks, fmt.Sprintf("%d-hook.sh", i))
		r := b.contained.Run(ctx, &process.Command{
			Path: path, Argv: []string{path, "hook"}, Dir: p.root,
			Env: append(slices.Clip(env), hookenv.VarAction+"="+hookenv.Describe, hookenv.VarProjectDir+"="+p.root, hookenv.VarFile+"="+path),
		})
		if r.Err != nil || r.ExitCode != 0 || len(r.Stdout) == 0 {
			return fmt.Errorf("%s: %v, exit code %d, stdout %q", path, r.Err, r.ExitCode, r.Stdout)
		}
		return nil
	}
	row := func(ctx context.Context) error { return askAll(ctx, n, 1, ask) }
	atOnce := func(ctx context.Context) error { return askAll(ctx, n, runtime.GOMAXPROCS(0), ask) }
	return &contest{turns: 1, players: []player{
		{name: "in a row", burst: each(row)},
		{name: "one per processor", burst: each(atOnce)}, // what this machine gains at all by several at once
		{name: "load", burst: each(load)},
	}}, nil
}

// askAll asks n hooks, so many at once.
func askAll(ctx context.Context, n, atOnce int, ask func(ctx context.Context, i int) error) error {
	var group errgroup.Group
	for worker := range atOnce {
		group.Go(func() error {
			for i := worker; i < n; i += atOnce {
				if err := ask(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
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
func (b *bench) allowedHooks(ctx context.Context, n int) (*project, error) {
	p, err := newProject(ctx, b.folder, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := askedHooks(p.hooks(), n); err != nil {
		return nil, err
	}
	if err := p.allow(ctx); err != nil {
		return nil, err
	}
	return p, loadReady(ctx, p.options(b.contained), n)
}

func (b *bench) reload(ctx context.Context) (*contest, error) {
	c := &contest{turns: 1}
	var engines engines
	c.close = engines.close
	for _, n := range []int{100, 1000} {
		p, err := b.allowedHooks(ctx, n)
		if err != nil {
			return nil, err
		}
		e, err := engines.open(ctx, p, b)
		if err != nil {
			return nil, err
		}
		c.players = append(c.players, player{name: fmt.Sprintf("%d hooks", n), burst: each(func(ctx context.Context) error {
			_, err := e.watcher.Reload(ctx)
			return err
		})})
	}
	return c, nil
}

// settled is how old a change must be before the loader believes that equal stats
// mean equal content.
const settled = 200 * time.Millisecond

// warm races loads of allowed hooks whose answers are kept on disk, which is what
// every engine but the first one finds.
func (b *bench) warm(ctx context.Context) (*contest, error) {
	c := &contest{}
	for _, n := range []int{1, 100} {
		p, err := b.allowedHooks(ctx, n)
		if err != nil {
			return nil, err
		}
		c.players = append(c.players, player{name: plural(n, "hook"), burst: each(func(ctx context.Context) error {
			return loadReady(ctx, p.options(b.contained), n)
		})})
	}
	time.Sleep(settled)
	return c, nil
}

const (
	helpersEach = 999 // files beside a hook that are part of what was allowed
	changeQuiet = 400 * time.Millisecond
)

// change changes one file of those that the hooks brought along, back and forth,
// and waits until the set says so.
func (b *bench) change(ctx context.Context) (*contest, error) {
	c := &contest{turns: 1, time: 3 * defaultTime}
	var closers []func()
	c.close = func() error {
		for _, f := range closers {
			f()
		}
		return nil
	}
	for _, hooks := range []int{1, 5} {
		files := hooks * (1 + helpersEach)
		if hooks == 1 {
			files = 10
		}
		watched, err := b.watchChanges(ctx, hooks, files)
		if err != nil {
			return nil, err
		}
		closers = append(closers, watched.watcher.Close)
		c.players = append(c.players, player{name: plural(files, "file"), most: 3, burst: watched.burst})
	}
	return c, nil
}

// changing is a project that is watched while a file of it changes.
type changing struct {
	watcher *loader.Watcher
	set     chan *loader.Snapshot
	file    string
	odd     bool // whether the file is not as it was allowed
}

func (b *bench) watchChanges(ctx context.Context, hooks, files int) (*changing, error) {
	l, err := b.language("sh")
	if err != nil {
		return nil, err
	}
	list := guards(l.pass, hooks, "")
	for i := range list {
		list[i].Files = []string{fmt.Sprintf("lib%d/*", i)}
	}
	p, err := newProject(ctx, b.folder, list, nil)
	if err != nil {
		return nil, err
	}
	for i := range hooks {
		if err := os.MkdirAll(filepath.Join(p.hooks(), fmt.Sprintf("lib%d", i)), 0o700); err != nil {
			return nil, err
		}
		for k := range files/hooks - 1 {
			if err := os.WriteFile(helper(p, i, k), fmt.Appendf(nil, "helper %d of %d\n", k, i), 0o600); err != nil {
				return nil, err
			}
		}
	}
	if err := p.allow(ctx); err != nil {
		return nil, err
	}
	w := &changing{set: make(chan *loader.Snapshot, 64), file: helper(p, 0, 0)}
	options := p.options(b.contained)
	options.OnChange = func(s *loader.Snapshot) { w.set <- s }
	w.watcher, err = loader.Watch(context.WithoutCancel(ctx), options)
	return w, err
}

func helper(p *project, hook, k int) string {
	return filepath.Join(p.hooks(), fmt.Sprintf("lib%d", hook), fmt.Sprintf("helper-%d.txt", k))
}

func (w *changing) burst(ctx context.Context, n int) ([]time.Duration, error) {
	var all []time.Duration
	for range n {
		time.Sleep(changeQuiet) // whatever the last change left to do
		for len(w.set) > 0 {
			<-w.set
		}
		took, err := w.once(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, took)
	}
	return all, nil
}

func (w *changing) once(ctx context.Context) (time.Duration, error) {
	w.odd = !w.odd
	text, want := "helper 0 of 0\n", executor.Ready
	if w.odd {
		text, want = "another helper\n", executor.Changed
	}
	beside := filepath.Join(filepath.Dir(filepath.Dir(w.file)), "_new.tmp")
	if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := os.Rename(beside, w.file); err != nil {
		return 0, err
	}
	limit := time.After(20 * time.Second)
	for {
		select {
		case s := <-w.set:
			if s.Hooks[0].Status == want {
				return time.Since(began), nil
			}
		case <-limit:
			return 0, fmt.Errorf("hook %s is %s and not %s 20 s after its file changed", w.watcher.Snapshot().Hooks[0].Name, w.watcher.Snapshot().Hooks[0].Status, want)
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}
