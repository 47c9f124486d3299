package proxied

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// What is hookd's own is named as that, and a hook as a hook, also one with the same name.
func TestWhoDecided(t *testing.T) {
	for _, test := range []struct {
		by     string
		source protocol.Layer
		want   string
	}{
		{"", "", "hookd"},
		{"hookd", protocol.Builtin, "hookd"},
		{"self-protection", protocol.Builtin, "the hook self-protection"},
		{"guard.sh", protocol.User, "the hook guard.sh"},
		{"hookd", protocol.Project, "the hook hookd"},
	} {
		o := protocol.Outcome{By: &test.by, Runs: []protocol.Run{{Hook: test.by, Source: test.source}}}
		if got := Who(&o); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
