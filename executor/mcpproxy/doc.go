// Package mcpproxy guards a server of the Model Context Protocol: it stands between a client
// and the server, and has hooks judge each call of a tool, each read of a resource and each
// request for a prompt. For hooks the latter two are calls of the tools that agents have for
// them.
//
// [Run] carries the messages until one side ends, and then ends the other (package proxied).
// A call goes through these files:
//
//	proxy.go       Run and Options
//	guard.go       which message is what
//	methods.go     the table of methods that hooks judge: how a request and its result are read and written
//	event.go       the events of a connection; what of an outcome cannot be carried out
//	call.go        tool-call-start: refuse, change, pass on; cancelled calls
//	permission.go  permission-request: hooks, and then the person, answer a hook's ask
//	question.go    a question to the person, as a form of the client
//	answer.go      tool-call-end and tool-call-error: withhold, change, pass on
//	unclear.go     what kind of result it is; results that could be read in two ways
//	content.go     a result as hooks read it
//	tasks.go       results that come later, as tasks
//	writeback.go   what hooks changed, in the bytes that the server wrote
//	tools.go       the server's list of tools: narrowed by rules, schemas of changed args
//	unfinished.go  calls whose server asks for input, which the client sends again
//
// Rules:
//
//   - Nothing is passed on that hooks did not judge: a call that hooks and the server could
//     read in two ways is refused, a result is withheld, an answer to no request is dropped.
//   - All else passes as bytes, in both directions and of every revision: lists, sampling,
//     elicitation, progress, methods that nobody knows.
//   - A refusal of a tool is a result with isError and the reason, so that the model can go
//     on. Results of reads cannot be errors: theirs, and the answer to what is no proper
//     request, is an error of JSON-RPC.
//   - What hooks ask for and the protocol cannot carry is told (Outcome.Lost).
package mcpproxy
