// Package servecmd is hookd serve: the daemon that decides the events of other agents.
//
// serve.go listens, on stdin and stdout or on a socket, and runs package daemon. For each
// project that a client names, projects.go opens the hooks, follows their changes, and
// writes to the log what no answer to a client holds. Nothing but the protocol goes to
// stdout. For the program of another agent's hook call, caller.go says whether the hooks
// would decide alike in that program itself. control.go is --status and --stop.
package servecmd
