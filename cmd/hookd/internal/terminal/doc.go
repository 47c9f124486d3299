// Package terminal is the two ends of a command: what a person types, and the streams
// that the command writes to.
//
// [Lines] (readlines.go, with a half for each system) reads what a person types, so that
// several readers share it and a question can drop what was typed before it was asked.
// [Confirm] (confirm.go) asks a question that is answered with yes or no. The questions of
// an agent run, which show what will run, are in package question.
//
// [StickyWriter] (writers.go) is a stream that remembers its first failed write and does
// not hang at the end of a command. [SwappableWriter] sends a stream elsewhere for a time,
// for example above a conversation on the screen. [Duplicate] (duplicate_unix.go) makes a
// broken pipe an error instead of a signal, and [IsClosed] reports that nobody can read a
// stream at all. [Restorer] (restore.go) gives a terminal back as it was.
package terminal
