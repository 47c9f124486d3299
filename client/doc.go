// Package client lets a Go agent use hookd as a separate program: the hooks run in a
// daemon, and the agent asks it before each thing it does.
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
// Fire returns when the hooks have decided, and the agent obeys the
// [protocol.Outcome]. If Refused reports true, the thing does not happen, and the
// model reads Reason. Otherwise the agent goes on with the outcome's Event, which
// hooks may have changed. Context goes to the model, Notices to the person.
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
// client.go has the [Client] and its options. start.go has Start and Dial, and how the
// daemon is ended. session.go has the [Session], and the outcome of an event for which
// the daemon could not be asked. connection.go has the requests in flight and their
// answers.
//
// Package hookd is the other way: the hooks run from the agent's own process, without a
// daemon. docs/go.md compares the two.
package client
