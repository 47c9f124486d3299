// Package mcphttp reaches an MCP server over streamable HTTP, or over the older HTTP with SSE, as
// if it were a program that speaks over its stdin and stdout, so that one proxy guards both.
//
// [Start] returns a [proxied.Process]: each line that is written to it is posted to the
// server, and what the server says, in whatever way, is a line to read.
//
//	server.go        Start, Options, and how it ends
//	post.go          one message to the server, and what comes back
//	stream.go        streams of answers, those that are taken up again, and the server's own
//	events.go        server-sent events
//	ssetransport.go  the transport of the revision 2024-11-05, where the server has only that
//	headers.go       what is repeated in headers
//
// Rules:
//
//   - A message passes as bytes; a message that spans lines loses the blanks between its
//     tokens. Each request is answered, with an error where the server does not answer.
//   - Messages leave in their order. A request does not wait for the answer to another one.
//   - The server's address is the only one that is spoken to: keys are in the headers.
//   - Nothing is tried twice that might have had an effect. Only a stream that has broken is
//     taken up again, where the server said that it can be.
package mcphttp
