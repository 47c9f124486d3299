// Package instruction reads the files in which a project, the user or the machine's
// administrator tells every agent what to know and how to work: AGENTS.md and its like.
//
// [Read] reads files that the caller has found and allowed, in the order in which a model
// reads them, and holds them to a limit. How the texts get into a conversation is decided in
// package builtin.
package instruction
