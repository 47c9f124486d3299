//go:build unix

package client

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps a Ctrl-C at the terminal from reaching the daemon: it is the
// agent that decides when it ends.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }
