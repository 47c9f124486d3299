package main

import (
	"errors"
	"os"
)

// replace runs a program to its end and ends this one with its exit code. It returns if it
// cannot be started.
func replace(path string, argv []string) {
	process, err := os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return
	}
	state, err := process.Wait()
	if err != nil {
		os.Exit(refusingExit)
	}
	os.Exit(state.ExitCode())
}

// putOnStdin is not needed: no daemon is asked, so nothing was read.
func putOnStdin([]byte) error { return errors.ErrUnsupported }

// startedAs is needed on Linux only.
func startedAs() (string, error) { return "", errors.ErrUnsupported }
