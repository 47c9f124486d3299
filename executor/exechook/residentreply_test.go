//go:build linux

package exechook

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// TestResidentNeverReads: a process that ends without having read its event has
// not wantAnswer it, whatever its exit code; the second one's end is the failure.
func TestResidentNeverReads(t *testing.T) {
	for _, script := range []string{"exit 0", "sleep 0.02; exit 0", "exit 2"} {
		for _, size := range []int{1, 1 << 20} {
			t.Run(fmt.Sprint(script, size), func(t *testing.T) {
				t.Parallel()
				m := newModes(t)
				h := m.hook("guard.sh", schema.Resident, 5*time.Second, script)
				e := m.activate(h)
				for i := 1; i <= 2; i++ {
					wantAnswer{Failure: "lost", Reason: "before it had read the event"}.check(t, m.ask(e, sized("s", size)))
					if n := len(m.started("guard.sh")); n != 2*i {
						t.Errorf("%d processes for %d events", n, i)
					}
				}
			})
		}
	}
}

// TestResidentWithoutID: who asks a hook that answers without the id is told what
// is wrong, and its rule applies.
func TestResidentWithoutID(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 800*time.Millisecond, loopByID+`echo '{"action":"block"}'; done`)
	e := m.activate(h)
	outcome := hooktest.Fire(t, e, toolCall("s", ""))
	if run := outcome.Runs[0]; outcome.Action != protocol.Block || run.Failure != protocol.FailTimeout || !strings.Contains(run.Detail, "1 lines without the event's id") {
		t.Errorf("%s, %+v", outcome.Action, run)
	}
}

func sized(session string, n int) protocol.Event {
	ev := toolCall(session, "")
	ev.Data = fmt.Appendf(nil, `{"toolCallId":"c","name":"bash","kind":"shell","args":{"a":"%s"}}`, strings.Repeat("x", n))
	return ev
}

// TestStandbyLateAtOnce: what comes in one piece with the answer is recorded as
// later output, too.
func TestStandbyLateAtOnce(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, readID+`printf '{"id":"%s"}\nmore\n' "$id"`)
	e := m.activate(h)
	m.await(h, 1)
	hooktest.Fire(t, e, toolCall("s", ""))
	e.Close(context.Background())
	late := m.late()
	if len(late.Run.Warnings) != 1 || !strings.Contains(late.Run.Warnings[0], `"more\n"`) {
		t.Errorf("late line %+v", late.Run)
	}
}
