//go:build unix

package executor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// modes makes hooks whose processes are started before their event.
type modes struct {
	*scripts
	pool *Pool
	set  *Set
}

func newModes(t *testing.T) *modes {
	t.Helper()
	s := newScripts(t)
	m := &modes{scripts: s, pool: NewPool(s.rt)}
	t.Cleanup(func() { m.pool.Close() })
	return m
}

// hook writes a script and makes a hook of it. Each process of it adds its pid to
// the file NAME.pids when it starts.
func (m *modes) hook(name string, mode schema.RunMode, timeout time.Duration, body string) *Hook {
	m.t.Helper()
	h := m.scripts.hook(name, protocol.CanBlock, timeout, "echo $$ >>$OUT/"+name+".pids\n"+body)
	h.Run, h.OnFailure = mode, protocol.RuleBlock
	h.Asker = m.pool.Asker(m.config(h))
	return h
}

func (m *modes) config(h *Hook) StandingConfig {
	return StandingConfig{
		Process: ProcessConfig{Path: h.Path, Dir: m.dir, HookFile: h.Path, Env: []string{"PATH=" + os.Getenv("PATH"), "OUT=" + m.dir}},
		Layer:   h.Layer, Name: h.Name, Hash: h.Hash, Mode: h.Run,
		Pool: 1, Idle: time.Minute, Grace: 100 * time.Millisecond, Stderr: 4096,
	}
}

// rule has a pool keep processes for hooks, and returns an executor that asks them.
func (m *modes) rule(hooks ...*Hook) *Executor {
	m.t.Helper()
	set, errs := NewSet(Set{Hooks: hooks})
	if len(errs) > 0 {
		m.t.Fatal(errs)
	}
	m.pool.Rule(m.set, set)
	m.set = set
	e := New(set, Options{StateDir: m.t.TempDir()})
	m.t.Cleanup(func() { e.Close(context.Background()) })
	return e
}

// started returns the processes of a hook so far.
func (m *modes) started(name string) []string {
	text, _ := os.ReadFile(filepath.Join(m.dir, name+".pids"))
	return strings.Fields(string(text))
}

// await waits until a hook has started n processes and one of them is ready.
func (m *modes) await(h *Hook, n int) {
	m.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if len(m.started(h.Name)) >= n && m.ready(h) > 0 {
			return
		}
	}
	m.t.Fatalf("%s has started %v, %+v", h.Name, m.started(h.Name), h.PoolState())
}

func (m *modes) ready(h *Hook) int { return h.PoolState().Ready }

const (
	readID   = `id=$(sed 's/.*"event":"[^"]*","id":"\([^"]*\)".*/\1/')` + "\n"
	loopByID = `while read -r line; do id=$(expr "$line" : '.*"event":"[^"]*","id":"\([^"]*\)"')` + "\n"
)

func toolCall(session, id string) protocol.Event {
	return protocol.Event{Event: protocol.ToolCallStart, ID: id, Session: protocol.Session{ID: session}, Data: []byte(`{"toolCallId":"c","name":"bash","kind":"shell","args":{}}`)}
}

// TestStandby: the process that answers was there before the event; the next one
// is there behind it; an answer with the id does not wait for the end.
func TestStandby(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, readID+`echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"$HOOK_MODE$HOOK_EVENT $$\"}"; sleep 60`)
	e := m.rule(h)
	m.await(h, 1)
	for i := 1; i <= 3; i++ {
		began := time.Now()
		outcome := fire(t, e, toolCall("s", ""))
		if want := "standby " + m.started("guard.sh")[i-1]; outcome.Reason != want || outcome.Action != protocol.Block {
			t.Fatalf("%s, %q, want %q", outcome.Action, outcome.Reason, want)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("took %s", took)
		}
		m.await(h, i+1)
	}
}

// TestResident: one process per session, asked line by line.
func TestResident(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 5*time.Second, `n=0; `+loopByID+`n=$((n+1)); echo note; echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"$HOOK_MODE $n\"}"; done`)
	e := m.rule(h)
	for i, want := range []string{"resident 1", "resident 2", "resident 3"} {
		if outcome := fire(t, e, toolCall("s", "")); outcome.Reason != want {
			t.Fatalf("event %d: %s, %q", i, outcome.Action, outcome.Reason)
		}
	}
	if outcome := fire(t, e, toolCall("other", "")); outcome.Reason != "resident 1" {
		t.Errorf("another session: %q", outcome.Reason)
	}
	if got := m.started("guard.sh"); len(got) != 2 {
		t.Errorf("started %v", got)
	}
}
