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

// drain is how long the output of an ended command is still read: a process it
// left behind may hold the pipe for ever.
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
