//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/protocol"
)

// hookd is built in two ways: whole, and without the agent loop for hosts that
// start it for every event.
const (
	leanTag     = "lean"
	playerLean  = "lean"
	playerWhole = "whole"
)

// startEntries are about the program as a whole, which other agents start for
// every event.
func (b *bench) startEntries() []entry {
	return []entry{
		{
			name: "fire/start", about: "hookd fire as a whole process in a project without hooks, against an empty Go program",
			prepare: func(ctx context.Context) (*contest, error) { return b.fire(ctx, 0) },
		},
		{
			name: "fire/hook", about: "hookd fire as a whole process with one hook in C, against an empty Go program",
			prepare: func(ctx context.Context) (*contest, error) { return b.fire(ctx, 1) },
		},
	}
}

// fire races two programs that a floor of the project's own starts, so that both
// get its folder and environment.
func (b *bench) fire(ctx context.Context, n int) (*contest, error) {
	if _, err := b.theFloor(); err != nil {
		return nil, err
	}
	l, err := b.language("c")
	if err != nil {
		return nil, err
	}
	lean, err := b.program(ctx, leanTag)
	if err != nil {
		return nil, err
	}
	hookd, err := b.program(ctx, "")
	if err != nil {
		return nil, err
	}
	empty, err := buildEmpty(ctx, b.folder)
	if err != nil {
		return nil, err
	}
	p, err := newProject(ctx, b.folder, guards(l.noop, n, ""), nil)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(p.folder, "data.json")
	if err := os.WriteFile(data, p.event(usualSize).Data, 0o600); err != nil {
		return nil, err
	}
	floor, err := startFloor(b.floorProgram, p.folder, p.root, p.environ())
	if err != nil {
		return nil, err
	}
	args := []string{"fire", string(protocol.ToolCallStart), "--json", "--data", "@" + data}
	return &contest{
		players: []player{
			floor.player("empty", work{program: empty}),
			floor.player(playerLean, work{program: lean, args: args}),
			floor.player(playerWhole, work{program: hookd, args: args}),
		},
		close: floor.close,
	}, nil
}
