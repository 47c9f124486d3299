// Package readreply decides what a program has answered: it turns the output of a
// hook and the way its process ended into a reply or a failure of package protocol.
//
// A hook that says no must be heard even if all else about its reply is wrong, and
// nothing may be taken for a yes that the hook did not write as one. So the same
// bytes are read twice, and the two readings have different rules:
//
//   - readreply.go: [Read] is the order of the questions: was the event given up, is
//     there a refusal, how did the process end, is there exactly one valid reply.
//     [Limits] bound what is read. [Answers] tells a hook that stays alive has
//     finished its turn.
//   - exit.go: what the end of the process says, and the words for it: exit code 2, an
//     interpreter that could not run the program, the end of stderr.
//   - stdout.go finds the JSON objects that begin a line. It minds the structure of
//     JSON and not its details.
//   - decode.go reads one object: strictly, or leniently where it is a refusal. It
//     names the nearest member for one that is misspelt, and what to write for one of
//     another agent's protocol.
//
// The package does no I/O and does not know how a process is run. Whether a reply is
// allowed at an event is protocol.CheckReply's to say; what it does to the event is
// the fold's.
package readreply
