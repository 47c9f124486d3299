// Package rule is the answer of a hook without a program: a settings entry that carries
// its reply itself.
//
//	reply.go  [Reply]: what such an entry answers, as it is written and allowed;
//	          [Compile] checks it against the table of events
//	parts.go  the texts of a reply, which may name parts of the event: ${data.args.command}
//
// A description is compiled when it is loaded, so that a reply which an event does not
// allow, and a part that no event has, are faults of the description with file and line.
// [Answer.At] makes the reply to one event, without a process and without a look at
// anything but the event. The executor folds it as it folds the reply of any hook.
//
// Rules:
//
//   - The table of events says what a rule may answer: [protocol.CheckReply] decides, as
//     for every hook.
//   - A part is text, whatever it holds: it is never expanded again, has at most
//     [LongestPart] characters, and what does not show is made visible.
//   - Nothing that a tool or a model returned is a part, since a person and the model read
//     the text as the words of the rule.
package rule
