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
	{"plain/c/1KiB", target{ours, 2, ratio}, 2.46, "To wake a thread on an idle processor takes 18 to 37 µs on this machine, and 2 µs on the same one, where the kernel keeps both C programs. hookd is woken for what the hook writes and for its exit. Where a wake takes less, it was 1.91."},
	{"hooks/10", target{ours, 2, ratio}, 2.06, "As with one hook in C."},
	{"process", target{ours, 1.5, ratio}, 1.62, "As with one hook in C."},
	{"standby/python", target{ours, 0.02, ratio}, 0.024, "hookd's figure is the same as ever; Python starts a quarter quicker on this machine than where the target is from."},
	{"plain/glibc/1KiB", target{ours, 1.2, ratio}, 1.48, "The same part of hookd as with a hook in C; the target is from a machine on which a spawn takes 650 µs."},
	{"plain/sh/1KiB", target{ours, 1.25, ratio}, 1.37, "The same part of hookd as with a hook in C; the target is from a machine on which a spawn takes 650 µs."},
	{"standby/sh", target{ours, 0.25, ratio}, 0.94, "A shell reads its line with a system call for each byte, which takes as long in standby as in a fresh start."},
	{"serve/1", target{ours, 1.6, ratio}, 1.77, "hookd needs 190 µs more than the small daemon, which neither contains the hook nor records nor checks: processor time, of which two processors that are worth hardly more than one have none to spare."},
	{"flight/2", target{ours, 0.6, speed}, 0.27, "An event takes 244 µs of processor time in hookd and 104 µs in the hook: two at once need more than the two processors have, which are worth hardly more than one."},
	{"parallel/3", target{ours, 1.2, ratio}, 2.29, "As with two events in flight: what hookd does for three hooks at once finds no processor that is free."},
	{"match/1000", target{ours, 10e-6, middle}, 15e-6, "Matching costs nothing: an event without any hook takes as long. 8 µs are the five system calls of its line in the record."},
	{"abort", target{ours, 1e-3, middle}, 2e-3, "The kernel needs that long: a C program takes as long from its write to `cgroup.kill` until the group is empty and reaped."},
	{"fire", target{"lean", 4, ratio}, 7.16, "More than half of it is the start of the program, whose libraries for settings make their tables then: `version` takes 3.5 to 4 ×. Agents start `hookd-bridge` instead, which links none of them."},
	{"bridge/warm/0", target{"messenger", 1.6, ratio}, 2.2, "The messenger takes 0.3 ms of processor time more than an empty program, and waits half a millisecond for the daemon, which takes 0.75 ms for an event. A tenth each of that goes to the hooks above the caller, to self-protection, and to the record, which must be written before the answer; a quarter goes to waking threads."},
	{"bridge/warm/1", target{"messenger", 2, ratio}, 2.66, "As with no hook, and the hook's start."},
	{"bridge/cold", target{ours, 8, ratio}, 12.15, "A third is what libraries make at each start (validator alone a fifteenth of the whole; models, MCP and the terminal, which the lean program leaves out, a seventh), a fifth the start of so large a program, a tenth the search for hooks and settings. `hookd-bridge` with a daemon is the way that agents are to go."},
	{"mcp/call/0", target{ours, 200e-6, middle}, 280e-6, "Of 240 µs of processor time 40 are for carrying the two messages of a call, the rest is for its two events: an eighth of all goes to waking threads, as much to the record, which must be written before the answer, a tenth to collecting garbage; the rest has no peak."},
	{"mcp/call/1", target{ours, 300e-6, middle}, 400e-6, "As with no hook, and the hook's answer."},
	{"mcp/progress", target{ours, 75e-6, middle}, 112e-6, "Two wakes of idle processors, one of hookd and one of who reads, take 18 to 37 µs each on this machine; client and server in C stay on one. Where a wake takes less, it was 57 µs."},
	{"acp/update", target{ours, 75e-6, middle}, 112e-6, "As with a notification of MCP; it was 65 µs."},
	{"editor/call", target{oneHook, 4e-3, middle}, 5.1e-3, "Seventeen events, of which each asks the loop's own features, too, and is written to the record. Half of the processor time collects memory, since the agent loop leaves that to Go's own figure, and wakes threads; a tenth looks for the places that `read_file` keeps out of."},
	{"memory/serve", target{"lean", 16e6, amount}, 21.6e6, "Four fifths are pages of the program's file, which all processes of hookd share and which the kernel can drop; 4.5 MB are the daemon's own. The libraries for settings (viper, validator) made the file larger, and then the HTTP client of `hookd mcp --url`, which is 1.2 MB of it."},
	{"describe/100", target{ours, 0.6, ratio}, 1, "Two shells at once gain little or nothing on this machine: each takes nearly twice the processor time."},
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
