package interpreter

import (
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// MountTrouble is why a program that lies at path cannot be started although its
// mode says so, nil if nothing is in the way. It is asked of what runs: where that is
// a private copy, the file system of the original does not count.
func MountTrouble(path, remedy string) *report.Problem {
	if !process.NoExec(path) {
		return nil
	}
	return &report.Problem{Why: "it lies on a file system mounted noexec, from which nothing is started: " + path, Remedy: remedy}
}

const (
	NoExecOriginal = "move it to another file system, or mount that one with exec"
	NoExecCopy     = "give the state folder another place ($XDG_STATE_HOME) and allow the hook there with hookd trust, or mount that file system with exec"
)
