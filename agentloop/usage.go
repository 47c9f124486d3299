package agentloop

import (
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// tally sums up what a run has used. Its model calls and its sub-agents add to
// it, which may run side by side. What one of them does not tell, the sum does
// not know: it is nil, never too low.
type tally struct {
	parent *tally // of the run that this one works for, nil for none; set before the run

	mu     sync.Mutex
	total  protocol.RunUsage
	hidden struct{ input, output, cost bool } // not told by some call
}

func (t *tally) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total = protocol.RunUsage{}
	t.hidden.input, t.hidden.output, t.hidden.cost = false, false, false
}

// sum is the total so far. What it points to does not change.
func (t *tally) sum() protocol.RunUsage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// known is the total without the context: 0 where nothing was used yet, nil where
// a call did not tell.
func (t *tally) known() protocol.RunUsage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return protocol.RunUsage{
		InputTokens:  orZero(t.total.InputTokens, t.hidden.input),
		OutputTokens: orZero(t.total.OutputTokens, t.hidden.output),
		CostUSD:      orZero(t.total.CostUSD, t.hidden.cost),
	}
}

func orZero[N int64 | float64](total *N, hidden bool) *N {
	if total == nil && !hidden {
		return new(N)
	}
	return total
}

// add adds a model call, whose use of the context is the run's own; nil is a
// call that told nothing.
func (t *tally) add(call *protocol.CallUsage) {
	if call == nil {
		call = &protocol.CallUsage{}
	}
	t.mu.Lock()
	t.total.ContextTokens, t.total.ContextMax = call.ContextTokens, call.ContextMax
	t.mu.Unlock()
	for ; t != nil; t = t.parent {
		t.more(call)
	}
}

// contextGone says that the context is not what the last call was sent any more.
func (t *tally) contextGone() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.ContextTokens = nil
}

func (t *tally) more(call *protocol.CallUsage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.InputTokens = plus(t.total.InputTokens, call.InputTokens, &t.hidden.input)
	t.total.OutputTokens = plus(t.total.OutputTokens, call.OutputTokens, &t.hidden.output)
	t.total.CostUSD = plus(t.total.CostUSD, call.CostUSD, &t.hidden.cost)
}

// plus returns a new pointer: events that were fired keep theirs. A figure that
// would take something away is none.
func plus[N int64 | float64](total, more *N, hidden *bool) *N {
	var sum N
	if more != nil {
		sum = *more
	}
	if total != nil {
		sum += *total
	}
	if more == nil || *more < 0 || total != nil && sum < *total {
		*hidden = true
	}
	if *hidden {
		return nil
	}
	return &sum
}
