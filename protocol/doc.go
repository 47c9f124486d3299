// Package protocol holds the words of hookd: the event a hook reads, the reply
// it writes, the table that says which reply is allowed at which event, and the
// pure rules that turn a list of replies into one outcome.
//
// Nothing in this package does I/O, starts a goroutine or reads the clock, and
// it imports no other package of this module. Everything that runs hooks is
// built on it: the executor asks hooks in order and feeds their answers to a
// [Fold]; the agent loop and the daemon obey the resulting [Outcome].
//
// The events [Table] is the specification. Validation, documentation, JSON
// Schemas, bridges to other agents and the fold all read it, so adding an event
// is adding a row.
package protocol

// Version is the protocol version this package speaks.
const Version = 1
