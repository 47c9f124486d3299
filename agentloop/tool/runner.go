package tool

import (
	"context"
	"io"
)

// Command is a program to run, without a shell in between.
type Command struct {
	Argv []string // the program first; an absolute path or found on the PATH of Env
	Dir  string   // absolute working directory
	Env  []string // the whole environment, NAME=value
}

// Ended is how a command ended by itself.
type Ended struct {
	Exit   int    // exit code, -1 if a signal ended it
	Signal string // its name, "" without one

	// Left are the names of the processes that it left running, which were ended, as
	// far as the Runner can tell.
	Left []string
}

// Runner runs one command to its end and writes what it prints, both streams,
// to out. Writes come one at a time and none after Run has returned. When the
// context ends, Run ends the command with everything it started and returns
// the context's cause, at most 250 ms late. An error means that the command
// could not be run to its end.
type Runner interface {
	Run(ctx context.Context, command Command, out io.Writer) (Ended, error)
}
