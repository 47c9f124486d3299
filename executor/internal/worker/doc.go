// Package worker keeps processes of hooks that are started before their event. A
// worker is one such process. There are two kinds of hooks with workers:
//
//   - A standby hook has processes that wait, started and blocked on stdin. Each of
//     them replies to one event and ends.
//   - A resident hook has one process for each session. It gets one event a line and
//     replies to each with a line that repeats the event's id.
//
// Package exechook asks hooks through this package. It knows what a
// reply means; this package knows which process gets the event and whether that one
// may be used again.
//
// # How an event passes
//
//	pool.go             Pool holds the workers of all hooks; Pool.Hook names one hook,
//	                    Pool.SetActive says which hooks may have workers at all
//	residentprocess.go  Hook.AcquireSession waits for the session's turn and returns a
//	                    Lease; Lease.Worker is the session's process, Lease.Release
//	                    gives the turn back
//	residentask.go      Worker.AskLine gives a resident process one event as a line
//	standby.go          Hook.TakeIdle takes a waiting process, Hook.Refill starts the
//	                    next one; Worker.AskOnce gives it the event
//	linereply.go        reads what the process writes until it has replied
//	backoff.go          how long the next start waits after processes that failed
//	filestamp.go        tells whether the files that a process was made of have changed
//
// # Rules
//
//   - Workers belong to what they were started with: content, command, folder,
//     environment, limits. Where one of these differs it is another hook, and a
//     process is only used for the hook that it was started for.
//   - A process that wrote something before its event, or whose files changed after
//     its start, does not get the event.
//   - An event goes to a second process only if the first one has certainly read
//     nothing of it.
//   - The pool is bounded as a whole, for each layer and for each hook. A process of a
//     higher layer never ends to make room for one of a lower layer.
//   - A process has its own goroutine from start to the end of its tree, and
//     Pool.Close waits for all of them.
package worker
