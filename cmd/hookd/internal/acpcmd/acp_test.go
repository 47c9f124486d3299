package acpcmd

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

type noAgent struct{}

func (noAgent) Flags(*pflag.FlagSet)        {}
func (noAgent) Serve(context.Context) error { return nil }

// The help says first how hookd is the agent itself, where this build can be one, and never that it
// can where it cannot.
func TestHelpOfBothForms(t *testing.T) {
	for name, test := range map[string]struct {
		agent   Agent
		use     string
		example string
	}{
		"whole": {noAgent{}, "acp [flags] [-- AGENT", "  hookd acp\n"},
		"lean":  {nil, "acp [--mode ID] -- AGENT", "  hookd acp --mode default -- "},
	} {
		c := (&Commands{Agent: test.agent}).ACP()
		if !strings.HasPrefix(c.Use, test.use) || !strings.HasPrefix(c.Example, test.example) || strings.Contains(c.Long, "own loop") != (test.agent != nil) {
			t.Errorf("%s: %q, %q, %q", name, c.Use, c.Example, c.Long)
		}
	}
}
