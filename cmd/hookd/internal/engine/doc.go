// Package engine opens the hooks of a project for a command of hookd.
//
// A command has an [Opener]. [Opener.Open] loads the hooks (or, for a command that runs
// long, watches them), prints what the person must know before they run (startnotes.go),
// and returns an [Engine]: the executor with the name of a slow hook on the terminal
// (progress.go). [Opener.Look] only loads them, to show them or to judge them.
//
// [Processes] (processes.go) is what runs programs in this process. It is made when the
// first command part needs it, with a guardian where hooks must not outlive a killed hookd.
//
// A process that answers events while an agent waits collects memory less often (garbage.go).
//
// Events of another agent go through the guest role (guest.go, package executor/guest).
//
// At the end Engine.Close waits for hooks of events that are due. It names hooks that take
// long, and those that were cut off (cutoff.go). Runs of hooks that nobody waited for are
// in [LateRuns] (late.go).
package engine
