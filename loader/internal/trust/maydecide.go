package trust

import (
	"errors"
	"fmt"
	"os"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
)

// MayDecide refuses where a hook or an agent's tool is on the way up to this
// process, of hookd's or of another agent: a person's decision is not theirs to make. Its own environment, that of
// each process above it, hookd itself among those and the control group that it is in
// each count by itself: a process may shed some of them. What outlived its parent was
// handed to the hookd that began it. docs/platforms.md says what is not seen.
func MayDecide() error {
	if agent := hookenv.AgentIn(os.Environ()); agent != "" {
		return fmt.Errorf("%w (%s has started this command)", ErrBelow, agent)
	}
	for _, above := range process.Ancestors() {
		if agent := hookenv.AgentIn(above.Environ); agent != "" {
			return fmt.Errorf("%w (%s has started this command, process %d)", ErrBelow, agent, above.Pid)
		}
	}
	return MayInstall()
}

// MayInstall is MayDecide without other agents, which a person may ask to have hookd
// installed: that takes nothing away.
func MayInstall() error {
	if hookenv.FromHookd(os.Environ()) {
		return fmt.Errorf("%w (the environment says so: %s=%s)", ErrBelow, hookenv.VarDepth, os.Getenv(hookenv.VarDepth))
	}
	if process.CgroupDepth() > 0 {
		return fmt.Errorf("%w (this process is in a control group of hookd's)", ErrBelow)
	}
	for _, above := range process.Ancestors() {
		if above.Runs || hookenv.FromHookd(above.Environ) {
			return fmt.Errorf("%w (process %d)", ErrBelow, above.Pid)
		}
	}
	return nil
}

// ErrBelow says that this process was started by a hook or an agent run, where
// nothing is ever granted.
var ErrBelow = errors.New("trust is not granted below a hook or an agent run")
