// Package interop runs hookd against programs that others wrote: servers of MCP, the
// client libraries of model providers, and agents. Its tests have the build tag interop:
// they install their peers with npm into a folder that is removed again, and skip, with a
// word, what cannot be had. `make interop` runs them.
//
// hookd is installed into an agent as a person does it (agents_test.go). The agent has keys
// that are none, and asks a mock model (agentmodel_test.go), which wants commands run that
// hooks refuse and change.
package interop
