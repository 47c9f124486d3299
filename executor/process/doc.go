// Package process runs one program, contained and bounded, and ends it as a
// whole tree.
//
// A [Runtime] is made once per hookd process. [Runtime.Run] starts a program in
// its own session, feeds its stdin while it reads both outputs, and returns as
// soon as the answer stands: the program exited and its output is drained, its
// context ended, or it wrote more than it may. Nothing it started outlives the
// run: ending the tree goes on behind the result, and [Result.Gone] closes when
// the last process of it is dead.
//
// [Runtime.Start] starts a program that lives on, a [Child], and gives its owner
// both ends of a conversation. It is contained and ended in the same way.
//
// How surely an escaped process is found depends on what the machine gives:
// a cgroup, a PID namespace, the sub-reaper flag, or only a process group.
// [Runtime.Containment] says which one holds and what it covers.
//
// The package knows nothing of hooks: it takes a path, arguments, an
// environment and bytes, and gives bytes and an ending back.
package process
