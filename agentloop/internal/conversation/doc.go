// Package conversation holds the messages of one agent.
//
// A [History] is the conversation with its system text. What is added to it is written
// to the session's file first, if it has one (history.go). Events carry the whole
// conversation, so the JSON of its messages is kept (encode.go).
//
// What comes from outside is checked or repaired before it counts: a resumed session by
// [Open], a conversation that a compaction made by [Check] (check.go), the tool calls of
// a model's answer by [MendCalls] (mendcalls.go).
//
// What a compaction keeps and what it sums up says [SplitForCompaction]
// (compactionsplit.go).
package conversation
