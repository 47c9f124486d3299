// Package process runs one program, contained and bounded, and ends it as a whole
// tree. It knows nothing of hooks: it takes a path, arguments, an environment and
// bytes, and returns bytes and how the program ended.
//
// # Use
//
// A [Runtime] is made once per hookd process. [Runtime.Run] starts a program in its
// own session, writes its stdin while it reads both outputs, and returns as soon as
// the answer stands: the program exited and its outputs are drained, its context
// ended, or it wrote more than it may. Nothing it started outlives the run for long:
// the tree may still be ended after Run has returned, and [Result.Gone] closes when
// the last process of it is dead. [Runtime.Start] and [Runtime.StartIdle] start a
// program that lives on, a [Child], and give its owner both ends of its pipes.
//
// # One run
//
//	run.go           enter a place, take a container, start, exchange, report, end
//	command.go       what goes in and what comes out
//	polled_linux.go  moves the bytes: one goroutine, one poll(2)   (portable.go elsewhere)
//	output.go        what is kept of an output, bounded
//	starterror.go    why a program could not be started, with a remedy
//	end.go           TERM, grace, KILL, and until nothing is alive
//	endings.go       trees that are still being ended, so that a program waits for itself
//	left.go          what a program left running, for people
//
// A child has childinput.go and idle.go besides child.go.
//
// # How a tree is held together
//
// A containment makes a container for each program (containment.go). [Runtime.Containment]
// says which one works on this machine and what it covers:
//
//   - a control group (cgroup_linux.go), together with a sweep for what moves itself out
//     of it (cgroupescape_linux.go);
//   - the sub-reaper flag and a sweep of the process table (subreaper_linux.go), which
//     recognises a process of the tree (proctree_linux.go) by parent, session, group, or
//     the tag in its environment (envtag_linux.go);
//   - the process group, or on Windows the job object (group_*.go).
//
// # When hookd itself is killed or stopped
//
// A guardian process (guardian_linux.go is our side of it, guardianprocess_linux.go its
// own, guardianmemory_linux.go the memory that both share, on which stands what runs) ends
// everything that runs when this process dies. A process that is there for its
// programs alone (Options.OwnsAllChildren) also reaps orphans (supervisor_linux.go,
// ownchildren_linux.go) and does not stay stopped (wakeup_linux.go).
//
// # Rules
//
// Every started program is registered before anything can fail, and finished once. A
// container is free when it is empty, never before. A process is killed by what was seen of
// it (number and start time), never by its number alone.
package process
