// Package daemon serves hooks to programs in any language: JSON-RPC 2.0, one
// message a line, over stdin and stdout or a Unix socket. docs/daemon.md is its
// manual for clients.
//
// A [Server] reads each connection in one goroutine. A line becomes messages
// (package rpc), a message becomes a plan by the table of methods, and the plan
// goes to the scheduler, which keeps the events of a session in order without
// a goroutine for each that waits. What runs asks the [Engine] of its project,
// and the answer goes to the connection's outbox. Memory is bounded by one
// budget of bytes for each connection, in and out; while it is used up the
// connection is not read.
//
// The JSON-RPC server of github.com/creachadair/jrpc2 is not used here, only
// its client, as a test peer: it encodes results anew with encoding/json, so
// bytes that no hook changed would not come back as they were; its queue has no
// bound; and it brings net/http into the program.
package daemon
