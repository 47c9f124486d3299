// Package relay carries JSON-RPC messages between two programs, the client and the server,
// one message a line, and lets a third one decide what becomes of each.
//
// A [Relay] reads both sides. For each message it calls the function of that side
// ([Options]), which answers at once with a [Decision]: [Pass], [Drop], [Answer] the
// sender, or [Later] where hooks have to be asked first. Messages pass as the bytes that
// they are: ids, numbers, the order of members, blanks and members that nobody knows. What
// was changed is put in the place of one member ([Message.With], [Replace]).
//
//	message.go   Read: a line → Message or Fault; With and Replace edit in place
//	decision.go  what may become of a message
//	way.go       one direction: read, decide, keep the order, pass on
//	bounds.go    bounds what waits for decisions
//	outbox.go    what waits to be written to one side, bounded
//	relay.go     both directions, and their ends
//	lines.go     the lines that the relay itself writes
//
// Order: a message never overtakes an earlier one, except one that waits for its decision.
// Messages of one lane (see [Later]) do not overtake those either: they are decided at the
// same time, and leave in the order in which they came.
//
// Bounds: a line has at most Options.Limit bytes; a longer one is skipped, and answered
// with an error if it was a request. A side that does not read makes the relay stop
// reading the other side once its outbox is full.
//
// What waits for decisions is bounded by itself in each lane, so that one that is full does not
// hold up others. When the next message is of that lane, it does: the messages of all lanes come
// one after the other, so to read on the relay would have to keep it, and to leave it out would
// lose it. Then no more of that side is read until the lane moves, or is given up.
//
// Ends: when one side has said its last message and all of them are decided and passed on,
// the other side's input is closed. Nothing here starts or ends programs.
package relay
