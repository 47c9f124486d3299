// Package hookd puts hooks under an agent that is written in Go: programs and
// functions that read an event of the agent before it takes effect, and observe, block
// or change it.
//
// An agent needs one [Gate], made by [Open] for the hooks of a project, its user and
// its machine, or by [Static] for Go functions alone. It calls [Gate.Fire] before each
// thing that it does and obeys the outcome:
//
//	gate, err := hookd.Open(ctx, hookd.Options{Project: "."})
//	…
//	defer gate.Close()
//	outcome, err := gate.Fire(ctx, event)
//	if outcome.Refused() { … }
//
// Package protocol has the words of it all: the events, their data, the replies of hooks
// and the outcome, with helpers such as protocol.ReadData and protocol.Modify. Package
// agentloop is an agent loop that asks such a gate. Package client asks the hooks through
// a running hookd instead, so that they live in another process.
//
// # What Open does
//
// It finds the hooks of .acai/hooks, reads the settings of machine, user and project,
// keeps to what the person has allowed by "hookd trust", and follows changes of the
// files while the gate is open (package loader). The gate asks the hooks in order, with
// their limits, and keeps records (package executor). Hooks that are programs run
// contained, and end as whole trees (package executor/process). On Linux a second process
// of the same executable ends them if the agent is killed; it needs nothing in main.
package hookd
