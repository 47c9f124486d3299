// Package client lets a Go agent use hookd as a program of its own: the hooks
// run in a daemon, and the agent asks it before each thing it does.
//
//	c, err := client.Start(ctx, client.Options{Name: "my-agent"})
//	if err != nil { … }
//	defer c.Close()
//	session, err := c.Open(ctx, client.SessionOptions{Cwd: dir})
//	if err != nil { … }
//	outcome, err := session.Fire(ctx, protocol.Event{
//		Event: protocol.ToolCallStart,
//		Data:  protocol.RawMessage(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls"},"parallel":1}`),
//	})
//
// # Obeying
//
// Fire returns when the hooks have decided, and the agent does what the
// [protocol.Outcome] says: where Refused reports true the thing does not happen
// and Reason is what the model reads; else the agent goes on with the outcome's
// Event, which hooks may have changed. Context goes to the model, Notices to the
// person.
//
// A [Session] never lets an event pass unasked: an error means that ctx ended and
// nothing else. If the daemon dies, gates are refused.
//
// # Connections
//
// [Start] runs hookd serve as a child process and owns it. [Dial] talks to a
// daemon that others use too, over its Unix socket, after a check that it is
// one. Sessions end with the connection that opened them.
//
// # Order
//
// Events of a session begin in the order in which Fire was called. Those with
// different tool calls run side by side, any other waits for all before it. So
// fire the events of parallel calls from as many goroutines, and the others one
// after the other.
//
// # Cancelling
//
// When ctx ends, Fire returns its cause at once, and the daemon ends the hooks
// that ran for the event, with everything they started.
//
// # Files
//
// client.go has the [Client] and its options, start.go what Start and Dial do and how
// the daemon is ended, session.go the [Session] and what an event comes to that could
// not be asked about, connection.go the requests in flight and their answers.
//
// The other way, hookd's packages inside the agent without a daemon, is that of
// package executor; docs/go.md compares the two.
package client
