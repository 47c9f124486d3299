package daemon

import (
	"slices"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// What a host cannot carry out is what its record says, too: each notice that is added to
// the outcome, and nothing that hooks said themselves.
func TestLostIsWhatIsTakenAway(t *testing.T) {
	hook := "guard"
	out := protocol.Outcome{Action: protocol.Ask, By: &hook, Callback: &protocol.CallbackCall{Name: "review", By: "helper"},
		Notices: []protocol.HookText{{Hook: hook, Text: "hello"}}}
	want := []string{
		"the hook guard wants a person to decide, and this host cannot ask one: refused",
		`the hook helper asked for the recipe "review", and this host cannot run recipes: lost`,
	}
	if got := (Capabilities{}).lost(&out); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !protocol.RefusesAsk(want) {
		t.Error("a reader of the record does not see that the ask was refused")
	}
	if got := ours.lost(&out); got != nil {
		t.Errorf("a host that can do all loses %q", got)
	}
	if out.Action != protocol.Ask || len(out.Notices) != 1 {
		t.Errorf("the outcome was changed: %+v", out)
	}
}
