//go:build unix

package main

import (
	"fmt"
	"time"
)

// target is what a figure has to be. The figure is that of one player of a
// contest; where it is a ratio, it is to the player that is compared with.
type target struct {
	work    string
	contest string
	player  string
	measure measure
	limit   float64
}

// measure is what of a standing counts.
type measure int

const (
	ratioOf  measure = iota // at most
	speedOf                 // runs per second against those of the other, at least
	medianOf                // seconds, at most
	p99Of                   // seconds, at most
	figureOf                // a figure of the player's name, at most
)

// targets are those of the issue "Fast and proven", in its order.
var targets = []target{
	{"C hook without libc, 1 KiB, bare ladder over the floor", "plain/c/1KiB", playerBare, ratioOf, 2.0},
	{"C hook without libc, 1 KiB, default settings over the floor", "plain/c/1KiB", playerDefault, ratioOf, 2.5},
	{"through the daemon's stdio, one hook, over the floor", "daemon/1", playerDaemon, ratioOf, 3.0},
	{"through the daemon's stdio, ten hooks, per hook over the floor", "daemon/10", playerDaemon, ratioOf, 2.2},
	{"glibc C hook over its own bare spawn", "plain/glibc/1KiB", playerDefault, ratioOf, 1.2},
	{"sh hook over its own bare spawn", "plain/sh/1KiB", playerDefault, ratioOf, 1.25},
	{"Python hook over its own bare spawn", "plain/python/1KiB", playerDefault, ratioOf, 1.1},
	{"Node hook over its own bare spawn", "plain/node/1KiB", playerDefault, ratioOf, 1.1},
	{"two in flight, runs per second against the floor's", "flight/2", playerDefault, speedOf, 0.7},
	{"standby Python hook, time to the reply over its plain spawn", "modes/python/1KiB", playerStandby, ratioOf, 0.02},
	{"standby Node hook, time to the reply over its plain spawn", "modes/node/1KiB", playerStandby, ratioOf, 0.10},
	{"standby sh hook, time to the reply over its plain spawn", "modes/sh/1KiB", playerStandby, ratioOf, 0.25},
	{"resident C hook, round trip over the floor's spawn", "modes/c/1KiB", playerResident, ratioOf, 0.2},
	{"resident Python hook, round trip over the floor's spawn", "modes/python/1KiB", playerResident, ratioOf, 0.2},
	{"resident Node hook, round trip over the floor's spawn", "modes/node/1KiB", playerResident, ratioOf, 1.0},
	{"containment in a pooled cgroup over none", "contain/cgroup", "cgroup", ratioOf, 1.15},
	{"abort, six escapes × 40, survivors", "abort/escapes", "survivors", figureOf, 0},
	{"abort to everything dead, median", "abort/escapes", allEscapes, medianOf, 1e-3},
	{"abort to everything dead, p99", "abort/escapes", allEscapes, p99Of, 10e-3},
	{"process with a 2 GiB heap over a small one", "heap/2GiB", "2GiB", ratioOf, 1.1},
	{"1 MiB event over the floor", "plain/c/1MiB", playerDefault, ratioOf, 5},
	{"three blockers with parallel: 3 over three at once on the floor", "parallel/3", playerDefault, ratioOf, 1.2},
	{"event that no hook wants, 1,000 hooks", "match/none", "1000 hooks", medianOf, 10e-6},
	{"file change until the new set rules, 5,000 files", "change", "5000 files", medianOf, 100e-3},
	{"warm start with 100 hooks, described before", "warm", "100 hooks", medianOf, 5e-3},
	{"describing 100 sh hooks over one after the other", "describe/100", "load", ratioOf, 0.6},
	{"hookd serve at rest (lean program), resident memory", "memory/daemon-lean", playerDaemon, figureOf, 16e6},
	{"hookd fire (lean program), whole process, over an empty Go program", "fire/start", playerLean, ratioOf, 3},
}

// verdict is a target beside its figure.
type verdict struct {
	target
	measured string // "" if it was not measured
	met      bool
	part     float64 // figure by limit, the other way round where more is better
}

// judge holds results against all targets that they are about.
func judge(results []*result) []verdict {
	var list []verdict
	for _, t := range targets {
		v := verdict{target: t}
		for _, r := range results {
			if r.contest != t.contest {
				continue
			}
			if value, ok := t.of(r); ok {
				v.measured, v.met, v.part = t.text(value), t.holds(value), t.partOf(value)
			}
		}
		list = append(list, v)
	}
	return list
}

// of is the figure that counts. What is compared is what is printed.
func (t *target) of(r *result) (float64, bool) {
	for _, f := range r.figures {
		if t.measure == figureOf && f.name == t.player {
			return f.value, true
		}
	}
	for i := range r.standings {
		s := &r.standings[i]
		if s.player != t.player {
			continue
		}
		switch t.measure {
		case ratioOf:
			return s.ratio, true
		case speedOf:
			return 1 / s.ratio, true
		case medianOf:
			return s.median.Seconds(), true
		case p99Of:
			return s.p99.Seconds(), true
		}
	}
	return 0, false
}

func (t *target) holds(value float64) bool {
	if t.measure == speedOf {
		return value >= t.limit
	}
	return value <= t.limit
}

func (t *target) partOf(value float64) float64 {
	switch {
	case t.measure == speedOf:
		return t.limit / value
	case t.limit == 0:
		return value
	}
	return value / t.limit
}

// text is a value as it is written beside its target.
func (t *target) text(value float64) string {
	switch t.measure {
	case medianOf, p99Of:
		return short(time.Duration(value * 1e9))
	case figureOf:
		if t.player == playerDaemon {
			return fmt.Sprintf("%.1f MB", value/1e6)
		}
		return fmt.Sprintf("%g", value)
	}
	if value < 0.1 {
		return fmt.Sprintf("%.3f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// bound is the target in words.
func (t *target) bound() string {
	if t.measure == speedOf {
		return "at least " + t.text(t.limit)
	}
	return "at most " + t.text(t.limit)
}

func (v *verdict) word() string {
	switch {
	case v.measured == "":
		return "not measured"
	case v.met:
		return "met"
	}
	return "not met"
}
