//go:build linux

package worker

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
)

// scriptHook returns a hook whose workers run a shell script, in a pool of its own.
func scriptHook(t *testing.T, resident bool, body string) *Hook {
	t.Helper()
	rt, err := process.New(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "guard.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	pool := NewPool(rt)
	t.Cleanup(func() {
		pool.Close()
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool.Hook(Spec{
		Command: process.Command{
			Path: path, Argv: []string{path}, Dir: filepath.Dir(path), Env: []string{"PATH=" + os.Getenv("PATH")}, Grace: 100 * time.Millisecond,
		},
		Files: []string{path}, Resident: resident, Size: 1, Idle: time.Minute, Grace: 100 * time.Millisecond,
	})
}

// ask gives a worker an event in its hook's way.
func ask(ctx context.Context, w *Worker, r *Event) Reply {
	if w.hook.spec.Resident {
		return w.AskLine(ctx, r)
	}
	return w.AskOnce(ctx, r, time.Second, func(<-chan struct{}, func() *Ending) {})
}

// TestStandbyEndsBeforeLargeEvent: a process that gives up waiting as its event comes
// has not answered it, also if the event is more than a pipe holds.
func TestStandbyEndsBeforeLargeEvent(t *testing.T) {
	h := scriptHook(t, false, `while [ ! -e go ]; do sleep 0.01; done; exit 0`)
	w, err := h.StartForOneEvent()
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { os.WriteFile(filepath.Join(h.spec.Command.Dir, "go"), nil, 0o600) })
	r := &Event{ID: "x", Payload: [][]byte{bytes.Repeat([]byte("x"), 1<<20)}, Limit: 1 << 20}
	if reply := ask(t.Context(), w, r); !reply.Unread {
		t.Errorf("the event counts as read: %+v", reply)
	}
}

// TestReapedIsUnread: a process that was reaped between being picked and being asked
// has not answered.
func TestReapedIsUnread(t *testing.T) {
	for _, resident := range []bool{false, true} {
		h := scriptHook(t, resident, `exit 0`)
		w, err := h.StartForOneEvent()
		if err != nil {
			t.Fatal(err)
		}
		<-w.child.Done()
		w.child.Reap(&w.talk)
		if reply := ask(t.Context(), w, &Event{ID: "x", Payload: [][]byte{[]byte("{}\n")}, Limit: 1 << 20}); !reply.Unread {
			t.Errorf("resident %v: the event counts as read: %+v", resident, reply)
		}
	}
}
