// Package acpview says in the words of the Agent Client Protocol what a run of the agent loop
// shows, as package runview says it for a terminal.
//
// A [View] belongs to one session. [View.Updates] takes what a run shows and returns the updates
// that a client is sent for it: text and reasoning as they stream (view.go), tool calls with their
// diffs, output and what hooks did to them (calls.go), the plan, and what the context holds
// (figures.go), a compaction as one thing for a client that takes it so (compaction.go). What
// hooks did to all else, and what hookd itself has to say, are [View.Says] (says.go): a notice for
// a client that takes notices, else a message. [View.Question] is a question about a call, with
// all of it that will run (question.go). history.go replays a conversation that was kept.
//
// Nothing here does I/O but through [Options].ReadFile. A view is used by one goroutine at a
// time.
package acpview
