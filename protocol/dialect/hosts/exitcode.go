package hosts

import "github.com/hookd-dev/hookd/protocol/dialect"

// writeExitCode answers an agent that takes no object.
func writeExitCode(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	if v.Refuse {
		return dialect.Answer{Exit: 2, Stderr: v.Reason}
	}
	a := dialect.Answer{}
	if v.Context != "" {
		a.Stdout = []byte(v.Context + "\n")
	}
	return a
}
