// Package protocol holds the types and rules that all of hookd shares: the event that a
// hook reads, the reply that it writes, the table that says which reply is allowed at
// which event, and the pure rules that turn a list of replies into one outcome.
//
// # Writing a hook or a host in Go
//
// A hook is a [GoHook]: a function from an [Event] to a [Reply]. [ReadData],
// [ReadArgs] and [ReadState] read what it was asked about into structs;
// [BlockReply], [AskReply], [ModifyData], [ModifyArgs] and the others make its
// reply. A hook that returns an error could not be asked, and its [Rule] decides:
// an error never lets an event pass as if the hook had nothing to say.
//
// A host makes events with [NewEvent], gives them to an [EventGate] and obeys the
// [Outcome]: [Outcome.Refused], the event to go on with, context, notices. See the
// examples. JSON is [RawMessage], which is the type of encoding/json.
//
// # How one event flows through this package
//
//   - hook.go: who a hook is, and where it comes from.
//   - event.go: the envelope; data.go: the data of each event; table.go: what a row
//     of the table says, and [Table], which is the specification. Adding an event is
//     adding a row.
//   - decode.go: [DecodeEvent] reads an event strictly, checkdata.go holds its data
//     against the Go type of its row.
//   - event.go: [Encode] writes the event once for all hooks, ForHook completes it
//     for each.
//   - readreply/ turns the output and the end of a program into a [Reply] or a
//     [Failure]; hooks in Go return their reply. reply.go: both, and [Answer].
//   - rules.go: [CheckReply] says whether this hook may answer that at this event.
//   - apply.go: [Apply] changes the event as a reply asks, within what the row
//     allows; messages.go checks changed messages.
//   - fold.go: a [Fold] and the values it is made of (the decision, what follows it,
//     the changes, the context). foldadd.go: Add takes the answers in running order
//     and says what each of them adds, and what a failure does. outcome.go: the
//     [Outcome] that the fold ends in.
//   - gate.go: [EventGate], which is all that an agent loop needs, and the helpers
//     for hooks and hosts in Go.
//
// # Rules
//
// Nothing here does I/O, starts a goroutine or reads the clock (except [NewID]).
// The package imports nothing of this module but internal/. Bytes that no hook changed
// stay as they were: raw JSON is edited by internal/jsonspan and never decoded and
// encoded again. "Could not be asked" and "said no" are different types: a
// [Failure] is never a reply. The packages below this one are readreply, patterns, tables (the
// tables of the documentation), rpc and realpath.
package protocol

import "encoding/json"

// Version is the protocol version this package speaks.
const Version = 1

// RawMessage is the bytes of a JSON value, as encoding/json has it: a user
// of this package needs no other JSON library than the standard one.
type RawMessage = json.RawMessage
