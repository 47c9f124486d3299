package slots_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/slots"
	"github.com/hookd-dev/hookd/protocol"
)

var (
	ofManaged = protocol.Origin{Layer: protocol.Managed}
	ofUser    = protocol.Origin{Layer: protocol.User}
	ofProject = protocol.Origin{Layer: protocol.Project}
)

// free reports whether a request gets a slot at once. The slot stays taken.
func free(s *slots.Slots, r slots.Request) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := s.Acquire(ctx, r)
	return err == nil
}

func acquire(t *testing.T, s *slots.Slots, r slots.Request) (release func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	release, err := s.Acquire(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestLimit(t *testing.T) {
	var s slots.Slots
	r := slots.Request{Origin: ofProject, Limit: 2}
	release := acquire(t, &s, r)
	acquire(t, &s, r)
	if free(&s, r) {
		t.Fatal("a third slot of two")
	}
	release()
	if !free(&s, r) {
		t.Error("no slot after one was given back")
	}
}

// What waits begins in the order in which it came.
func TestOrder(t *testing.T) {
	var s slots.Slots
	r := slots.Request{Origin: ofProject, Limit: 1}
	release := acquire(t, &s, r)
	order := make(chan int, 3)
	for i := range 3 {
		go func() {
			release, err := s.Acquire(context.Background(), r)
			if err == nil {
				order <- i
				release()
			}
		}()
		time.Sleep(20 * time.Millisecond) // until it waits
	}
	release()
	for want := range 3 {
		if got := <-order; got != want {
			t.Errorf("%d began in place of %d", got, want)
		}
	}
}

// A hook of a higher layer finds a slot however many lower ones hang; a lower one
// leaves those free that are reserved.
func TestHigherLayers(t *testing.T) {
	var s slots.Slots
	low := slots.Request{Origin: ofProject, Limit: 3, Reserved: 2}
	acquire(t, &s, low)
	if free(&s, low) {
		t.Error("a project's hook took a slot that is reserved")
	}
	for _, origin := range []protocol.Origin{ofUser, ofManaged} {
		if !free(&s, slots.Request{Origin: origin, Limit: 3}) {
			t.Errorf("no slot for a hook of %v", origin)
		}
	}

	var small slots.Slots // too small for all layers
	acquire(t, &small, slots.Request{Origin: ofProject, Limit: 1, Reserved: 1})
	if !free(&small, slots.Request{Origin: ofManaged, Limit: 1}) {
		t.Error("one hook of the project holds up a managed one")
	}
	if free(&small, slots.Request{Origin: ofManaged, Limit: 1}) {
		t.Error("a second process over the limit")
	}
}

// Observers that nobody waits for have half of the slots, and never the last one of
// the others.
func TestBackground(t *testing.T) {
	var s slots.Slots
	observer := slots.Request{Origin: ofProject, Background: true, Limit: 4}
	acquire(t, &s, observer)
	acquire(t, &s, observer)
	if free(&s, observer) {
		t.Error("observers take more than half of the slots")
	}
	for range 2 {
		if !free(&s, slots.Request{Origin: ofProject, Limit: 4}) {
			t.Error("no slot for a hook that an event waits for")
		}
	}
}

// One that gives up leaves its place to those after it, and the error is the cause.
func TestGivingUp(t *testing.T) {
	var s slots.Slots
	release := acquire(t, &s, slots.Request{Origin: ofProject, Limit: 1})
	ctx, cancel := context.WithCancelCause(context.Background())
	cause, failed := errors.New("enough"), make(chan error)
	go func() {
		_, err := s.Acquire(ctx, slots.Request{Origin: ofProject, Limit: 1})
		failed <- err
	}()
	cancel(cause)
	if err := <-failed; err != cause {
		t.Errorf("the error is %v", err)
	}
	release()
	if !free(&s, slots.Request{Origin: ofProject, Limit: 1}) {
		t.Error("the one that gave up still holds a place")
	}
}
