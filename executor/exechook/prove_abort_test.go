//go:build unix

package exechook

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// Hooks that have an effect at every moment of their lives, and one of a child
// in a session of its own, later than any abort of this test comes.
const (
	abortModifier = `(setsid sh -c 'sleep 0.4; echo late >>"$OUT/late"' &)
sleep 0.004
echo '{"action":"modify","changes":{"args":{"command":"changed"}},"state":1,"metadata":"m"}'`
	abortGuard = `sleep 61 & echo $$ $! >>"$OUT/guard.pid"; sleep 0.01; sleep 60`
	abortLater = `echo later >>"$OUT/later"`
)

// G10: an abort at any moment gives control back within 250 ms, ends what runs,
// starts no later hook, and nothing of the event has an effect afterwards: no
// state, no metadata, no file that a child would still have written.
func TestAbortsHaveNoLateEffect(t *testing.T) {
	s := newScripts(t)
	modifier := s.hook("m", protocol.CanModify, 20*time.Second, abortModifier)
	e := s.executor(schema.HookSettings{Grace: 5 * time.Millisecond}, modifier,
		s.hook("n", protocol.CanBlock, 20*time.Second, abortGuard),
		s.hook("z", protocol.CanBlock, 20*time.Second, abortLater))
	gaveUp := errors.New("esc")
	rounds, slowest := prove.Size(15, 2000), time.Duration(0)
	for i := range rounds {
		r := rand.New(rand.NewPCG(10, uint64(i)))
		delay := time.Duration(r.Int64N(int64(40 * time.Millisecond)))
		ctx, cancel := context.WithCancelCause(t.Context())
		var aborted time.Time
		timer := time.AfterFunc(delay, func() { aborted = time.Now(); cancel(gaveUp) })
		o, err := e.Fire(ctx, toolEvent(fmt.Sprint("e", i)))
		returned := time.Now()
		timer.Stop()
		if !errors.Is(err, gaveUp) || !o.Refused() {
			t.Fatalf("after %s: %v, %s, runs %v", delay, err, o.Action, hooktest.Runs(o))
		}
		took := returned.Sub(aborted)
		if slowest = max(slowest, took); took > abortBound() {
			t.Errorf("round %d: control came back %s after the abort", i, took)
		}
	}
	time.Sleep(600 * time.Millisecond) // until the children would have written
	alive := s.survivors()
	if alive != nil {
		t.Errorf("still alive: %v", alive)
	}
	for _, name := range []string{"late", "later"} {
		if text, err := os.ReadFile(filepath.Join(s.dir, name)); err == nil {
			t.Errorf("%d late effects in %s", strings.Count(string(text), "\n"), name)
		}
	}
	snapshot, err := s.remembered()
	if err != nil {
		t.Fatal(err)
	}
	if state := snapshot.State(keyOf(modifier)); state != nil {
		t.Errorf("state %s was kept of an aborted event", state)
	}
	events := s.recorded()
	for _, recorded := range events {
		if recorded.Aborted != "esc" {
			t.Errorf("%s is recorded as %s, not as aborted", recorded.ID, recorded.Action)
		}
	}
	if len(events) != rounds {
		t.Errorf("%d of %d events are recorded", len(events), rounds)
	}
	prove.Figure(t, "G10", "%d aborts of events at random moments: control after at most %s, %d survivors, 0 late effects, all recorded as aborted",
		rounds, slowest.Round(time.Millisecond), len(alive))
}

// abortBound is what is promised where the machine has nothing else to do; a
// test among others may wait for its turn.
func abortBound() time.Duration {
	if prove.Full() {
		return 250 * time.Millisecond
	}
	return 2 * time.Second
}
