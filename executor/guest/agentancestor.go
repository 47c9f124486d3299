package guest

import (
	"fmt"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
)

// NotBelowAgent fails if an agent has started this process, as far as its variables and
// those of the processes above it say: what weakens hooks is a person's decision.
func NotBelowAgent(environ []string) error {
	if agent := hookenv.AgentIn(environ); agent != "" {
		return fmt.Errorf("%s has started this command", agent)
	}
	for _, above := range process.Ancestors() {
		if agent := hookenv.AgentIn(above.Environ); agent != "" {
			return fmt.Errorf("%s has started this command (process %d)", agent, above.Pid)
		}
	}
	return nil
}
