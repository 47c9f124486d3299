package tool

import (
	"os"
	"os/exec"
)

// Windows has no sessions in this sense: only the process itself is ended.
func ownSession(*exec.Cmd) {}

func endGroup(process *os.Process) { process.Kill() }

func signalName(*os.ProcessState) string { return "" }
