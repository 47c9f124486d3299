// Package guest is what is special where another agent calls hookd for its own events.
//
// A [Role] makes the sets of hooks that such events meet of those that a source has. It
// changes them in three ways, by the agent that the event names as its host:
//
//   - self-protection is among the hooks, unless the person or the machine switched it off
//     (hooks.selfProtection; package selfprotect is the guard);
//   - where the person only watches for now (monitor), the hooks of user and projects are
//     in audit mode: what they would refuse is recorded. Managed and required hooks,
//     self-protection, and hooks that were never allowed or whose settings cannot be read
//     are as strict as ever;
//   - at the start of a session the person is told that, and what keeps hookd from working
//     in this agent.
//
// It also bounds how often hooks force a run on (forced.go), which no agent counts as hookd
// does: hooks.maxForced and hooks.maxForcedTotal hold for each of its sessions.
//
// Both ways in use it, the command hookd bridge and the daemon:
//
//	gate := role.For(executor.Gate(), &event)
//	outcome, err := gate.Fire(ctx, event)
//
// Which agents are watched only is in the user's state (monitor.go), and nowhere else: no
// project and no flag in an agent's settings can say it.
package guest
