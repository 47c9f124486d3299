// Package acpproxy guards an agent of the Agent Client Protocol: it stands between a client,
// such as an editor, and the agent, and has hooks judge what passes.
//
// [Run] carries the messages until one side ends, and then ends the other (package proxied).
// A message goes through these files:
//
//	proxy.go       Run and Options; initialize, and which version can be guarded
//	guard.go       which message is what; requests without an answer, and requests of our own
//	params.go      reads the params of what hooks judge
//	session.go     how sessions begin and end: session-start, session-end
//	mcpservers.go  the MCP servers of a session start under guard, also those in _meta
//	mode.go        keeps a session in one mode
//	prompt.go      prompt-submit: refuse, change, add to; cancelled prompts
//	promptturn.go  a turn and its end: agent-stop, agent-end, agent-error; turns that hooks have go on
//	tool.go        tool calls as updates show them: tool-call-start, -end and -error
//	toolname.go    a tool call of an agent in our names
//	permission.go  session/request_permission: tool-call-start, permission-request, the person's answer
//	clientcall.go  what the agent asks the client to do: files, commands
//	terminal.go    the output of these commands
//	outcome.go     what of an outcome cannot be carried out; what the person at the client reads, and answers
//
// Rules:
//
//   - What hooks and the agent, or hooks and the client, could read in two ways is refused.
//   - All else passes as bytes, in both directions. Messages of one session never overtake
//     each other while hooks are asked about one of them.
//   - A refusal of a permission chooses among the options by their kind, never by their id.
//   - What hooks ask for and the protocol cannot carry is told (Outcome.Lost). A tool that the
//     agent runs without asking cannot be stopped: if hooks refuse it, its turn is cancelled.
package acpproxy
