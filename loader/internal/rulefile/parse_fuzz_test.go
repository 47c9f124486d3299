package rulefile

import (
	"testing"

	"github.com/hookd-dev/hookd/schema"
)

// Whatever a file holds, a problem in it leaves a description with a fault, which refuses
// in the place of the guard that may have been meant.
func FuzzParse(f *testing.F) {
	f.Add([]byte("rules:\n  - name: a\n    events: [tool-call-start]\n    reply: { action: block, reason: no }\n"))
	f.Add([]byte("rules: []\n"))
	f.Add([]byte("rules: [\n"))
	f.Add([]byte("rule:\n  - name: a\n"))
	f.Add([]byte("rules:\n  - name: a\n  - name: a\n    command: [x]\n"))
	f.Add([]byte("rules: &a\n  - *a\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		rules, findings := Parse("x.rules.yaml", content)
		errors, faults := 0, 0
		for _, f := range findings {
			if f.Severity == schema.SeverityError {
				errors++
			}
		}
		for i := range rules {
			if len(rules[i].Faults) > 0 {
				faults++
			} else if rules[i].Name == nil || rules[i].Reply == nil || rules[i].Command != nil {
				t.Errorf("a description without a fault is no rule: %+v", rules[i])
			}
		}
		if errors > 0 && faults == 0 {
			t.Errorf("%v, and no description has a fault", findings)
		}
	})
}
