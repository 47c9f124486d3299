//go:build unix && !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package loader

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

// G21: nothing of a project has an effect before it was allowed, its settings no
// more than its hooks.
func TestSettingsOfAnUntrustedProjectHaveNoEffect(t *testing.T) {
	tried := 0
	for _, format := range []string{"json", "yaml"} {
		w := provedWorld(t)
		want := rulingOf(w.load())
		for i := range schema.Keys {
			key := &schema.Keys[i]
			for _, value := range textsFor(key) {
				mark := w.path("mark")
				w.write(w.path(".acai", "acai."+format), nested(key.Name, strings.ReplaceAll(value, "MARK", mark)), 0o644)
				got := rulingOf(w.load())
				if diff := cmp.Diff(want, got, compareRulings); diff != "" {
					t.Errorf("%s: %s (-without it +with it):\n%s", key.Name, value, diff)
				}
				tried++
			}
		}
		if exists(w.path("mark")) {
			t.Error("something of the project ran")
		}
	}
	prove.Figure(t, "G21", "%d settings of a project that nobody allowed, every key of the table: 0 effects", tried)
}
