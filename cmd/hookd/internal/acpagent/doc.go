// Package acpagent serves hookd's own agent loop to a client of the Agent Client Protocol, an
// editor for example. docs/acp.md is its manual for people.
//
// An [Agent] (agent.go) is one connection: it hands each message to the row of its method
// (methods.go). The first exchange is in initialize.go. Sessions are opened, listed and ended in
// sessions.go; open.go opens one conversation (package conversation), as hookd run does, with the
// client's MCP servers (servers.go), its hooks (clienthooks.go), its files, and its terminals for
// commands (editor.go, package acpterminal).
//
// A prompt becomes a turn (promptturn.go) when its line is read, so that a cancel right after it
// finds it. What the turn shows goes to the client in the words of package acpview, one after the
// other from one goroutine; a question (permission.go) takes its place among them. prompt.go reads
// what a client wrote, commands.go answers what begins with a slash, configoptions.go holds what a
// client may choose for a session: its mode (what runs without a question) and its model.
//
// Rules: a session's requests are obeyed in the order of their arrival; nothing but the protocol
// goes to stdout; a client that has gone ends all that it began. What hooks refused is told in
// the session, and no answer of a client but the id of an option that allows is a yes.
package acpagent
