package loader

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
)

// mayDecide refuses where a hook or an agent's tool is on the way up to this
// process: a person's decision is not theirs to make. The ancestors are looked at
// too, so that unsetting the variable is not enough, and so is hookd itself among
// them: what outlived its parent was handed to the hookd that began it, or to the
// first process of its namespace. In a control group it may have gone to any.
func mayDecide() error {
	if executor.ProcessDepth() > 0 {
		return fmt.Errorf("%w (%s=%s)", ErrBelow, executor.EnvDepth, os.Getenv(executor.EnvDepth))
	}
	if process.Contained() {
		return fmt.Errorf("%w (this process is in a control group of hookd's)", ErrBelow)
	}
	pid := os.Getppid()
	for range 100 {
		if pid < 1 {
			return nil
		}
		if environHasDepth(pid) || isHookd(pid) {
			return fmt.Errorf("%w (process %d)", ErrBelow, pid)
		}
		pid = parentOf(pid)
	}
	return nil
}

// environHasDepth reads the environment a process was started with, where the
// system shows it.
func environHasDepth(pid int) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	return executor.Depth(strings.Split(string(environ), "\x00")) > 0
}

// isHookd reports whether another process runs the program that we are.
func isHookd(pid int) bool {
	theirs, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return false
	}
	ours, err := os.Stat("/proc/self/exe")
	return err == nil && os.SameFile(ours, theirs)
}

// parentOf returns 0 where the system does not say.
func parentOf(pid int) int {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name stands in parentheses and may hold anything.
	_, rest, _ := strings.Cut(string(line[bytes.LastIndexByte(line, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
