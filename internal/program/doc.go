// Package program keeps, in the user's state, which hookd a person installed: the path,
// the hash and the identity of its file. `hookd install` writes the [Record]. The
// messenger, hookd-bridge, sends events to a daemon only if that runs exactly this program
// (docs/daemon.md).
//
//	record.go        Record, Write, Read: the file, its path and its hash
//	identity_*.go    Identity: tells without reading a file that it is the one that was hashed
//
// The package is linked into the messenger, whose start is what a bridge costs. So it
// imports little, and the record is lines of text.
package program
