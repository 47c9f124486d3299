//go:build unix

package main

import "math"

// reason says why a target is missed. It was written for one figure: the page drops it
// when the target is met, when the target is another one, and when the figure has moved
// by more than a quarter, since then somebody must look again.
type reason struct {
	row    string
	target target
	seen   float64 // the figure that it explains, in the unit of the target
	text   string  // one sentence or two
}

// unexplained stands for a reason that nobody has found yet.
const unexplained = "Not explained yet."

var reasons = []reason{
	{"standby/sh", target{ours, 0.25, ratio}, 0.59, "A shell reads its line with a system call for each byte, which takes as long in standby as in a fresh start."},
	{"abort", target{ours, 1e-3, middle}, 2.8e-3, "The kernel needs that long: a C program takes 2.2 to 2.4 ms from its write to `cgroup.kill` until the group is empty and reaped. hookd adds 0.3 ms."},
	{"match/1000", target{ours, 10e-6, middle}, 21e-6, "Matching costs nothing: an event without any hook takes as long. 8 µs are the five system calls of its line in the record."},
	{"warm/100", target{ours, 20e-3, middle}, 26e-3, "A third of it reads and hashes the files of the hooks, a quarter checks their private copies, a fifth puts their descriptions together, and viper takes a tenth for the settings."},
	{"memory/serve", target{"lean", 16e6, amount}, 18.6e6, "The libraries for settings (viper, validator) and their tables stay in memory. Before they were linked it was 12.3 MB."},
	{"describe/100", target{ours, 0.6, ratio}, 1.4, "Two shells at once gain nothing on this machine: each takes nearly twice the processor time."},
}

// reasonFor returns the reason for which the result misses the target.
func reasonFor(r *result, t target) string {
	value, _ := t.value(r)
	for _, known := range reasons {
		if known.row == r.row.name && known.target == t && math.Abs(value-known.seen) <= known.seen/4 {
			return known.text
		}
	}
	return unexplained
}
