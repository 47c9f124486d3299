// Package acpcmd is hookd acp: a guard in front of an agent that speaks the Agent Client
// Protocol, for any editor that runs it; and, without a command of an agent, hookd's own loop
// as such an agent, where this build has it ([Agent]).
//
// acp.go reads the command line. proxy.go starts the agent, or joins a proxy chain, and runs
// package executor/acpproxy. hooks.go opens the hooks of the projects that sessions work in, and
// servers.go says how an MCP server is started under guard. Package guarded starts the agent's program and
// tells the person on stderr.
package acpcmd
