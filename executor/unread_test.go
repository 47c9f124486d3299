//go:build linux

package executor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// TestResidentNeverReads: a process that ends without having read its event has
// not answered it, whatever its exit code; the second one's end is the failure.
func TestResidentNeverReads(t *testing.T) {
	for _, script := range []string{"exit 0", "sleep 0.02; exit 0", "exit 2"} {
		for _, size := range []int{1, 1 << 20} {
			t.Run(fmt.Sprint(script, size), func(t *testing.T) {
				t.Parallel()
				m := newModes(t)
				h := m.hook("guard.sh", schema.Resident, 5*time.Second, script)
				e := m.rule(h)
				for i := 1; i <= 2; i++ {
					answered{Failure: "lost", Reason: "before it had read the event"}.check(t, m.ask(e, sized("s", size)))
					if n := len(m.started("guard.sh")); n != 2*i {
						t.Errorf("%d processes for %d events", n, i)
					}
				}
			})
		}
	}
}

// TestStandbyEndsBeforeLargeEvent: a process that gives up waiting as its event
// comes has not answered it, also if the event is more than a pipe holds.
func TestStandbyEndsBeforeLargeEvent(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, `while [ ! -e $OUT/go ]; do sleep 0.01; done; exit 0`)
	asker := h.Asker.(*standby)
	k, err := m.pool.start(asker.of(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { os.WriteFile(filepath.Join(m.dir, "go"), nil, 0o600) })
	event := protocol.Event{Event: protocol.ToolCallStart, ID: "x"}
	q := &Question{Hook: h, Event: &event, Spec: protocol.Lookup(event.Event), Payload: [][]byte{bytes.Repeat([]byte("x"), 1<<20)}}
	if answer, given := asker.askKept(t.Context(), k, q); given {
		t.Errorf("the event counts as given, the answer is %+v", answer)
	}
}

// TestResidentWithoutID: who asks a hook that answers without the id is told what
// is wrong, and its rule applies.
func TestResidentWithoutID(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 800*time.Millisecond, loopByID+`echo '{"action":"block"}'; done`)
	e := m.rule(h)
	outcome := fire(t, e, toolCall("s", ""))
	if run := outcome.Runs[0]; outcome.Action != protocol.Block || run.Failure != protocol.FailTimeout || !strings.Contains(run.Detail, "1 lines without the event's id") {
		t.Errorf("%s, %+v", outcome.Action, run)
	}
}

func sized(session string, n int) protocol.Event {
	ev := toolCall(session, "")
	ev.Data = fmt.Appendf(nil, `{"toolCallId":"c","name":"bash","kind":"shell","args":{"a":"%s"}}`, strings.Repeat("x", n))
	return ev
}

// TestNoAnswerIsAFailure: an asker that comes back with neither a reply nor a
// failure does not let the event pass.
func TestNoAnswerIsAFailure(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Once, time.Second, "")
	h.Asker = silent{}
	e := m.rule(h)
	if outcome := fire(t, e, toolCall("s", "")); outcome.Action != protocol.Block || outcome.Runs[0].Failure != protocol.FailLost {
		t.Errorf("%s, %+v", outcome.Action, outcome.Runs[0])
	}
}

type silent struct{}

func (silent) Ask(context.Context, *Question) protocol.Answer { return protocol.Answer{} }

// TestBuriedIsUnread: a process that was buried between being picked and being
// asked has not answered.
func TestBuriedIsUnread(t *testing.T) {
	for _, mode := range []schema.RunMode{schema.Standby, schema.Resident} {
		m := newModes(t)
		h := m.hook("guard.sh", mode, 5*time.Second, `exit 0`)
		s := h.Asker.(interface{ of() *standing }).of()
		k, err := m.pool.start(s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		<-k.child.Done()
		k.child.Reap(&k.talk)
		spec := protocol.Lookup(protocol.ToolCallStart)
		q := &Question{Hook: h, Event: &protocol.Event{Event: protocol.ToolCallStart, ID: "x"}, Spec: spec, Payload: [][]byte{[]byte("{}\n")}}
		given := true
		if r, ok := h.Asker.(*resident); ok {
			_, given = r.askKept(t.Context(), k, q)
		} else {
			_, given = h.Asker.(*standby).askKept(t.Context(), k, q)
		}
		if given {
			t.Errorf("%s: the event counts as given", mode)
		}
	}
}

// TestStandbyLateAtOnce: what comes in one piece with the answer is recorded as
// later output, too.
func TestStandbyLateAtOnce(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, readID+`printf '{"id":"%s"}\nmore\n' "$id"`)
	e := m.rule(h)
	m.await(h, 1)
	fire(t, e, toolCall("s", ""))
	e.Close(context.Background())
	late := m.late()
	if len(late.Run.Warnings) != 1 || !strings.Contains(late.Run.Warnings[0], `"more\n"`) {
		t.Errorf("late line %+v", late.Run)
	}
}
