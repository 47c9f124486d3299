//go:build unix

package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// reloads watches what events see of settings that are saved again and again.
type reloads struct {
	t      *testing.T
	w      *world
	engine *executor.Executor
	events atomic.Int64
	saved  atomic.Int64 // the version last saved
	used   atomic.Int64 // the newest version an event was decided by
}

// G14: an event sees one version of the settings, whole, whatever is saved
// meanwhile; each version is in use a second after it was saved, and half a file
// changes nothing. Two hooks and the reason they give change with one file.
func TestReloadsUnderEvents(t *testing.T) {
	w, watcher, _ := watched(t, nil)
	w.write(w.path("say.sh"), "#!/bin/sh\necho \"{\\\"context\\\":\\\"$1\\\"}\"\n", 0o755)
	r := &reloads{t: t, w: w, engine: executor.New(watcher, executor.Options{})}
	r.save(0)
	hooktest.Eventually(t, 2*time.Second, "the first version", func() bool { return names(watcher.Current()) == "a b" })

	stop := make(chan struct{})
	var firing sync.WaitGroup
	for range 2 {
		firing.Go(func() { r.fireUntil(stop) })
	}
	versions, slowest, kept := prove.Size(10, 1000), time.Duration(0), 0
	for version := 1; version <= versions && !t.Failed(); version++ {
		if version%10 == 0 {
			r.saveHalf()
			kept++
		}
		began := time.Now()
		r.save(version)
		for r.used.Load() < int64(version) && !t.Failed() {
			if time.Since(began) > 5*time.Second {
				t.Errorf("version %d is not in use after %s", version, time.Since(began))
			}
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(began); took > slowest {
			slowest = took
		}
	}
	for r.events.Load() < int64(prove.Size(100, 20_000)) && !t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
	close(stop)
	firing.Wait()
	if err := r.engine.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if slowest > time.Second && prove.Full() {
		t.Errorf("from save to use took %s", slowest)
	}
	prove.Figure(t, "G14", "%d reloads and %d half files under %d events of two programs: 0 mixed, lost or doubled; at most %s from save to use",
		versions, kept, r.events.Load(), slowest.Round(time.Millisecond))
}

// save writes a version by rename, as editors do.
func (r *reloads) save(version int) {
	r.t.Helper()
	r.saved.Store(int64(version))
	path := r.w.path(".acai", "acai.json")
	r.w.write(path+".tmp", fmt.Sprintf(`{"hooks":{"use":[
{"name":"a","command":["./say.sh","v%[1]d"],"events":["tool-call-start"]},
{"name":"b","command":["./say.sh","v%[1]d"],"events":["tool-call-start"]}]}}`, version), 0o644)
	if err := os.Rename(path+".tmp", path); err != nil {
		r.t.Fatal(err)
	}
}

// saveHalf writes half a file in place, and leaves it there for a moment.
func (r *reloads) saveHalf() {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.w.project, ".acai", "acai.json"), []byte(`{"hooks":{"use":[{"name":"a"`), 0o644); err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(30 * time.Millisecond)
}

// fireUntil fires events, one after the other, and looks at what each saw.
func (r *reloads) fireUntil(stop chan struct{}) {
	var generation, seen int64
	for {
		select {
		case <-stop:
			return
		default:
		}
		saved := r.saved.Load()
		o, err := r.engine.Fire(context.Background(), protocol.Event{
			Event: protocol.ToolCallStart, Project: r.w.project, Cwd: r.w.project, Agent: protocol.Agent{ID: "main"},
			Data: []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{},"parallel":1}`),
		})
		if err != nil {
			r.t.Error(err)
			return
		}
		var version int64
		if len(o.Context) > 0 {
			fmt.Sscanf(o.Context[0].Text, "v%d", &version)
		}
		switch {
		case o.Action != protocol.Observe || len(o.Runs) != 2 || len(o.Context) != 2:
			r.t.Errorf("an event lost a hook: %s, %v, %d runs, %v", o.Action, o.Context, len(o.Runs), o.Notices)
			return
		case strings.TrimSpace(o.Context[0].Text) != strings.TrimSpace(o.Context[1].Text):
			r.t.Errorf("an event saw two versions: %v", o.Context)
			return
		case o.Generation < generation || version < seen:
			r.t.Errorf("generation %d after %d, version %d after %d", o.Generation, generation, version, seen)
			return
		case version > saved && version > r.saved.Load():
			r.t.Errorf("version %d was never saved", version)
			return
		}
		generation, seen = o.Generation, version
		for used := r.used.Load(); used < version && !r.used.CompareAndSwap(used, version); used = r.used.Load() {
		}
		r.events.Add(1)
	}
}
