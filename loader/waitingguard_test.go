//go:build unix

package loader

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What this version reads and does not act on is said; a restriction that
// somebody may rely on is an error.
func TestSettingsWithoutEffectAreReported(t *testing.T) {
	for name, test := range map[string]struct {
		agent, hooks string // objects of the user's settings
		want         []string
	}{
		"denied commands":            {agent: `{"tools":{"bash":{"deny":["rm"],"allow":["ls"]}}}`},
		"stricter approval":          {agent: `{"approval":{"mode":"deny"}}`},
		"looser approval":            {agent: `{"approval":{"mode":"allow"}}`},
		"approval as it is":          {agent: `{"approval":{"mode":"ask","whenAlone":"deny","timeout":"1m"}}`},
		"a limit of tokens":          {agent: `{"limits":{"tokens":1000,"steps":3,"time":"1m","toolCalls":2}}`},
		"limits of a budget":         {agent: `{"limits":{"cost":1.5,"totalTokens":1000},"prices":[{"model":"m*","inputPerMTok":1,"outputPerMTok":2}]}`},
		"features":                   {agent: `{"providers":["bash"],"features":["metadata"]}`},
		"no limit of tokens":         {agent: `{"limits":{"tokens":0}}`},
		"hooks of another agent":     {hooks: `{"import":["claude"]}`},
		"pools of standby processes": {hooks: `{"standby":{"pool":3,"idle":"1m"}}`},
		"tools of servers":           {agent: `{"mcpServers":{"m":{"command": "/bin/sh"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var parts []string
			if test.agent != "" {
				parts = append(parts, `"agent":`+test.agent)
			}
			if test.hooks != "" {
				parts = append(parts, `"hooks":`+test.hooks)
			}
			w.userSettings("{" + strings.Join(parts, ",") + "}")
			var got []string
			for _, text := range lines(w.load().Findings) {
				got = append(got, strings.ReplaceAll(text, filepath.Join(w.home, ".acai")+"/", ""))
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
