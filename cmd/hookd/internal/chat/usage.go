package chat

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
)

// usage is what the turns of a conversation have used since hookd began. What a model does
// not tell is not known, and is not shown as nothing.
type usage struct {
	before protocol.RunUsage // of the turns that ended
	turn   protocol.RunUsage // of the one that runs, as its last event said
	rooted bool
	root   int // depth of the turn's own agent
}

func (u *usage) begin() { u.turn, u.rooted = protocol.RunUsage{}, false }

// take reads the usage of the turn, sub-agents included, from an event of its own agent.
func (u *usage) take(y *agentloop.Update) {
	if y.Kind != agentloop.UpdateEvent {
		return
	}
	if !u.rooted {
		u.root, u.rooted = y.Event.Agent.Depth, true
	}
	if y.Event.Agent.Depth == u.root {
		u.turn = later(u.turn, y.Event.Usage)
	}
}

// end takes the usage of the whole turn, nothing if it was not told.
func (u *usage) end(whole protocol.RunUsage) {
	u.before = u.sum(later(u.turn, whole))
	u.turn = protocol.RunUsage{}
}

// later returns what of two reports of one turn is known, the second one first. A sum never
// shrinks: a nested run may report only its own.
func later(old, now protocol.RunUsage) protocol.RunUsage {
	old.InputTokens, old.OutputTokens, old.CostUSD = larger(old.InputTokens, now.InputTokens), larger(old.OutputTokens, now.OutputTokens), larger(old.CostUSD, now.CostUSD)
	if now.ContextTokens != nil {
		old.ContextTokens = now.ContextTokens
	}
	if now.ContextMax != nil {
		old.ContextMax = now.ContextMax
	}
	return old
}

func larger[N int64 | float64](a, b *N) *N {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func plus[N int64 | float64](a, b *N) *N {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(*a + *b)
}

// sum returns the usage of the turns before and of one more.
func (u *usage) sum(turn protocol.RunUsage) protocol.RunUsage {
	sum := later(u.before, turn) // the context is that of the last turn
	sum.InputTokens, sum.OutputTokens = plus(u.before.InputTokens, turn.InputTokens), plus(u.before.OutputTokens, turn.OutputTokens)
	sum.CostUSD = plus(u.before.CostUSD, turn.CostUSD)
	return sum
}

// parts returns what is known, each in a few words.
func (u *usage) parts() (parts []string) {
	sum := u.sum(u.turn)
	if used, most := sum.ContextTokens, sum.ContextMax; used != nil && most != nil && *most > 0 {
		parts = append(parts, fmt.Sprintf("context %d%% of %s", *used*100 / *most, short(*most)))
	} else if used != nil {
		parts = append(parts, "context "+short(*used))
	}
	if sum.InputTokens != nil && sum.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%s in, %s out", short(*sum.InputTokens), short(*sum.OutputTokens)))
	}
	if sum.CostUSD != nil {
		parts = append(parts, dollars(*sum.CostUSD))
	}
	return parts
}

// line returns the status line, "" if nothing is known.
func (u *usage) line() string { return strings.Join(u.parts(), " · ") }

// report answers /cost.
func (u *usage) report() string {
	parts := u.parts()
	if len(parts) == 0 {
		return "the model has not told what it used"
	}
	if u.sum(u.turn).CostUSD == nil {
		parts = append(parts, "the cost is not known: no price is set for this model")
	}
	return "since hookd began: " + strings.Join(parts, " · ")
}

// short returns a number of tokens in a few characters.
func short(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

func dollars(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
