//go:build unix

package main

import (
	"context"
	"fmt"
	"time"
)

// row is one thing that is measured.
type row struct {
	name    string
	prepare func(ctx context.Context, k *kit) (*race, error)
	targets []target
}

// target is what a figure of a row must be.
type target struct {
	player string
	limit  float64 // of the ratio to the yardstick, in seconds, or in the figure's unit
	kind   kind
}

type kind int

const (
	ratio  kind = iota // time over the yardstick's, at most
	speed              // the other way round, at least
	middle             // median, at most
	tail               // p99, at most
	amount             // a figure, at most
)

// Names of players. What comes first in a row is the yardstick.
const (
	floor    = "floor"    // a C program that starts the hook, and nothing else
	pipe     = "pipe"     // a C program that exchanges a line with a resident C hook
	small    = "small"    // the small daemon
	direct   = "direct"   // an MCP server or an agent in C that is asked without hookd
	ours     = "hookd"    // with everything that is on by default
	oneHook  = "1 hook"   // hookd with a resident hook, where hookd itself has none
	spawn    = "spawn"    // the floor with the hook that the row is about
	survived = "survived" // processes
)

func atMost(player string, limit float64) []target { return []target{{player, limit, ratio}} }

func rows() []row {
	return []row{
		{"plain/c/1KiB", plain("c", 1<<10), atMost(ours, 2)},
		{"plain/c/64KiB", plain("c", 64<<10), nil},
		{"plain/c/1MiB", plain("c", 1<<20), atMost(ours, 5)},
		{"plain/c/10MiB", plain("c", 10<<20), nil},
		{"plain/glibc/1KiB", plain("glibc", 1<<10), atMost(ours, 1.2)},
		{"plain/sh/1KiB", plain("sh", 1<<10), atMost(ours, 1.25)},
		{"plain/python/1KiB", plain("python", 1<<10), atMost(ours, 1.1)},
		{"plain/node/1KiB", plain("node", 1<<10), atMost(ours, 1.1)},
		{"resident/c", resident("c"), atMost(ours, 25)},
		{"resident/python", resident("python"), atMost(ours, 25)},
		{"resident/node", resident("node"), nil},
		{"standby/sh", standby("sh"), atMost(ours, 0.25)},
		{"standby/python", standby("python"), atMost(ours, 0.02)},
		{"standby/node", standby("node"), atMost(ours, 0.1)},
		{"serve/1", serve(1), atMost(ours, 1.6)},
		{"serve/10", serve(10), atMost(ours, 1.4)},
		{"hooks/10", inRow(10), atMost(ours, 2)},
		{"flight/2", inFlight(2), []target{{ours, 0.6, speed}}},
		{"parallel/3", parallel(3), atMost(ours, 1.2)},
		{"heap/2GiB", largeHeap(2 << 10), atMost("2 GiB", 1.2)},
		{"process", processAlone, atMost(ours, 1.5)},
		{"match/1000", noMatch(1000), []target{{ours, 10e-6, middle}}},
		{"rules/100", rulesAlone(100), []target{{ours, 0.2e-3, middle}}},
		{"abort", aborts, []target{{survived, 0, amount}, {ours, 1e-3, middle}, {ours, 10e-3, tail}}},
		{"describe/100", describe(100), atMost(ours, 0.6)},
		{"warm/100", warm(100), []target{{ours, 20e-3, middle}}},
		{"reload/1000", reload(1000), nil},
		{"change/5000", change(5, 1000), []target{{ours, 250e-3, middle}}},
		{"change/unallowed/5000", changeAmongUnallowed(5000), []target{{ours, 250e-3, middle}}},
		{"fire", fire, atMost("lean", 4)},
		{"bridge/warm/0", bridge(0), atMost(messenger, 1.6)},
		{"bridge/warm/1", bridge(1), atMost(messenger, 2)},
		{"bridge/cold", bridgeAlone, atMost(ours, 8)},
		{"mcp/call/0", mcp.judged(0), []target{{ours, 200e-6, middle}}},
		{"mcp/call/1", mcp.judged(1), []target{{ours, 300e-6, middle}}},
		{"mcp/progress", mcp.passed(), []target{{ours, 75e-6, middle}}},
		{"acp/prompt/1", acp.judged(1), []target{{ours, 400e-6, middle}}},
		{"acp/update", acp.passed(), []target{{ours, 75e-6, middle}}},
		{"editor/word", editing("agent_message_chunk", speaks), []target{{oneHook, 2e-3, middle}}},
		{"editor/call", editing("no line holds this", reads, speaks), []target{{oneHook, 4e-3, middle}}},
		{"memory/serve", serveMemory, []target{{"lean", 16e6, amount}}},
		{"memory/standby", standbyMemory, nil},
	}
}

// value is the figure of a result that a target is about; false without one.
func (t target) value(r *result) (float64, bool) {
	for _, f := range r.figures {
		if t.kind == amount && f.name == t.player {
			return f.value, true
		}
	}
	for _, s := range r.standings {
		if s.player != t.player {
			continue
		}
		switch t.kind {
		case ratio:
			return s.ratio, true
		case speed:
			return 1 / s.ratio, true
		case middle:
			return s.median.Seconds(), true
		case tail:
			return s.p99.Seconds(), true
		}
	}
	return 0, false
}

func (t target) holds(value float64) bool {
	if t.kind == speed {
		return value >= t.limit
	}
	return value <= t.limit
}

// text is a value as it is written next to its target.
func (t target) text(value float64) string {
	switch {
	case t.kind == middle:
		return short(time.Duration(value * 1e9))
	case t.kind == tail:
		return "p99 " + short(time.Duration(value*1e9))
	case t.kind == amount && t.limit >= 1e6:
		return fmt.Sprintf("%.1f MB", value/1e6)
	case t.kind == amount:
		return fmt.Sprintf("%g %s", value, t.player)
	}
	return ratioText(value)
}

// bound is the target in words.
func (t target) bound() string {
	if t.kind == speed {
		return "≥ " + t.text(t.limit)
	}
	return "≤ " + t.text(t.limit)
}
