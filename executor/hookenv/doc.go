// Package hookenv says what the environment of a program that hookd starts holds:
// of a hook, a tool or a server. It passes on an allow list and what settings name,
// never the host's secrets.
//
// [Variables] is the specification, one row for each variable: whose value it has,
// whose hooks get it without naming it, and why. [Allowed] and [ForHook] make an
// environment by it, and the documentation prints it with [Markdown].
//
//	variables.go    the table, and which variables it lets pass
//	env.go          Config → the list for exec: PATH, HOME and the others
//	loadscode.go    variables whose value makes a program run other code
//	depth.go        how many hooks and tools stand above this process
//	traceparent.go  the id of one run (W3C Trace Context)
//	account.go      what the user database says, whatever the environment says
//
// Rules:
//
//   - A variable that hookd sets itself is never replaced by one that a hook or a
//     setting names.
//   - The environment of a machine's hook (Config.Machine) depends on nothing that
//     the caller could choose.
//   - HOOK_DEPTH rises by one with each start, so that an agent which starts itself
//     from its own hooks is stopped by hooks.maxDepth.
package hookenv
