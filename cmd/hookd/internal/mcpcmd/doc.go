// Package mcpcmd is hookd mcp: a guard in front of an MCP server, for any program that calls
// its tools.
//
// mcp.go reads the command line, opens the hooks of the working directory's project, and runs
// package executor/mcpproxy. web.go reaches a server by its
// address (package executor/mcphttp). variables.go takes the variables that are the server's alone out of
// our environment. name.go says what the server is called where nobody does.
// Package guarded starts the server's program and tells the person on stderr, which hosts
// keep in the log of the server.
package mcpcmd
