//go:build !unix

package client

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func terminate(*os.Process) {} // there is no signal to ask a process to end
