package daemon

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// fireLine is a request that fires an event: a tool call, or with an empty tool
// a notification, whose hook does what command says.
func fireLine(id int, session, tool, command string) string {
	if tool == "" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"event/fire","params":{"event":"notification","session":{"id":%q},"data":{"kind":"info","text":%q}}}`, id, session, command)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"event/fire","params":{"event":"tool-call-start","session":{"id":%q},"data":{"toolCallId":%q,"name":"bash","kind":"shell","args":{"command":%q},"parallel":1}}}`, id, session, tool, command)
}

func openLine(id int, session string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/open","params":{"id":%q,"project":"/proj"}}`, id, session)
}

func cancelLine(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, id)
}

// sent is one event of the random traffic.
type sent struct {
	session, tool string
	takes         time.Duration
	from, to      time.Duration // since the beginning
}

// planned works out when each event of a session must begin and end: in order, the
// ones with different tool calls side by side, any other alone.
func planned(events []sent) []sent {
	for i := range events {
		e := &events[i]
		begin := time.Duration(0)
		for j := range events[:i] {
			before := &events[j]
			if before.session != e.session {
				continue
			}
			begin = max(begin, before.from)
			if e.tool == "" || before.tool == "" || before.tool == e.tool {
				begin = max(begin, before.to)
			}
		}
		e.from, e.to = begin, begin+e.takes
	}
	return events
}

// Events begin exactly when they may: not before the rule of the protocol
// allows it, and not later.
func TestOrderOfEvents(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { orderOfEvents(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func orderOfEvents(t *testing.T, random *rand.Rand) {
	sessions, tools := []string{"a", "b", "c"}, []string{"", "t1", "t2", "t3", "t4"}
	events := make([]sent, 60)
	for i := range events {
		events[i] = sent{
			session: sessions[random.IntN(len(sessions))],
			tool:    tools[random.IntN(len(tools))],
			takes:   time.Duration(random.IntN(5)) * time.Millisecond,
		}
	}
	s := serve(t, Options{Limits: Limits{Parallel: 100}}, nil)
	for i, session := range sessions {
		_ = s.stdio.send(openLine(1000+i, session))
		s.stdio.answer(t, fmt.Sprint(1000+i))
	}
	started := time.Now()
	for i, e := range events {
		if err := s.stdio.send(fireLine(i, e.session, e.tool, "sleep "+e.takes.String())); err != nil {
			t.Fatal(err)
		}
	}
	want := planned(append([]sent(nil), events...))
	got := append([]sent(nil), events...)
	for range events {
		r := s.stdio.next(t)
		var at int
		_, _ = fmt.Sscan(string(r.ID), &at)
		got[at].to = time.Since(started)
		got[at].from = got[at].to - got[at].takes
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(sent{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	seqRises(t, s.opener.of("/proj")[0].events(), events)
	s.cancel(errSignal)
	s.end(time.Second)
}

// seqRises checks that seq counts the events of each session without a gap, in
// the order in which they were sent.
func seqRises(t *testing.T, fired []protocol.Event, events []sent) {
	t.Helper()
	sequence := map[string]map[int64]string{}
	for _, e := range fired {
		if sequence[e.Session.ID] == nil {
			sequence[e.Session.ID] = map[int64]string{}
		}
		sequence[e.Session.ID][*e.Seq] = commandOf(e.Data) + toolCallID(e.Data)
	}
	next := map[string]int64{}
	for i, e := range events {
		next[e.session]++
		if got, want := sequence[e.session][next[e.session]], "sleep "+e.takes.String()+e.tool; got != want {
			t.Errorf("event %d of session %s, seq %d: %q fired, sent was %q", i, e.session, next[e.session], got, want)
		}
	}
}

// Whatever is cancelled, and when: each request gets exactly one answer, order
// holds for what is left, and nothing stays behind.
func TestRandomCancellations(t *testing.T) {
	for seed := range uint64(25) {
		synctest.Test(t, func(t *testing.T) { randomCancellations(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func randomCancellations(t *testing.T, random *rand.Rand) {
	var mu sync.Mutex
	running := map[string]int{} // by session and tool
	o := &opener{begin: func(e protocol.Event) func() {
		key := toolCallID(e.Data)
		mu.Lock()
		defer mu.Unlock()
		for other, n := range running {
			if n > 0 && (key == "" || other == "" || other == key) {
				t.Errorf("%q began beside %q", key, other)
			}
		}
		running[key]++
		return func() { mu.Lock(); defer mu.Unlock(); running[key]-- }
	}}
	s := serve(t, Options{Limits: Limits{Parallel: 3}}, o)
	_ = s.stdio.send(openLine(1000, "a"))
	s.stdio.answer(t, "1000")
	const count = 100
	for i := range count {
		tool := []string{"", "t1", "t2", "t3"}[random.IntN(4)]
		_ = s.stdio.send(fireLine(i, "a", tool, "wait"))
		if random.IntN(2) == 0 {
			_ = s.stdio.send(cancelLine(random.IntN(i + 1)))
		}
		if random.IntN(4) == 0 {
			synctest.Wait()
		}
	}
	for i := range count {
		_ = s.stdio.send(cancelLine(i))
		synctest.Wait()
	}
	answers := map[string]int{}
	for range count {
		r := s.stdio.next(t)
		if r.code() != rpc.Cancelled {
			t.Errorf("answer %s: %v", r.ID, r.Error)
		}
		answers[string(r.ID)]++
	}
	if len(answers) != count || len(s.stdio.lines) > 0 {
		t.Errorf("%d requests answered, %d lines more", len(answers), len(s.stdio.lines))
	}
	_ = s.stdio.send(fireLine(count, "a", "", "block still here"))
	if r := s.stdio.answer(t, fmt.Sprint(count)); r.Error != nil {
		t.Errorf("the next event: %v", r.Error)
	}
	s.cancel(errSignal)
	s.end(time.Second)
}
