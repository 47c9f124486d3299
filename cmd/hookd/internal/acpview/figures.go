package acpview

import (
	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// figures are how full the context is and what the session has cost. What a model does not tell
// is not known, and is not shown as nothing.
type figures struct {
	used, size *int64
	before     float64  // what the runs cost that have ended
	run        *float64 // what the one that goes on has cost so far
	known      bool     // some run said what it cost

	told figure // what the client knows
}

type figure struct {
	used, size int64
	cost       float64
}

// take reads the usage of a run from an event of the session's own agent.
func (f *figures) take(y *agentloop.Update, own bool) {
	u := &y.Event.Usage
	if u.CostUSD != nil && (f.run == nil || *u.CostUSD > *f.run) {
		f.run, f.known = u.CostUSD, true
	}
	if !own || u.ContextTokens == nil || u.ContextMax == nil {
		return
	}
	f.used, f.size = u.ContextTokens, u.ContextMax
}

// endRun keeps what a run has cost.
func (f *figures) endRun() {
	if f.run != nil {
		f.before += *f.run
		f.run = nil
	}
}

// update returns the figures, nothing while they are not known or are those that were told.
func (f *figures) update() []any {
	if f.used == nil || f.size == nil {
		return nil
	}
	u := &acp.Usage{Kind: acp.UsageChanged, Used: *f.used, Size: *f.size}
	if f.known {
		u.Cost = &acp.Cost{Amount: f.before, Currency: "USD"}
		if f.run != nil {
			u.Cost.Amount += *f.run
		}
	}
	now := figure{used: u.Used, size: u.Size}
	if u.Cost != nil {
		now.cost = u.Cost.Amount
	}
	if now == f.told {
		return nil
	}
	f.told = now
	return []any{u}
}
