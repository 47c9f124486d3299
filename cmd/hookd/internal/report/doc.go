// Package report shows people what hooks are and what they did. It only prints: a command
// that shows such a thing calls it, so that it looks the same everywhere.
//
// [Outcome] (outcome.go) prints what the hooks of an event decided, and [Runs] (runs.go)
// each hook's part in it. [Warnings] (warnings.go) is the one place where warnings are
// printed: hooks that could not be asked, and what has to be said of their answers.
// A warning is part of a run, so that no command can forget it. [Findings] (findings.go)
// prints what is wrong with files, [Listing] (listing.go) the table of hooks and why some
// of them do not run, and [Resources] (resources.go) skills, recipes and MCP servers.
// args.go shows the arguments of a tool call.
//
// What a hook removed from an event is told by who, where and how much, never with its
// text (see protocol.Outcome.Shows).
package report
