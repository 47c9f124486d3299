// Package chain makes the proxy of package acpproxy a member of a proxy chain of the Agent Client
// Protocol. A conductor starts each member and is its only connection: messages for the
// successor, which is the next proxy or the agent, and messages from it are in envelopes among
// those of the client.
//
// [Join] takes that connection apart: [Member.Client] is the client as the proxy knows it, and
// [Member.Successor] the agent. A message flows through these files:
//
//	member.go     Member: the two sides, and their ends
//	incoming.go   a line of the conductor: of which side it is
//	dialect.go    the dialects of conductors; the first request, which says which one it is
//	envelope.go   takes a message out of its envelope, and puts one in
//	outgoing.go   a line of the proxy to one of the sides
//	requests.go   the requests that have no answer, and whose they are
//	queue.go      what the proxy has not read yet
//
// Rules:
//
//   - Messages stay the bytes that they are. Of a message that goes into an envelope, or comes out
//     of one, only the method, the params and the id are put in another place.
//   - Requests of the conductor keep their ids. Those of the proxy get ids of the connection's
//     own: the two sides, and the proxy itself, may use the same ones.
//   - A $/cancel_request is about a request of this connection. It is never in an envelope.
//   - What could be read in two ways passes nothing: an envelope with a member twice, an envelope
//     in an envelope, an answer to what was not asked.
package chain
