package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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

// drain is how long the output of an ended command is still read: a process it
// left running may hold the pipe always.
const drain = 250 * time.Millisecond

// Sessions is the plain [Runner]: every command gets its own session, and its
// process group is ended with it. What escapes into another session survives;
// the contained runtime of the executor does better.
type Sessions struct{}

// Run runs a command as [Runner] says.
func (Sessions) Run(ctx context.Context, command Command, out io.Writer) (Ended, error) {
	if ctx.Err() != nil {
		return Ended{}, context.Cause(ctx)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return Ended{}, err
	}
	defer read.Close()
	cmd, err := start(command, write)
	write.Close()
	if err != nil {
		return Ended{}, err
	}

	copied := make(chan struct{})
	go func() {
		defer close(copied)
		io.Copy(out, read) // ends with the last writer, or with the deadline below
	}()
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()

	select {
	case err = <-waited:
	case <-ctx.Done():
		endGroup(cmd.Process)
		err = <-waited
	}
	// The group is ended after a natural end too: nothing a tool started stays.
	endGroup(cmd.Process)
	read.SetReadDeadline(time.Now().Add(drain))
	<-copied
	if ctx.Err() != nil {
		return Ended{}, context.Cause(ctx)
	}
	return ended(cmd, err)
}

func start(command Command, output *os.File) (*exec.Cmd, error) {
	path, err := LookPath(command.Argv[0], command.Env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: command.Argv, Dir: command.Dir, Env: command.Env, Stdout: output, Stderr: output}
	ownSession(cmd)
	return cmd, cmd.Start()
}

func ended(cmd *exec.Cmd, err error) (Ended, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Ended{}, err
	}
	return Ended{Exit: cmd.ProcessState.ExitCode(), Signal: signalName(cmd.ProcessState)}, nil
}

// LookPath finds a program on the PATH of the command's own environment, not
// on ours.
func LookPath(name string, env []string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	for _, variable := range env {
		list, isPath := strings.CutPrefix(variable, "PATH=")
		if !isPath {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if !filepath.IsAbs(dir) {
				continue
			}
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s was not found on PATH", name)
}
