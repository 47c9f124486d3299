// Command hookd-bridge is what another agent's hook settings start where a daemon is to
// answer: the messenger. An agent starts it for every event, so its start is its cost. It
// knows nothing of events, settings or hooks. docs/daemon.md says what the daemon answers,
// and when.
//
//	hookd-bridge AGENT [EVENT] [--limit DURATION] [--start]
//
// One event goes through the files like this:
//
//   - main.go: reads the command line (arguments.go) and stdin, and sets the clock: at
//     80 % of the limit an answer must be there.
//   - askdaemon_linux.go: finds the socket of the project's daemon and asks it (message.go,
//     connection_linux.go), after checkdaemon_linux.go has made sure that hookd as it was
//     installed listens there, under our user.
//   - alone.go: if there is no such daemon, or it does not answer, becomes `hookd bridge` with
//     the input that was read and the time that is left. This is also all that it does where
//     the system does not tell who is at the other end of a socket (askdaemon_other.go).
//   - answer.go: writes what was answered. If not even hookd can be started, or time is over,
//     it refuses the event in the agent's own form (refusal.go, from the table in refusals.go).
//
// Rules: nothing that goes wrong here lets an event pass. It links neither the protocol
// nor a JSON or settings package; a test holds that. It waits for no signal: SIGTERM ends it
// at once, and the daemon ends the hooks of a caller that is gone.
package main
