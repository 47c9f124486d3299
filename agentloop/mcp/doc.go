// Package mcp lets a model call the tools of MCP servers.
//
// [Connect] starts the servers in the background and returns at once (servers.go). It is
// given each [Server] and the [Options] that all share (options.go). The result is a
// [tool.Source], whose tools are named mcp__server__tool (toolname.go) and join when their
// server is ready.
//
// A server is a program that speaks over its stdin and stdout, or one that is reached over
// streamable HTTP or the older SSE. A supervisor keeps one server running (supervisor.go):
// it opens a connection (connection.go), asks for the list of tools (toollist.go), offers
// them, looks again when the list changes, and starts the server again with growing pauses
// when the connection ends. A call goes over the connection that is open at that moment
// (call.go), its progress is shown while it works (progress.go), and its result becomes
// content that a model can read (result.go), without what the server sent twice
// (duplicate.go). Schemas lose the regular expressions that only JavaScript knows
// (package internal/argschema). reason.go says in words why a server or a call failed.
//
// The protocol itself is the official SDK's: revision 2026-07-28, and back to 2024-11-05.
// The transport under it is ours, internal/wire: it survives what servers really write.
// Of what a client may offer, roots are offered (the folders of the session); sampling and elicitation
// are not: a server neither uses the user's model nor questions the user.
//
// Rules: a server can neither stop the loop nor outlive it. One that does not start, dies,
// hangs, floods or breaks the protocol is named once in a [Notice], and its calls end at
// once with a text that the model can read. What a server says of its own harmlessness is
// not read: only hooks and people decide that.
package mcp
