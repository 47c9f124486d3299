package newcmd

import "github.com/hookd-dev/hookd/protocol"

// A subject is what the templates of an event look at: one value of its data. A hook does
// something where the value holds a word, or is the word.
type subject struct {
	event  protocol.EventName
	member string // below data, with a dot where it is a member of a member
	name   string // of the variable
	noun   string // what holds the word, or is as the word says, with its verb: a prompt that holds
	word   string // "" for the usual one
	form   form
	given  string // how a test gives the value, %s; "" for the member in data
}

// form is what the value is.
type form int

const (
	plain  form = iota // holds the word
	parts              // a text, or a list of parts, which hold the word
	equals             // a text that is the word
	number             // a number that is the word, or null
)

// subjects has a row for each event.
var subjects = []subject{
	{event: protocol.SessionStart, member: "source", name: "source", noun: "a session whose source is", word: "startup", form: equals},
	{event: protocol.SessionEnd, member: "reason", name: "why", noun: "a session that ended by", word: "error", form: equals},
	{event: protocol.PromptSubmit, member: "prompt", name: "prompt", noun: "a prompt that holds", given: "prompt: %s"},
	{event: protocol.AgentStart, member: "prompt", name: "prompt", noun: "a run whose prompt holds"},
	{event: protocol.StepStart, member: "stepsLeft", name: "left", noun: "a step whose number of steps left is", word: "1", form: number},
	{event: protocol.InferenceStart, member: "system", name: "system", noun: "a call of the model whose system text holds"},
	{event: protocol.InferenceEnd, member: "message.content", name: "answer", noun: "an answer of the model that holds", form: parts, given: "message: %s"},
	{event: protocol.ToolCallStart, member: "args.command", name: "command", noun: "a shell command that holds", given: "command: %s"},
	{event: protocol.PermissionRequest, member: "args.command", name: "command", noun: "a question about a shell command that holds", given: "command: %s"},
	{event: protocol.ToolCallEnd, member: "result.content", name: "output", noun: "the result of a tool that holds", form: parts, given: "result: %s"},
	{event: protocol.ToolCallError, member: "error.text", name: "fault", noun: "an error of a tool that holds", given: "error: %s"},
	{event: protocol.StepStop, member: "type", name: "kind", noun: "a step whose type is", word: "final", form: equals},
	{event: protocol.AgentStop, member: "response", name: "response", noun: "an end of the work whose answer holds", word: "untested", given: "response: %s"},
	{event: protocol.AgentEnd, member: "response", name: "response", noun: "a run whose answer holds", word: "untested"},
	{event: protocol.AgentError, member: "message", name: "message", noun: "an error of a run that holds"},
	{event: protocol.CompactStart, member: "instructions", name: "instructions", noun: "a compaction whose instructions hold"},
	{event: protocol.CompactEnd, member: "summary", name: "summary", noun: "a summary that holds"},
	{event: protocol.SubagentStart, member: "prompt", name: "prompt", noun: "a sub-agent whose prompt holds"},
	{event: protocol.SubagentStop, member: "response", name: "response", noun: "an end of a sub-agent whose answer holds", word: "untested"},
	{event: protocol.ThinkingStart, member: "role", name: "role", noun: "the beginning of a thought of the", word: "assistant", form: equals},
	{event: protocol.ThinkingEnd, member: "content", name: "content", noun: "a thought that holds"},
	{event: protocol.MessageStart, member: "role", name: "role", noun: "the beginning of a message of the", word: "assistant", form: equals},
	{event: protocol.MessageEnd, member: "content", name: "content", noun: "a message that holds"},
	{event: protocol.Notification, member: "text", name: "text", noun: "a notification that holds", given: "text: %s"},
}

func subjectOf(event protocol.EventName) *subject {
	for i := range subjects {
		if subjects[i].event == event {
			return &subjects[i]
		}
	}
	return nil
}
