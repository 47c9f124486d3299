// Package interop runs hookd against programs that others wrote: servers of MCP,
// and the client libraries of model providers. Its tests have the build tag
// interop: they install their peers with npm into a folder that is removed
// again, and skip, with a word, what cannot be had. `make interop` runs them.
package interop
