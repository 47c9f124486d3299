//go:build unix

package exechook

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// over is a context that ends where the answer is heard: nothing wakes for it.
type over struct{ context.Context }

func (over) Err() error { return context.Canceled }

// TestAbortBehindAnswer: a process whose event was aborted when its answer was
// heard has no time left, whatever the grace.
func TestAbortBehindAnswer(t *testing.T) {
	for _, mode := range []schema.RunMode{schema.Standby, schema.Resident} {
		m := newModes(t)
		h := m.hook("guard.sh", mode, 5*time.Second, `read -r line; echo '{"id":"one"}'; exec sleep 60`)
		config := m.config(h)
		config.Grace = 5 * time.Second
		h.Asker = m.pool.Asker(config)
		m.activate(h)
		q := &executor.Question{
			Hook: h, Event: &protocol.Event{Event: protocol.ToolCallStart, ID: "one"}, Spec: protocol.Lookup(protocol.ToolCallStart),
			Payload: [][]byte{[]byte("{}\n")}, Grace: config.Grace,
		}
		if mode == schema.Standby {
			m.await(h, 1)
		} else {
			lease, err := h.Info().Workers.AcquireSession(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			q.Lease = lease
		}
		answer := h.Asker.Ask(over{context.Background()}, q)
		if answer.Reply == nil {
			t.Errorf("%s: %+v", mode, answer)
		}
		pid := m.started("guard.sh")[0]
		for began := time.Now(); slices.Contains(m.alive(), pid); time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > 2*time.Second {
				t.Fatalf("%s: it lives on after the abort", mode)
			}
		}
		q.Lease.Release(true)
	}
}

// TestResidentRestarts: a process that was lost counts once.
func TestResidentRestarts(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 5*time.Second, loopByID+`exit 3; done`)
	e := m.activate(h)
	for i := 1; i <= 3; i++ {
		m.ask(e, toolCall("s", ""))
	}
	time.Sleep(50 * time.Millisecond)
	if state := h.PoolState(); state.Started != 3 || state.Restarts != 3 {
		t.Errorf("%+v", state)
	}
}

// TestPoolIsFull: not more processes are kept than the pool has room for, and who
// finds none is asked all the same.
func TestPoolIsFull(t *testing.T) {
	m := newModes(t)
	var hooks []*executor.Hook
	for i := range 64/worker.MaxSessions + 1 {
		hooks = append(hooks, m.hook(fmt.Sprintf("guard%d.sh", i), schema.Resident, 10*time.Second, loopByID+`n=$((n+1)); echo "{\"id\":\"$id\",\"notice\":\"$n\"}"; done`))
	}
	e := m.activate(hooks...)
	const most = 64 // of all hooks together
	kept := func() (n int) {
		for _, h := range hooks {
			n += m.ready(h)
		}
		return n
	}
	var all sync.WaitGroup
	for i := range worker.MaxSessions {
		all.Go(func() {
			if got := hooktest.Fire(t, e, toolCall(fmt.Sprint(i), "")); len(got.Notices) != len(hooks) {
				t.Errorf("%+v", got)
			}
			if n := kept(); n > most {
				t.Errorf("%d processes are kept", n)
			}
		})
	}
	all.Wait()
	if n := kept(); n < most*3/4 {
		t.Errorf("only %d processes are kept", n)
	}
}
