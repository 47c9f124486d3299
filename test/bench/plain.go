//go:build unix

package main

import (
	"context"
	"fmt"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
)

// sizes are how large events are, as a hook reads them.
var sizes = []struct {
	name  string
	bytes int
}{{"1KiB", 1 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}, {"10MiB", 10 << 20}}

// Names of players that targets are about.
const (
	playerFloor   = "floor"
	playerBare    = "bare"
	playerDefault = "default"
)

var languageNames = []string{"c", "glibc", "sh", "python", "node"}

// plainEntries race hooks with nothing to say, started once per event: the floor,
// the bare ladder of package process, and everything that is on by default.
func (b *bench) plainEntries() []entry {
	var list []entry
	for _, name := range languageNames {
		for _, size := range sizes {
			list = append(list, entry{
				name:    "plain/" + name + "/" + size.name,
				about:   "a hook in " + name + " with nothing to say, event of " + size.name,
				prepare: func(ctx context.Context) (*contest, error) { return b.plain(ctx, name, size.bytes) },
			})
		}
	}
	return list
}

func (b *bench) plain(ctx context.Context, name string, size int) (*contest, error) {
	floor, err := b.theFloor()
	if err != nil {
		return nil, err
	}
	l, err := b.language(name)
	if err != nil {
		return nil, err
	}
	program := l.noopFor(size)
	p, err := newProject(ctx, b.folder, guards(program, 1, ""), nil)
	if err != nil {
		return nil, err
	}
	e, err := p.open(ctx, b.contained, b.pool)
	if err != nil {
		return nil, err
	}
	event := p.event(size)
	return &contest{
		players: []player{
			floor.player(playerFloor, work{program: program, payload: payloadOf(event)}),
			{name: playerBare, burst: each(b.ladder(b.bare, p, program, payloadOf(event)))},
			{name: playerDefault, burst: each(func(ctx context.Context) error { return e.fire(ctx, event, 1) })},
		},
		close: e.close,
	}, nil
}

// ladder runs a program on a payload by package process alone.
func (b *bench) ladder(rt *process.Runtime, p *project, program string, payload []byte) func(context.Context) error {
	command := &process.Command{
		Path: program, Dir: p.root, Stdin: [][]byte{payload},
		Env: hookenv.ForHook(hookenv.Config{Environ: p.environ(), Project: p.root}, hookenv.Execute, program),
	}
	return func(ctx context.Context) error {
		r := rt.Run(ctx, command)
		if r.Err == nil && r.ExitCode != 0 {
			return fmt.Errorf("%s exited with %d: %s", program, r.ExitCode, r.Stderr)
		}
		return r.Err
	}
}
