//go:build unix

package main

import (
	"context"
	"fmt"
)

// matchEntries are about events that no hook wants: hooks of the same event that
// are for other tools.
func (b *bench) matchEntries() []entry {
	return []entry{{
		name: "match/none", about: "an event that none of the hooks loaded wants",
		prepare: b.noMatch,
	}}
}

func (b *bench) noMatch(ctx context.Context) (*contest, error) {
	l, err := b.language("sh")
	if err != nil {
		return nil, err
	}
	c := &contest{}
	var engines engines
	c.close = engines.close
	for _, n := range []int{0, 100, 1000} {
		hooks := guards(l.pass, n, "")
		for i := range hooks {
			hooks[i].Match = map[string]any{"tool": fmt.Sprintf("tool-%d", i)}
		}
		p, err := newProject(ctx, b.folder, hooks, nil)
		if err != nil {
			return nil, err
		}
		e, err := engines.open(ctx, p, b)
		if err != nil {
			return nil, err
		}
		event := p.event(usualSize)
		c.players = append(c.players, player{
			name: fmt.Sprintf("%d hooks", n), most: 5000,
			burst: each(func(ctx context.Context) error { return e.fire(ctx, event, 0) }),
		})
	}
	return c, nil
}
