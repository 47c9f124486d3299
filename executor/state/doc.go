// Package state keeps what hooks remember between events: their private state and
// their public metadata, per session, in files that several processes share.
//
//	dir.go   hookd's state folder, and the file name of a session
//	store.go [Store]: the values of sessions, cached, one file each
//	lock.go  a lock between processes for one name in a folder
//
// The values themselves, and the rules by which writes of events that ran side by side
// meet, are in package internal/hookvalues.
//
// How a value passes: the executor reads a Snapshot when the first hook of an event needs
// it, collects the hooks' [Write] values, and calls [Store.Write] before the event goes
// on. Write takes the lock, reads the file again if another process replaced it, lays
// the writes over it and replaces the file whole.
//
// Rules:
//
//   - Of two events that ran side by side the later one's value stands, whichever wrote
//     first; what is overwritten by that is returned as [Overwritten].
//   - A disk that takes nothing changes no decision: values live in memory and are
//     written with the next.
//   - Only the hook itself reads its state; every hook reads metadata, and none can
//     publish under the name of a hook of a higher layer.
package state
