package outbox

import (
	"errors"
	"fmt"
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

// What a client never got is named in the order in which it was answered, also what was put
// after the connection had been given up while an earlier line was still being written.
func TestUnsentKeepsItsOrder(t *testing.T) {
	o := New(NewBudget(1000), nil, func() {})
	answer := func(method string) { o.Put([]byte(`{"id":1}`), Subject{Method: method}) }
	answer("first")
	if !o.begin() { // a writer is at the first line
		t.Fatal("nothing is written")
	}
	o.closed = true // Close waits for that writer
	for i := range mostNamed + 1 {
		answer(fmt.Sprint("late", i))
	}
	o.drop(errors.New("gone"))
	if got := o.Close(0); got.Requests() != "first 1; late0 1; late1 1; late2 1; late3 1; late4 1; late5 1; late6 1; and 2 more" || got.Err == nil {
		t.Errorf("%s (%v)", got.Requests(), got.Err)
	}
}
