// Package mcp lets a model call the tools of MCP servers. [Connect] starts the
// servers in the background; what comes back is a [tool.Source], whose tools are
// named mcp__server__tool and join when their server is ready.
//
// A server is a program that speaks over its stdin and stdout, or one that is
// reached over streamable HTTP (or the older SSE). The protocol itself is the
// official SDK's: revision 2026-07-28, and back to 2024-11-05. Of what a client
// may offer, roots are offered (the project) and sampling and elicitation are
// not: a server neither uses the user's model nor questions the user.
//
// A server can neither stop the loop nor outlive it. One that does not start,
// dies, hangs, floods or talks nonsense is told of once, its calls end at once
// with a text that the model can read, and it is started again with growing
// pauses.
package mcp
