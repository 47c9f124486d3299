// Package store keeps the sessions of agents in files.
//
// A session is one append-only file of JSON lines: first a [Header], then one [Entry] a
// line (entry.go), each written in one piece. [Create] begins a session and [Open] resumes
// one (store.go). A process that has it open holds its lock, so that a session is used by
// one process at a time (lock.go). [Session.State] is what the entries added up to at the
// opening, [Session.Append] adds one. A loop appends a message before a model reads it.
//
// A line that a crash left without an end is dropped when the session is resumed. Anything
// else that no run writes is a [DamageError] with its line (damage.go), and the session is
// not resumed.
//
// [Read], [Find] and [HeaderOf] read a session that may be open elsewhere (read.go), [List]
// describes all sessions of a folder without decoding their messages (list.go). [Remove]
// deletes one.
//
// If there is no place for a file, [InMemory] is a session that is written nowhere. A
// session whose file cannot be written any more becomes one if [Session.OnWriteError] says
// so.
package store
