// Package peer is one end of a JSON-RPC connection on which both sides call, one message a
// line.
//
// A [Peer] reads the other side and hands over each request and notification in the order of
// its arrival, one at a time ([Options].Receive), so that what follows a request finds it
// noted. The receiver answers at once, or later from another goroutine ([Request]).
//
//	peer.go     Run: read, find the request or the waiting call that a line belongs to
//	request.go  a request of the other side, and its one answer
//	call.go     calls and notifications of this side
//	outbox.go   what waits to be written, bounded
//
// Order: what this side sends leaves in the order in which the methods were called. [Peer.Begin]
// returns when a call has its place, so that what is sent after it follows it.
//
// Bounds: a line has at most Options.Limit bytes; a longer one is skipped, and answered with an
// error. What is sent waits while the other side does not read; answers do not wait, since they
// are sent by who reads. If too many of them wait nothing is read.
//
// Ends: Run returns when the other side has said its last message or its context has ended. All
// requests' contexts end then, and waiting calls fail. [Peer.Close] waits a while for what is
// still to be written. A read or a write that the system holds is not waited for.
package peer
