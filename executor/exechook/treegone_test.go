//go:build unix

package exechook

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// The outcome stands at the limit; that the hook's processes ended after it is
// a late line, and one that left nothing behind has none.
func TestDeathsAreRecorded(t *testing.T) {
	const grace = 300 * time.Millisecond
	s := newScripts(t)
	e := s.executor(schema.HookSettings{Grace: grace},
		s.hook("a-clean", protocol.CanBlock, 5*time.Second, "cat >/dev/null"),
		s.hook("b-slow", protocol.CanBlock, 200*time.Millisecond, `trap '' TERM; echo $$ >"$OUT/b.pid"; while :; do sleep 0.05; done`))
	begin := time.Now()
	o := hooktest.Fire(t, e, toolEvent("s"))
	if took := time.Since(begin); o.Failure != protocol.FailTimeout || took > 200*time.Millisecond+2*time.Second {
		t.Errorf("%s by %q after %v", o.Action, o.Failure, took)
	}
	e.Close(context.Background())
	if alive := s.survivors(); alive != nil {
		t.Errorf("still alive: %v", alive)
	}
	var got []string
	for line, problem := range record.Read(filepath.Join(s.dir, "state", "records"), "s") {
		if problem != nil {
			t.Fatal(problem)
		}
		var late record.Late
		if line.Kind != record.KindLate || line.Decode(&late) != nil {
			continue
		}
		got = append(got, strings.Join([]string{late.Run.Hook, late.Note}, ": "))
		if late.Run.TookMs < 50 || late.Run.TookMs > 5000 {
			t.Errorf("%s was gone %v ms after its answer stood", late.Run.Hook, late.Run.TookMs)
		}
	}
	if d := cmp.Diff([]string{"b-slow: the last of its processes is gone"}, got); d != "" {
		t.Error(d)
	}
}
