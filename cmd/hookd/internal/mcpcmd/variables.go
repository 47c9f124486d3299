package mcpcmd

import (
	"os"
	"strings"

	"github.com/hookd-dev/hookd/executor/proxied"
)

// takeServersVariables takes the variables that are for the server alone out of our own
// environment, and returns them under their own names. It comes before all that reads the
// environment: none of them is for hookd and its hooks.
func takeServersVariables() (variables []string) {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		own, is := strings.CutPrefix(name, proxied.ServerVariable)
		if !is {
			continue
		}
		_ = os.Unsetenv(name)
		if own != "" {
			variables = append(variables, own+"="+value)
		}
	}
	return variables
}
