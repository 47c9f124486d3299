// Package provider holds what an extension of the agent loop is made of.
//
// A [Provider] is one feature: hooks written in Go, and tools that go with them. All
// that the loop does beyond its stages comes from providers (those of package builtin
// come with the program) or from hooks outside the program.
//
// While a Go hook or a tool of the loop is at work, its context knows the run:
// [RunContextOf] returns it. Through it a feature sets the run's limits, reads what the
// run and its sub-agents have used, and starts sub-agents.
package provider
