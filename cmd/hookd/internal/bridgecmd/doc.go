// Package bridgecmd is hookd bridge: what other agents' hook settings start.
//
// bridge.go reads what the agent wrote to stdin, has the hooks decide it, and answers in
// the agent's own words and with its exit codes (package dialect translates). Nothing but
// that answer goes to stdout. Whatever goes wrong on the way, an event that the agent can
// refuse is refused: its input cannot be read, hooks cannot be loaded, time is over.
package bridgecmd
