// Package daemon serves hooks to programs in any language: JSON-RPC 2.0, one
// message a line, over stdin and stdout or a Unix socket. docs/daemon.md is its
// manual for clients.
//
// A [Server] (server.go, options.go) has connections, sessions and projects. One
// event goes through the files like this:
//
//   - conn.go: a goroutine of the connection reads a line, and package rpc takes it
//     apart. While too many requests wait for their response (the budget of package
//     outbox) nothing is read. The goroutine that has read a call which may begin at once
//     also runs it and sends the response, and another one reads on. Package crew keeps
//     goroutines for the next connection.
//   - methods.go is the table of methods. A method reads its params (params.go) and
//     makes a plan: what to run, and which session it belongs to. For event/fire that
//     is in fire.go.
//   - schedule.go says when the call begins: the events of a session (session.go)
//     begin in the order in which they were received, and those of different tool
//     calls run side by side. A call that waits costs no goroutine.
//   - fire.go asks the [Engine] of the session's project (projects.go), and fits the
//     outcome to what the client can carry out (capabilities.go).
//   - Package outbox writes the response, and the notifications of notify.go that the
//     client wants. Responses that a client never got are logged when its connection ends
//     (conn.go).
//
// The method bridge/event (bridge.go) takes an event as another agent writes it, without a
// session, from the program in that agent's hook settings.
//
// There is one way to end, [Server.Serve]'s finish: the server takes no new work, events
// in flight end or are aborted after a while, engines are closed, connections are closed.
// A signal, the method shutdown, a host that is gone and a daemon that nobody uses all lead
// there.
//
// stdio_unix.go takes stdin and stdout away from the rest of the process, so that
// nothing but the protocol is ever written there. listing.go makes the result of
// hooks/list.
//
// The package does not use the JSON-RPC server of github.com/creachadair/jrpc2; tests use
// its client as a peer. That server encodes results anew with encoding/json, so bytes that
// no hook changed would not come back as they were. Its queue has no bound. It links
// net/http into the program.
package daemon
