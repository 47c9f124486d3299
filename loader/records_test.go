//go:build unix

package loader

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/files"
)

// A loader that goes on loading sees each decision at once, whether those before
// it came long ago or a moment ago.
func TestDecisionsAreReadAgain(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	l, err := newLoader(w.options())
	if err != nil {
		t.Fatal(err)
	}
	want := func(what, state string) {
		t.Helper()
		s, err := l.snapshot(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := status(s, "guard.sh"); got != state {
			t.Errorf("%s: it is %s, want %s", what, got, state)
		}
	}
	file := l.records.File(w.project)
	for _, rest := range []time.Duration{0, 0, 2 * files.StableAfter, 0} {
		w.allow()
		want("allowed", "ready")
		time.Sleep(rest)
		want("still allowed", "ready")
		if err := w.trust().Deny(context.Background(), "guard.sh"); err != nil {
			t.Fatal(err)
		}
		want("denied", "disabled")
		time.Sleep(rest)
		want("still denied", "disabled")
	}
	w.allow()
	time.Sleep(2 * files.StableAfter)
	want("allowed", "ready")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := l.snapshot(context.Background(), 1); err != nil || s.Set.Refuse == nil {
		t.Errorf("records that are open to others are believed: %v", err)
	}
	os.Remove(file)
	want("forgotten", "untrusted!untrusted")
}
