package limits

import (
	"math"
	"sync"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// TestUsage adds to one sum from many goroutines.
func TestUsage(t *testing.T) {
	parent := NewUsage(nil)
	one, cost := int64(1), 0.5
	var adding sync.WaitGroup
	for range 8 {
		child := NewUsage(parent)
		adding.Go(func() {
			for range 100 {
				child.Add(&protocol.CallUsage{InputTokens: &one, OutputTokens: &one, ContextTokens: &one, CostUSD: &cost})
				parent.Sum()
			}
		})
	}
	adding.Wait()
	got := parent.Sum()
	if *got.InputTokens != 800 || *got.OutputTokens != 800 || *got.CostUSD != 400 || got.ContextTokens != nil {
		t.Errorf("%d, %d, %v, %v", *got.InputTokens, *got.OutputTokens, *got.CostUSD, got.ContextTokens)
	}
	parent.Add(&protocol.CallUsage{InputTokens: &one})
	parent.Add(&protocol.CallUsage{OutputTokens: &one, CostUSD: &cost})
	if got := parent.Sum(); got.InputTokens != nil || got.OutputTokens != nil || got.CostUSD != nil {
		t.Errorf("a sum of what is unknown: %+v", got)
	}
	huge, minus, refund := int64(math.MaxInt64), int64(-800), -1e9
	parent.Reset()
	for _, call := range []*protocol.CallUsage{{InputTokens: &huge, OutputTokens: &one, CostUSD: &cost}, {InputTokens: &huge, OutputTokens: &minus, CostUSD: &refund}} {
		parent.Add(call)
	}
	if got := parent.Sum(); got.InputTokens != nil || got.OutputTokens != nil || got.CostUSD != nil {
		t.Errorf("a call took from the sum: %+v", got)
	}
	parent.Reset()
	parent.Add(nil)
	if got := parent.Sum(); got.InputTokens != nil {
		t.Errorf("a call that reported nothing counts as %d", *got.InputTokens)
	}
}
