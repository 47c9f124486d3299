// Package exechook asks hooks that are programs. It gives the executor their
// [executor.Asker]: one of three, by the hook's run mode.
//
//   - once: [New] starts the program for each event, writes the event to its stdin and
//     reads its stdout when it has ended (program.go).
//   - standby: [Pool.Asker] keeps the next process started and blocked on stdin, and
//     starts another one after each event (standby.go).
//   - resident: [Pool.Asker] keeps one process for each session, which replies with one
//     line to each event (resident.go).
//
// In all three modes answer.go makes the answer: from what the program wrote and how it
// ended, by package protocol's rules, with failures that name the hook's own file. The
// processes of the last two modes are kept by the executor's package internal/worker;
// [Pool.SetActive] (pool.go) says which hooks may have some. Every program is run, bounded
// and ended as a whole tree by package executor/process.
//
// A hook that was written for another agent is asked as that agent asks it (foreign.go):
// package foreignhooks says what its program reads, with which variables and arguments, and
// what its answer means.
//
// localfiles.go finds out whether a program's files lie on this machine: only then is it
// certain that a start returns, and the program is asked without a goroutine of its own.
//
// Rules:
//
//   - Nothing of an event is in the arguments or the environment of a program, but for
//     the names that package hookenv lists.
//   - An answer is what asking a program came to: its Reply, or the Failure because of
//     which it could not be asked. The two never share a path.
package exechook
