//go:build unix

package main

import (
	"context"
	"fmt"

	"github.com/hookd-dev/hookd/client"
	"github.com/hookd-dev/hookd/protocol"
)

// usualSize is the size of event in all contests that are
// about something else.
const usualSize = 1 << 10

// manyEntries are about more than one hook: in a row, side by side, in flight at
// once, and behind the daemon.
func (b *bench) manyEntries() []entry {
	var list []entry
	for _, n := range []int{1, 3, 10} {
		list = append(list, entry{
			name: fmt.Sprintf("hooks/%d", n), about: fmt.Sprintf("%s asked about one event, time per hook", plural(n, "hook")),
			prepare: func(ctx context.Context) (*contest, error) { return b.row(ctx, n) },
		})
	}
	for _, n := range []int{1, 2} {
		list = append(list, entry{
			name: fmt.Sprintf("flight/%d", n), about: fmt.Sprintf("%s in flight, time per run", plural(n, "event")),
			prepare: func(ctx context.Context) (*contest, error) { return b.flight(ctx, n) },
		})
	}
	list = append(list, entry{
		name: "parallel/3", about: "three blockers with hooks.parallel 3, against three programs at once on the floor",
		prepare: b.parallel,
	})
	for _, n := range []int{1, 10} {
		list = append(list, entry{
			name: fmt.Sprintf("daemon/%d", n), about: fmt.Sprintf("through the stdio of hookd serve, %s, time per hook", plural(n, "hook")),
			prepare: func(ctx context.Context) (*contest, error) { return b.daemon(ctx, n) },
		})
	}
	return list
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// against makes a project of n hooks in C and the player that is compared with:
// the floor doing the given work with the same program and payload.
func (b *bench) against(ctx context.Context, n int, w work, settings map[string]any) (*project, player, error) {
	floor, err := b.theFloor()
	if err != nil {
		return nil, player{}, err
	}
	l, err := b.language("c")
	if err != nil {
		return nil, player{}, err
	}
	p, err := newProject(ctx, b.folder, guards(l.noop, n, ""), settings)
	if err != nil {
		return nil, player{}, err
	}
	w.program, w.payload = l.noop, payloadOf(p.event(usualSize))
	return p, floor.player(playerFloor, w), nil
}

// duel races the floor against a project with default settings; work makes the
// player's burst of the open engine and an event.
func (b *bench) duel(ctx context.Context, p *project, floor player, work func(*engine, protocol.Event) burst) (*contest, error) {
	e, err := p.open(ctx, b.contained, b.pool)
	if err != nil {
		return nil, err
	}
	ours := player{name: playerDefault, burst: work(e, p.event(usualSize))}
	return &contest{players: []player{floor, ours}, close: e.close}, nil
}

// row races n hooks of one event, asked one after the other.
func (b *bench) row(ctx context.Context, n int) (*contest, error) {
	p, floor, err := b.against(ctx, n, work{}, nil)
	if err != nil {
		return nil, err
	}
	return b.duel(ctx, p, floor, func(e *engine, event protocol.Event) burst {
		return per(n, each(func(ctx context.Context) error { return e.fire(ctx, event, n) }))
	})
}

// flight races events of different calls, n of them at once.
func (b *bench) flight(ctx context.Context, n int) (*contest, error) {
	p, floor, err := b.against(ctx, 1, work{threads: n}, nil)
	if err != nil {
		return nil, err
	}
	return b.duel(ctx, p, floor, func(e *engine, event protocol.Event) burst {
		return together(n, func(ctx context.Context, _ int) error { return e.fire(ctx, event, 1) })
	})
}

func (b *bench) parallel(ctx context.Context) (*contest, error) {
	const n = 3
	p, floor, err := b.against(ctx, n, work{group: n}, map[string]any{"parallel": n})
	if err != nil {
		return nil, err
	}
	return b.duel(ctx, p, floor, func(e *engine, event protocol.Event) burst {
		return each(func(ctx context.Context) error { return e.fire(ctx, event, n) })
	})
}

// daemon races events that a client asks the real program about.
func (b *bench) daemon(ctx context.Context, n int) (*contest, error) {
	p, floor, err := b.against(ctx, n, work{}, nil)
	if err != nil {
		return nil, err
	}
	session, end, err := b.serve(ctx, p, "")
	if err != nil {
		return nil, err
	}
	event := p.event(usualSize)
	fire := each(func(ctx context.Context) error {
		outcome, err := session.Fire(ctx, event)
		if err != nil {
			return err
		}
		return checkOutcome(&outcome, n)
	})
	return &contest{players: []player{floor, {name: playerDaemon, burst: per(n, fire)}}, close: end}, nil
}

const playerDaemon = "daemon"

// serve starts hookd serve for a project and opens a session with it.
func (b *bench) serve(ctx context.Context, p *project, tag string) (*client.Session, func() error, error) {
	program, err := b.program(ctx, tag)
	if err != nil {
		return nil, nil, err
	}
	c, err := client.Start(ctx, client.Options{Name: "bench", Dir: p.root, Env: p.environ()}, program, "serve")
	if err != nil {
		return nil, nil, err
	}
	session, err := c.Open(ctx, client.SessionOptions{Cwd: p.root})
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return session, c.Close, nil
}
