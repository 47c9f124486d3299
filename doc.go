// Package hookd gives an agent that is written in Go its hooks: programs and functions
// that read an event of the agent before it takes effect, and observe, block or change it.
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
// Package protocol has the types: the events, their data, the replies of hooks and the
// outcome, with helpers such as protocol.ReadData and protocol.ModifyArgs. Package
// agentloop is an agent loop that asks such a gate. Package client asks the hooks through
// hookd serve instead, so that they run in another process. docs/go.md has a whole program
// for each way.
//
// # What Open does
//
// Open finds the hooks of .acai/hooks, reads the settings of machine, user and project,
// uses only what the person has allowed with "hookd trust", and follows changes of the
// files while the gate is open (package loader). The gate asks the hooks in order, with
// their limits, and keeps records (package executor). Hooks that are programs run
// contained and end as whole trees (package executor/process). On Linux a second process
// of the same executable ends them if the agent is killed; it needs nothing in main.
//
// Hooks in a shell call the program hookd as "$HOOKD". [Options].Program names it;
// otherwise Open looks for it on the hooks' PATH, outside every project and checkout.
package hookd
