package inflight_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/inflight"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestIdle(t *testing.T) {
	var g inflight.Group
	if !isClosed(g.Idle()) {
		t.Error("a group that began nothing is not idle")
	}
	g.Begin()
	g.Begin()
	idle := g.Idle()
	if g.Done(); isClosed(idle) || isClosed(g.Idle()) {
		t.Error("idle while work is under way")
	}
	if g.Done(); !isClosed(idle) || !isClosed(g.Idle()) {
		t.Error("not idle after the last work has ended")
	}
	g.Begin()
	if isClosed(g.Idle()) {
		t.Error("idle though new work has begun since")
	}
	g.Done()
}

// New work may begin while somebody waits, also from work that is under way: Idle ends
// after the last of it.
func TestGoWhileSomebodyWaits(t *testing.T) {
	var g inflight.Group
	var ended atomic.Int32
	begin := make(chan struct{})
	g.Go(func() {
		<-begin
		for range 10 {
			g.Go(func() {
				time.Sleep(time.Millisecond)
				ended.Add(1)
			})
		}
	})
	idle := g.Idle()
	close(begin)
	select {
	case <-idle:
	case <-time.After(10 * time.Second):
		t.Fatal("it is never idle")
	}
	if n := ended.Load(); n != 10 {
		t.Errorf("idle after %d of 10", n)
	}
}

// Work that panics counts as ended, so that a Close does not wait for it for ever.
func TestDoneAfterPanic(t *testing.T) {
	var g inflight.Group
	g.Go(func() {
		defer func() { _ = recover() }()
		panic("a hook's")
	})
	select {
	case <-g.Idle():
	case <-time.After(10 * time.Second):
		t.Fatal("it is never idle")
	}
}
