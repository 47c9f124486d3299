// Package mcpcmd is hookd mcp: a guard in front of an MCP server, for any program that calls
// its tools.
//
// mcp.go reads the command line, opens the hooks of the working directory's project, and runs
// package executor/mcpproxy. server.go starts the server's program, contained as hooks are,
// and passes its stderr on. name.go says what the server is called where nobody does. Nothing
// but the protocol goes to stdout; what a person should know goes to stderr (tell.go), which
// hosts keep in the log of the server.
package mcpcmd
