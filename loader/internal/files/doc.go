// Package files looks at files: their identity, their content and their hash.
//
// An [Info] (stat.go and its halves) identifies the version of a file. Two equal values
// mean equal content if the last change lay well before the look ([Info.Stable]); the
// change time is part of it because no program can set it back. read.go opens regular
// files without waiting for a FIFO in their place. hashcache.go holds the one cache of
// the loader, [HashCache], from an Info to the hash of the bytes; it lives in memory
// and may be asked for any file. inputs.go remembers everything that a load looked at.
// private.go makes and checks the files of the state folder, which are this user's
// alone. paths.go holds small helpers for paths.
package files
