// Package record keeps the evidence of what hooks decided: one file of JSON lines per
// session, each line holding the hash of the line before, so that a line that was
// changed, added or taken out in the middle is found. A cut tail, or a chain that was
// rewritten as a whole, is found against a [Head] that was kept elsewhere.
//
// How an entry gets into the record:
//
//	entry.go    what is recorded: [Event], [Late], [Set], [Trust], [Mark]. The executor builds
//	            them (its file recording.go)
//	redact.go   what of values, stderr and commands an entry may hold
//	shorten.go  an entry as JSON, shortened where its line would be too long
//	log.go      [Log.Append]: one folder, many sessions, bounded open files
//	file.go     one session's newest file: the queue, the write under a lock between
//	            processes, the rotation
//	chain.go    number, hash of the line before, and time in front of the entry; and
//	            where a chain ends that another process continued
//	missed.go   what no disk would take, told by the next line that is written
//	folder.go   which files of a folder are records
//	prune.go    removes old files
//	read.go     [Read], [Follow], [Verify]: the lines, and each place where the chain
//	            is not what was once written
//	backwards.go  [Backwards]: the same from the newest line, as few as are taken
//	search.go   [Search]: some lines, quickly, without a look at the chain
//
// Rules:
//
//   - A line is written in one write before its event goes on. It is not synced: a
//     crash of the process loses no decided event, a power failure may.
//   - A full or unwritable disk never changes a decision. Entries wait in memory,
//     bounded, and what does not find room is counted and named later.
//   - No value of an event is in a record unless records.values is full, and never one
//     that a sensitive hook saw.
package record
