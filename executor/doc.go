// Package executor decides events by asking hooks. It takes the hooks of an event in
// running order, asks each within its limits, folds their answers into one outcome and
// records what was decided.
//
// An [Executor] takes its hooks from a [Source], which returns the current [Set]: the
// hooks in running order with the settings that apply to them. An agent loop calls
// [Executor.Fire], or [Executor.Begin] where the order of events matters. Hooks are Go
// functions ([Static], [Executor.Extend]) or programs (package exechook). A hook's
// [Asker] asks it.
//
// # One event, from Fire to the record
//
//	dispatch.go       takes the Set, the hooks and the event; the state of an event on
//	                  its way through its hooks
//	question.go       makes the question that each hook gets
//	fire.go           the stages: modifiers, blockers, required observers, the end. The
//	                  answer of a hook is applied to the fold here
//	matching.go       which hooks the event is about (matchers: internal/match)
//	ask.go            one hook's call: budget, slot, limit, late answers
//	hookstate.go      checks the state that a reply wants to keep, and writes it before
//	                  the event goes on
//	recording.go      builds the entry of the record (package record writes it)
//	observers.go      hooks that nobody waits for, asked after the event
//	detached.go       events that tell of what has happened, which reach their hooks
//	                  even if the host has left
//
// What they work with:
//
//	executor.go       Executor, Options, Progress, Close
//	set.go            Set, its index, its settings; the running order
//	hook.go           Hook, Asker, Question
//	gohooks.go        hooks that are Go functions; views of an executor
//	sessionguards.go  remembers the guards that a session began with, so that one which
//	                  vanished is asked as a failure
//
// The packages below: internal/worker keeps processes of standby and resident hooks,
// internal/slots bounds how many hook processes run at once, internal/inflight counts
// what Close waits for; process runs one program, contained; state keeps what hooks
// remember; daemon serves all this to other languages.
//
// # Rules
//
//   - "Could not ask" and "the hook said no" never share a type or a path: an answer has
//     a Failure or a Reply, and a Failure follows the hook's own rule.
//   - Fire returns an error for one reason: its context ended. Nothing of the event took
//     effect then.
//   - An event uses one Set from begin to end. Sets do not change.
//   - What a lower layer sets never changes what a hook of a higher layer is asked, may
//     answer, keeps or may take: a hook has the settings of its own layer
//     (Set.settingsOf).
//   - A goroutine that is started is counted in Executor.running, and Close waits for it.
package executor
