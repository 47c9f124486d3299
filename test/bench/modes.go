//go:build unix

package main

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/schema"
)

// Names of players of the modes' contests.
const (
	playerSpawn    = "spawn"
	playerOnce     = "once"
	playerStandby  = "standby"
	playerResident = "resident"
)

// modesEntries race the modes of one hook that answers: the floor with a hook in C
// that does nothing, the floor with the hook itself, and each of its modes.
func (b *bench) modesEntries() []entry {
	var list []entry
	for _, name := range []string{"c", "sh", "python", "node"} {
		for _, size := range sizes {
			list = append(list, entry{
				name:    "modes/" + name + "/" + size.name,
				about:   "a hook in " + name + " that answers, in every mode, event of " + size.name,
				prepare: func(ctx context.Context) (*contest, error) { return b.modes(ctx, name, size.bytes) },
			})
		}
	}
	return list
}

func (b *bench) modes(ctx context.Context, name string, size int) (*contest, error) {
	floor, err := b.theFloor()
	if err != nil {
		return nil, err
	}
	c, err := b.language("c")
	if err != nil {
		return nil, err
	}
	l, err := b.language(name)
	if err != nil {
		return nil, err
	}
	if name == "sh" && size > 64<<10 {
		return nil, skipf("a shell reads a line byte by byte, which takes seconds for one so long")
	}
	var open engines
	contest := &contest{time: 2 * defaultTime, close: open.close}
	modes := map[string]*engine{}
	for player, mode := range map[string]schema.RunMode{playerOnce: "", playerStandby: schema.Standby, playerResident: schema.Resident} {
		p, err := newProject(ctx, b.folder, guards(l.answer, 1, string(mode)), nil)
		if err != nil {
			return nil, err
		}
		if modes[player], err = open.open(ctx, p, b); err != nil {
			return nil, err
		}
	}
	// The payload is as long for all of them: their projects are.
	payload := payloadOf(modes[playerOnce].project.event(size))
	contest.players = []player{
		floor.player(playerFloor, work{program: c.noop, payload: payload}),
		floor.player(playerSpawn, work{program: l.answer, payload: payload}),
	}
	start, err := usualStart(ctx, modes[playerOnce], size)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{playerOnce, playerStandby, playerResident} {
		e := modes[name]
		event := e.project.event(size)
		p := player{name: name, burst: each(func(ctx context.Context) error { return e.fire(ctx, event, 1) })}
		if name != playerResident {
			p.against = playerSpawn
		}
		if name == playerStandby {
			p.burst = spaced(3*start+10*time.Millisecond, p.burst)
		}
		contest.players = append(contest.players, p)
	}
	return contest, nil
}

// usualStart is about how long the start of a hook takes just now.
func usualStart(ctx context.Context, e *engine, size int) (time.Duration, error) {
	event := e.project.event(size)
	took, err := each(func(ctx context.Context) error { return e.fire(ctx, event, 1) })(ctx, 3)
	return median(took), err
}

// spaced is a burst with a pause behind each time: the next process of a standby
// hook starts in it, and disturbs no other player. An agent's events are further
// apart than that.
func spaced(pause time.Duration, work burst) burst {
	return func(ctx context.Context, n int) ([]time.Duration, error) {
		var all []time.Duration
		for range n {
			took, err := work(ctx, 1)
			if err != nil {
				return nil, err
			}
			all = append(all, took...)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return all, nil
	}
}
