//go:build unix

package tool

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endGroup kills the session's first process group. A group id is not given
// out again while one of its processes lives, and an empty group is no error.
func endGroup(process *os.Process) { unix.Kill(-process.Pid, unix.SIGKILL) }

func signalName(state *os.ProcessState) string {
	if status, isWait := state.Sys().(syscall.WaitStatus); isWait && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}
