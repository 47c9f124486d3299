// Package bridge answers the hook calls of other agents: it reads what an agent wrote
// (packages dialect and hosts translate), has hooks decide it, and returns what the program
// that the agent started must write and its exit code.
//
// Both ways in use it, so that an agent gets the same answer from both: `hookd bridge`,
// which loads the hooks itself, and the method bridge/event of the daemon, which has them.
//
//	answercall.go  Call → Reply
//
// Whatever goes wrong on the way, an event that the agent can refuse is refused: its input
// cannot be read, hooks cannot be loaded, time is over.
package bridge
