package limits

import (
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// Usage is what a run has used: the sum of its model calls and those of the runs that
// work for it, which may run at the same time. A figure that one of the calls does not
// report is nil in the sum, never too low.
type Usage struct {
	parent *Usage // of the run that this one works for, nil for none

	mu     sync.Mutex
	total  protocol.RunUsage
	hidden struct{ input, output, cost bool } // not reported by some call
	steps  int                                // of sub-agents, since the prompt's own run began its step
}

// NewUsage returns the usage of a run that works for the run of parent, which is nil for
// a prompt's own run.
func NewUsage(parent *Usage) *Usage { return &Usage{parent: parent} }

// Root returns the usage of the prompt's own run.
func (u *Usage) Root() *Usage {
	for u.parent != nil {
		u = u.parent
	}
	return u
}

// BeginStep is called when the prompt's own run begins a step.
func (u *Usage) BeginStep() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.steps = 0
}

// BeginSubAgentStep counts a step of a sub-agent. It returns how many sub-agents have
// begun together in the step of the prompt's own run.
func (u *Usage) BeginSubAgentStep() int {
	prompt := u.Root()
	prompt.mu.Lock()
	defer prompt.mu.Unlock()
	prompt.steps++
	return prompt.steps
}

// Reset begins anew at 0.
func (u *Usage) Reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total = protocol.RunUsage{}
	u.hidden.input, u.hidden.output, u.hidden.cost = false, false, false
}

// Sum returns the total so far. What it points to does not change.
func (u *Usage) Sum() protocol.RunUsage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.total
}

// Total returns the figures that have a sum, so not those of the context: 0 if nothing
// was used yet, nil if a call did not report them.
func (u *Usage) Total() protocol.RunUsage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return protocol.RunUsage{
		InputTokens:  orZero(u.total.InputTokens, u.hidden.input),
		OutputTokens: orZero(u.total.OutputTokens, u.hidden.output),
		CostUSD:      orZero(u.total.CostUSD, u.hidden.cost),
	}
}

func orZero[N int64 | float64](total *N, hidden bool) *N {
	if total == nil && !hidden {
		return new(N)
	}
	return total
}

// Add adds a model call, whose use of the context is the run's own; nil is a call that
// reported nothing.
func (u *Usage) Add(call *protocol.CallUsage) {
	if call == nil {
		call = &protocol.CallUsage{}
	}
	u.mu.Lock()
	u.total.ContextTokens, u.total.ContextMax = call.ContextTokens, call.ContextMax
	u.mu.Unlock()
	for ; u != nil; u = u.parent {
		u.addCall(call)
	}
}

// ContextReplaced is called when the context is no longer what the last call was sent.
func (u *Usage) ContextReplaced() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total.ContextTokens = nil
}

func (u *Usage) addCall(call *protocol.CallUsage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total.InputTokens = plus(u.total.InputTokens, call.InputTokens, &u.hidden.input)
	u.total.OutputTokens = plus(u.total.OutputTokens, call.OutputTokens, &u.hidden.output)
	u.total.CostUSD = plus(u.total.CostUSD, call.CostUSD, &u.hidden.cost)
}

// plus returns a new pointer: events that were fired keep theirs. A negative figure counts
// as not reported.
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
