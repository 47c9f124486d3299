package executor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// verdict is what the outcome of an event must not depend on time for.
type verdict struct {
	Action  protocol.Action
	By      string
	Reason  string
	Data    string
	Context []protocol.HookText
	Runs    []string
}

func verdictOf(o protocol.Outcome) verdict {
	v := verdict{Action: o.Action, Reason: o.Reason, Data: string(o.Event.Data), Context: o.Context, Runs: hooktest.Runs(o)}
	if o.By != nil {
		v.By = *o.By
	}
	return v
}

// Events that begin at the same time take their ids from one sequence. The test stands here
// as package protocol starts no goroutine, so that its own tests run without the race detector.
func TestIDsOfManyAtOnceDiffer(t *testing.T) {
	const each = 1000
	made := make(chan []string)
	for range 4 {
		go func() {
			var list []string
			for range each {
				list = append(list, protocol.NewID())
			}
			made <- list
		}()
	}
	seen := map[string]bool{}
	for range 4 {
		for _, one := range <-made {
			seen[one] = true
		}
	}
	if len(seen) != 4*each {
		t.Errorf("%d different ones of %d", len(seen), 4*each)
	}
}

// randomHooks are hooks of every class with random verdicts and latencies. The
// latencies come from the second source: they must not matter.
func randomHooks(verdicts, latencies *rand.Rand) []GoHook {
	var hooks []GoHook
	for i := range 3 + verdicts.IntN(8) {
		can := []protocol.Class{protocol.CanModify, protocol.CanBlock, protocol.CanBlock}[verdicts.IntN(3)]
		reply := protocol.Reply{Context: fmt.Sprint("context ", i)}
		fails := false
		switch n := verdicts.IntN(12); {
		case n == 0:
			reply = protocol.Reply{Action: protocol.Block, Reason: fmt.Sprint("block ", i)}
		case n == 1:
			reply = protocol.Reply{Action: protocol.Stop, Reason: fmt.Sprint("stop ", i)}
		case n == 2:
			reply = protocol.Reply{Action: protocol.Ask, Reason: fmt.Sprint("ask ", i)}
		case n == 3:
			fails = true
		case n < 8 && can == protocol.CanModify:
			reply = protocol.Reply{Action: protocol.Modify, Changes: fmt.Appendf(nil, `{"args":{"k%d":%d}}`, verdicts.IntN(3), i)}
		}
		hook := goHook(fmt.Sprint("h", i), can, after(time.Duration(latencies.IntN(1000))*time.Millisecond,
			func(context.Context, *protocol.Event) (protocol.Reply, error) {
				if fails {
					return protocol.Reply{}, fmt.Errorf("fault %d", i)
				}
				return reply, nil
			}))
		hook.Priority = verdicts.IntN(3)
		hook.OnFailure = []protocol.Rule{"", protocol.RuleContinue, protocol.RuleBlock, protocol.RuleStop}[verdicts.IntN(4)]
		hooks = append(hooks, hook)
	}
	return hooks
}

// G5 and hooks.parallel: whatever the latencies, and however many blockers run
// side by side, an event has one result.
func TestOneResult(t *testing.T) {
	cases := uint64(prove.Size(400, 2000))
	synctest.Test(t, func(t *testing.T) {
		for seed := range cases {
			var want verdict
			for round := range uint64(6) {
				hooks := randomHooks(rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, round+2)))
				rand.Shuffle(len(hooks), func(i, j int) { hooks[i], hooks[j] = hooks[j], hooks[i] })
				set, err := StaticSet(hooks...)
				if err != nil {
					t.Fatal(err)
				}
				changed := *set
				changed.Settings.Hooks.Parallel = int(round)
				changed.Settings.Hooks.Budget = time.Hour
				e := New(&changed, Options{})
				got := verdictOf(hooktest.Fire(t, e, event("1")))
				if err := e.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if round == 0 {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d, %d side by side: %s", seed, round, diff)
				}
			}
		}
	})
	prove.Figure(t, "G5", "%d events, %d chains six times each with random latencies: one result each", cases*6, cases)
}

// G4: nothing that is said after a refusal weakens it.
func TestRefusalStands(t *testing.T) {
	cases := uint64(prove.Size(1000, 20_000))
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		for seed := range cases {
			verdicts := rand.New(rand.NewPCG(seed, 7))
			hooks := randomHooks(verdicts, rand.New(rand.NewPCG(seed, 8)))
			guard := goHook("guard", protocol.CanBlock, block)
			guard.Priority = verdicts.IntN(3)
			set, err := StaticSet(append(hooks, guard)...)
			if err != nil {
				t.Fatal(err)
			}
			changed := *set
			changed.Settings.Hooks.Parallel = 1 + int(seed%4)
			changed.Settings.Hooks.Budget = time.Hour
			e := New(&changed, Options{})
			if o := hooktest.Fire(t, e, event("1")); o.Action == protocol.Block || o.Action == protocol.Stop {
				refused++
			}
			e.Close(t.Context())
		}
		if refused != int(cases) {
			t.Errorf("%d of %d events were refused", refused, cases)
		}
	})
	prove.Figure(t, "G4", "%d chains with a guard that refuses among others of any latency: 0 passed", cases)
}

// Neighbours really run side by side, and their wait is that of the slowest.
func TestSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hooks []GoHook
		for i := range 6 {
			hooks = append(hooks, goHook(fmt.Sprint(i), protocol.CanBlock, after(time.Second, observe)))
		}
		e := newExecutor(t, schema.HookSettings{Parallel: 3}, Options{}, hooks...)
		begin := time.Now()
		if o := hooktest.Fire(t, e, event("1")); o.Refused() || len(o.Runs) != 6 || time.Since(begin) != 2*time.Second {
			t.Errorf("%s with %d runs after %v", o.Action, len(o.Runs), time.Since(begin))
		}
	})
}
