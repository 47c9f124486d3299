package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// account is whose time is added up against a budget. The hooks of each layer, and of
// each project, have a budget of their own, by its settings: slow hooks of the project
// leave the machine's theirs. In a layer, hooks that may fail (onFailure=continue) do
// not use up the time of those that must answer, and programs not that of hooks in Go,
// which are the loop's own features.
type account struct {
	origin  protocol.Origin
	mayFail bool
	goHook  bool
}

func accountOf(h *Hook) account {
	return account{originOf(h), h.OnFailure == protocol.RuleContinue && !h.Required, h.Info().InProcess}
}

// whose names an account in a message.
func (a account) whose() string {
	if a.mayFail {
		return fmt.Sprintf("hooks of the %s layer that may fail", a.origin)
	}
	return fmt.Sprintf("hooks of the %s layer that must answer", a.origin)
}

// budget is the context of a hook that is waited for. Asking a person is outside of
// every budget.
func (t *trip) budget(parent context.Context, h *Hook) (context.Context, context.CancelFunc) {
	of, limit := accountOf(h), t.set.of(h).Budget
	ctx, cancel := context.WithTimeoutCause(parent, limit-t.used[of], &protocol.Failure{
		Kind:   protocol.FailBudget,
		Detail: fmt.Sprintf("the event's budget of %s for all %s is used up", limit, of.whose()),
		Remedy: "make the hooks of this event faster, or raise hooks.budget",
	})
	if !t.alone() {
		return ctx, cancel
	}
	ctx, over := t.withinDrain(ctx, h)
	return ctx, func() { over(); cancel() }
}

// charge takes time off a budget.
func (t *trip) charge(of account, took time.Duration) {
	if t.used == nil {
		t.used = map[account]time.Duration{}
	}
	t.used[of] += took
}
