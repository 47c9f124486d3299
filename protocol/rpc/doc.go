// Package rpc carries JSON messages over a byte stream, one message a line, and
// knows the few members that every JSON-RPC 2.0 message has.
//
// It serves two ends. The daemon and its clients read requests and responses with
// [Parse] and write them with the Append functions. What stands between two other
// programs is package relay: ids, params and results stay the bytes that they were.
//
// A line longer than the limit is not an end of the stream: the rest of it is
// skipped without being kept, [Reader.Next] says so in a [TooLongError], and
// the line after it is read as any other. A [Writer] puts each message out as a
// whole and refuses one that would tear the framing, so nothing but whole lines
// ever stands on the stream. [Overlong] finds out which message a line was that is
// too long to be kept, so that who waits for an answer gets one.
package rpc
