// Package bridgecmd is hookd bridge: what other agents' hook settings start.
//
// bridge.go reads what the agent wrote to stdin, loads the hooks, and has package
// executor/bridge answer in the agent's own words and with its exit codes. Nothing but that
// answer goes to stdout. Whatever goes wrong on the way, an event that the agent can
// refuse is refused: its input cannot be read, hooks cannot be loaded, time is over.
//
// The messenger, hookd-bridge, is what is started where a daemon does this work; when it
// cannot use one it becomes this command (start.go starts a daemon for the next event).
package bridgecmd
