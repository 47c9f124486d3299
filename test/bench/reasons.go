//go:build unix

package main

// reasons say of a target what keeps hookd from it where it is not met: what the
// machine needs at the least, and where the rest goes. Each was measured by hand on
// the machine of the published page, and is printed only of a target that was
// missed. The key is the target's work.
var reasons = map[string]string{
	"abort to everything dead, median":                        "The kernel needs that long: in C, from the write to `cgroup.kill` until `cgroup.events` says empty and waitpid has returned, the same six shapes take 2.15 to 2.36 ms in the median, of which the write alone is 0.6 to 0.8 ms. Even SIGKILL to sleeping processes until all are reaped takes 0.54 ms for one, 1.57 ms for three. hookd adds about 0.3 ms.",
	"event that no hook wants, 1,000 hooks":                   "Matching is not it: with no hook at all the event costs the same. 8 µs are the five system calls of its line in the record (flock, stat of the lock and of the file's end, write, unlock), without which two processes could write one chain; 6 µs are the event itself, the rest the line and its two hashes. About 13 µs is the least that the promises of the record allow here.",
	"standby sh hook, time to the reply over its plain spawn": "A shell's `read` takes one system call per byte, 1 KiB of event about 1.9 ms, in standby as in a plain spawn: that alone is 0.35 of the spawn.",
}
