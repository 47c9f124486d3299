// Package match decides whether an event concerns a hook: the keys of a hook's match
// (tool, source, agent, step), which package hookmatch compares, its patterns for what a
// call runs and touches (command, path), and its condition (when).
//
//	match.go        [Matcher]: Compile; Fits compares the keys, Decide the condition
//	input.go        [Input]: what may be looked at in one version of an event
//	command.go      match.command: a shell line as the simple commands in it
//	path.go         match.path: the real paths of the files of a call
//	condition.go    the language of conditions, and where bounds are put into it
//	logic.go        conditions have three values: yes, no, undecided
//	members.go      members that may be missing leave a condition undecided
//	openobject.go   the objects whose members may be missing
//	argsread.go     which members of args a condition reads
//	environment.go  the names that a condition sees
//	functions.go    the functions that a condition may call
//	meter.go        counts steps, bytes and time of one evaluation
//
// An event passes so: the executor makes an Input, asks [Matcher.Fits] of each hook
// (remembered by Key, which is why Key is comparable), and [Matcher.Decide] of those
// that have patterns or a condition, on the event as earlier hooks left it.
//
// Rules:
//
//   - What cannot be read, or is undecided, counts as a match, so that a guard is asked.
//   - A condition is bounded in time and memory, whatever it says and whatever the event
//     holds. Compiling refuses a regular expression that is too large.
package match
