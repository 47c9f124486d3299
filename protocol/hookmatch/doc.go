// Package hookmatch compares the keys of a hook's match (tool, source, agent, step) with
// an event. It is the one place that knows when they hold: the executor asks it, and so
// does an agent loop that has only hooks in Go.
//
//	input.go  [Input]: what the keys compare of one version of an event, read once for
//	          all hooks; [Key]: the same as a value that can be compared
//	keys.go   [Keys]: [Compile], and [Keys.Fits]
//
// Rules:
//
//   - What cannot be read fits, so that a guard is asked.
//   - A key that has no meaning at an event does not restrict there.
//   - Fits depends on the [Key] of an event alone.
//
// Conditions (match.when) are not here: they belong to the executor.
package hookmatch
