package outbox

import (
	"testing"
	"testing/synctest"
)

// Notifications to a client that reads slowly are left out and counted; responses
// never are.
func TestNotificationsAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		o := New(b, nil, nil)
		o.Put(make([]byte, 200), Subject{})
		for range 3 {
			if _, ok := o.Offer([]byte("note")); ok {
				t.Error("taken while the budget is used up")
			}
		}
		o.Put([]byte("answer"), Subject{})
		b.Add(-200)
		lost, ok := o.Offer([]byte("note"))
		if lost != 3 || !ok || len(o.lines) != 3 {
			t.Errorf("lost %d, taken %v, %d lines", lost, ok, len(o.lines))
		}
	})
}
