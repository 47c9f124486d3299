// Package hookvalues holds what the hooks of one session remember: the state that only the
// hook itself reads, and the metadata that every hook reads. It is pure: package
// executor/state keeps the values in files, and a gate of Go hooks keeps them in memory.
//
// A caller reads one [Snapshot] when an event begins, so that events side by side see the
// same old values. The hooks' values become [Write] values with the revision that the hook
// was shown. [Snapshot.With] lays them over the newest snapshot when the event is
// decided: of two events that ran side by side the later one's value stands, by the
// session's opening and the event's seq, whichever wrote first. What is lost by that is
// returned as [Overwritten].
//
//	snapshot.go  the values, and the rule by which writes meet
//	file.go      a snapshot as bytes
package hookvalues
