//go:build unix

package main

// reasons say of a target what keeps hookd from it where it is not met: what the
// machine needs at the least, and where the rest goes. Each was measured by hand on
// the machine of the published page, and is printed only of a target that was
// missed. The key is the target's work.
var reasons = map[string]string{
	"abort to everything dead, median":                                   "The kernel needs that long: in C, from the write to `cgroup.kill` until `cgroup.events` says empty and waitpid has returned, the same six shapes take 2.15 to 2.36 ms in the median, of which the write alone is 0.6 to 0.8 ms. Even SIGKILL to sleeping processes until all are reaped takes 0.54 ms for one, 1.57 ms for three. hookd adds about 0.3 ms.",
	"event that no hook wants, 1,000 hooks":                              "Matching is not it: with no hook at all the event costs the same. 8 µs are the five system calls of its line in the record (flock, stat of the lock and of the file's end, write, unlock), without which two processes could write one chain; 6 µs are the event itself, the rest the line and its two hashes. About 13 µs is the least that the promises of the record allow here.",
	"standby sh hook, time to the reply over its plain spawn":            "A shell's `read` takes one system call per byte, 1 KiB of event about 1.9 ms, in standby as in a plain spawn: that alone is 0.35 of the spawn.",
	"hookd fire (lean program), whole process, over an empty Go program": "It is all page faults, about 40 µs each under virtualisation with what goes with them: 157 in the empty program, 457 here. The Go runtime takes 242 of them (larger tables, more threads and memory), the initialisation of libraries 92 (36 of them expr and YAML, which compile expressions and fill maps as they are linked), our own 9, the command line 11, and the work 103, half of it what reflection builds for the JSON of event, record and outcome. How the program came to the disk counts too: a copy of the file, which the kernel keeps in larger pieces than what the linker wrote, starts 15 % quicker than the one that is measured here. Without the new garbage collector of Go 1.26 it would be 26 faults less; that switch is to go with the next Go.",
}
