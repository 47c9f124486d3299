//go:build unix

package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/loader/internal/discover"
	"github.com/hookd-dev/hookd/loader/internal/files"
)

// manyHooks is a world with n hooks of a project, all allowed.
func manyHooks(b *testing.B, n int) *world {
	w := newWorld(b)
	w.userSettings(`{"hooks":{"maxHooks":10000}}`)
	for i := range n {
		w.hook(fmt.Sprintf("h%d.sh", i), blocks)
	}
	if err := w.trust().Allow(w.plan()); err != nil {
		b.Fatal(err)
	}
	time.Sleep(2 * files.StableAfter) // so that stats are believed
	return w
}

// BenchmarkLoad is what a command that lives for one event pays before it can
// decide (fresh), and what a change costs who lives longer (again).
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{0, 1, 10, 100, 1000} {
		w := manyHooks(b, n)
		whole := func(s *Snapshot, err error) {
			if err != nil || len(s.Hooks) != n || n > 0 && s.Hooks[0].Status != "ready" {
				b.Fatal(err, s.Findings)
			}
		}
		// Processor time tells on a busy machine what the clock cannot.
		timed := func(name string, load func() (*Snapshot, error)) {
			b.Run(fmt.Sprintf("hooks=%d/%s", n, name), func(b *testing.B) {
				before, loads := processorTime(), 0
				for b.Loop() {
					whole(load())
					loads++
				}
				b.ReportMetric(float64(processorTime()-before)/float64(loads)/1e6, "cpu-ms/op")
			})
		}
		fresh := func() (*Snapshot, error) { return Load(context.Background(), w.options()) }
		timed("fresh", fresh)
		l, err := newLoader(w.options())
		if err != nil {
			b.Fatal(err)
		}
		timed("again", func() (*Snapshot, error) { return l.snapshot(context.Background(), 1) })
		b.Run(fmt.Sprintf("hooks=%d/unchanged", n), func(b *testing.B) {
			s := w.load()
			for b.Loop() {
				if s.inputs.Changed() {
					b.Fatal("changed")
				}
			}
		})
	}
}

// BenchmarkReload is the time from a change of one hook until the set that knows
// of it is active, 5,000 files being there: among the hooks, or around them.
func BenchmarkReload(b *testing.B) {
	const files = 5000
	around := func(w *world) {
		for i := range files {
			w.write(w.path(fmt.Sprintf("src/%d/f%d.txt", i%50, i)), "x", 0o644)
		}
	}
	among := func(mode os.FileMode) func(*world) {
		return func(w *world) {
			for i := range files {
				w.write(w.hookPath(fmt.Sprintf("f%d.sh", i)), observes, mode)
			}
		}
	}
	for _, place := range []struct {
		name string
		fill func(*world)
	}{{"none", func(*world) {}}, {"around", around}, {"among,new", among(0o755)}, {"among,no programs", among(0o644)}} {
		b.Run(place.name, func(b *testing.B) {
			w := manyHooks(b, 10)
			place.fill(w)
			changed := make(chan *Snapshot, 100)
			opts := w.options()
			opts.OnChange = func(s *Snapshot) { changed <- s }
			watcher, err := Watch(context.Background(), opts)
			if err != nil {
				b.Fatal(err)
			}
			defer watcher.Close()
			<-changed
			n, used := 0, int64(0)
			for b.Loop() {
				b.StopTimer()
				time.Sleep(500 * time.Millisecond)
				for len(changed) > 0 {
					<-changed
				}
				n++
				before := processorTime()
				b.StartTimer()
				w.userHook("turn.sh", fmt.Sprintf("#!/bin/sh\n# hook: events=tool-call-start can=observe priority=%d\n", n))
				for s := range changed {
					if h := find(s, "turn.sh"); h != nil && h.Priority == n {
						break
					}
				}
				used += processorTime() - before
			}
			b.ReportMetric(float64(used)/float64(n)/1e6, "cpu-ms/op")
		})
	}
}

// BenchmarkHelpers is a load of few hooks that brought along many files, by who
// has loaded them before.
func BenchmarkHelpers(b *testing.B) {
	const hooks, each = 5, 999
	w := newWorld(b)
	for i := range hooks {
		w.hook(fmt.Sprintf("h%d.sh", i), fmt.Sprintf("#!/bin/sh\n# hook: events=tool-call-start can=block files=lib%d/*\n", i))
		for k := range each {
			w.write(w.hookPath(fmt.Sprintf("lib%d/f%d.txt", i, k)), fmt.Sprint(i, k), 0o600)
		}
	}
	if err := w.trust().Allow(w.plan()); err != nil {
		b.Fatal(err)
	}
	time.Sleep(2 * files.StableAfter)
	l, err := newLoader(w.options())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := l.snapshot(context.Background(), 1); err != nil { // reads them all
		b.Fatal(err)
	}
	before, loads := processorTime(), 0
	for b.Loop() {
		s, err := l.snapshot(context.Background(), 1)
		if err != nil || len(s.Hooks) != hooks || s.Hooks[0].Status != "ready" {
			b.Fatal(err, s.Findings)
		}
		loads++
	}
	b.ReportMetric(float64(processorTime()-before)/float64(loads)/1e6, "cpu-ms/op")
}

// processorTime is what this process used of the processors, in nanoseconds.
func processorTime() int64 {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	return used.Utime.Nano() + used.Stime.Nano()
}

// observes is a hook that guards nothing.
const observes = "#!/bin/sh\n# hook: events=tool-call-end can=observe\n"

// BenchmarkDescribe asks hooks that describe themselves nowhere else what they
// are for, as many at once as a load does, over one after the other.
func BenchmarkDescribe(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("hooks=%d", n), func(b *testing.B) {
			w := newWorld(b)
			w.userSettings(`{"hooks":{"maxHooks":10000}}`)
			for i := range n {
				w.userHook(fmt.Sprintf("h%d.sh", i), fmt.Sprintf("#!/bin/sh\n# %d\necho '{\"events\":[\"tool-call-end\"],\"can\":\"observe\"}'\n", i))
			}
			ask := func(atOnce int) time.Duration {
				os.RemoveAll(filepath.Join(w.state, "describe"))
				l, err := newLoader(w.options())
				if err != nil {
					b.Fatal(err)
				}
				l.describer.Answers.AtOnce = atOnce
				begin := time.Now()
				s, err := l.snapshot(context.Background(), 1)
				if err != nil || len(s.Hooks) != n || s.Hooks[0].Status != "ready" {
					b.Fatal(err, s.Findings)
				}
				return time.Since(begin)
			}
			var side, one time.Duration
			for b.Loop() {
				side += ask(discover.NewDescribeCache("").AtOnce)
				one += ask(1)
			}
			b.ReportMetric(float64(side)/float64(one), "side/one")
		})
	}
}

// BenchmarkMemory is what a snapshot of many hooks keeps, with its loader.
func BenchmarkMemory(b *testing.B) {
	w := manyHooks(b, 1000)
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		l, err := newLoader(w.options())
		if err != nil {
			b.Fatal(err)
		}
		s, err := l.snapshot(context.Background(), 1)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/float64(len(s.Hooks)), "heap-B/hook")
		runtime.KeepAlive(l)
	}
}
