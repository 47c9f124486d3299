// Package acp holds the messages of the Agent Client Protocol, version 1, that hookd writes and
// reads: names of methods and plain types, no I/O.
//
//	methods.go     the names of methods, error codes, the version
//	initialize.go  the first exchange: what client and agent can do
//	session.go     how a session begins, is found again and ends; a prompt and why its turn ended
//	content.go     blocks of content, as prompts and messages have them
//	update.go      session/update: what a client shows while a turn runs
//	toolcall.go    tool calls in updates, and questions about them (session/request_permission)
//	client.go      requests to the client's files and terminals
//	hooks.go       hookd's own methods, with an underscore: a client lists and registers hooks
//
// The types are read leniently: members that a type does not have pass, since a peer may be
// newer. What is written has no member that the published schema of version 1 does not have,
// but for _meta, where hookd's own member is named hookd. A test with the tag interop holds that
// against the schema.
package acp
