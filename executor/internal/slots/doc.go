// Package slots bounds how many hook processes run at once (hooks.processes).
//
// All hooks share the slots, within what the settings of their own layer allow. A
// hook of a higher layer, or of an outer project, finds a slot however many lower
// ones hang: each layer leaves one slot to each above it that has hooks, and where
// the limit is too small for that, one process more may run. Observers have at most
// half of the slots, so that slow ones do not hold up an event.
package slots
