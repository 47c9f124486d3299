package loader

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/notify"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

const (
	debounce        = 30 * time.Millisecond     // after the last event, before looking
	debounceMost    = 150 * time.Millisecond    // after the first one
	slowTick        = 2 * time.Second           // catches lost watches
	pollInterval    = 500 * time.Millisecond    // without watches
	halfWrittenMost = 4 * report.StableTimeout  // for files that always look half-written
	changingMost    = 20 * report.StableTimeout // for files that change in the course of every load
)

// A Watcher keeps a snapshot current while files change. It is an
// [executor.Source]: an event takes the set once and never sees half of a
// change.
type Watcher struct {
	loader  *loader
	current atomic.Pointer[Snapshot]
	cancel  context.CancelFunc
	done    sync.WaitGroup
	reloads chan chan *Snapshot

	// Of the loop alone.
	ruling  *executor.Set // in the pool; of the loop, and of Close after it
	inputs  files.Inputs
	recheck time.Time
	waiting time.Time // since when no load is whole; zero = the last one was
	watch   notify.Notifier
	tick    time.Duration
}

// Watch loads and goes on loading whenever something changes, until the context
// ends or Close is called.
func Watch(ctx context.Context, opts Options) (*Watcher, error) {
	l, err := newLoader(opts)
	if err != nil {
		return nil, err
	}
	first, err := l.stableSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &Watcher{loader: l, cancel: cancel, reloads: make(chan chan *Snapshot)}
	w.start(first)
	w.done.Go(func() { w.run(ctx) })
	return w, nil
}

// Current returns the set that rules now.
func (w *Watcher) Current() *executor.Set { return w.current.Load().Set }

// Snapshot returns what Current is a part of.
func (w *Watcher) Snapshot() *Snapshot { return w.current.Load() }

// Close stops watching and waits until nothing of it is left.
func (w *Watcher) Close() {
	w.cancel()
	w.done.Wait()
	w.activate(nil)
}

// activate has the pool keep processes for the hooks of a set, and for no others.
func (w *Watcher) activate(set *executor.Set) {
	if pool := w.loader.opts.Pool; pool != nil {
		pool.SetActive(w.ruling, set)
	}
	w.ruling = set
}

// Reload loads at once, whether or not a change was noticed, and returns the
// snapshot that rules then.
func (w *Watcher) Reload(ctx context.Context) (*Snapshot, error) {
	answer := make(chan *Snapshot, 1)
	select {
	case w.reloads <- answer:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case s := <-answer:
		if s == nil {
			return nil, fmt.Errorf("the watcher was closed")
		}
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (w *Watcher) start(first *Snapshot) {
	w.tick = slowTick
	open := notify.New
	if w.loader.opts.notifier != nil {
		open = w.loader.opts.notifier
	}
	var err error
	if w.watch, err = open(); err != nil {
		w.poll(err)
	}
	w.publish(first)
}

// poll goes over to looking at the files in intervals.
func (w *Watcher) poll(err error) {
	if w.watch != nil {
		w.watch.Close()
	}
	w.watch = notify.Polling{}
	w.tick = pollInterval
	if w.loader.opts.poll > 0 {
		w.tick = w.loader.opts.poll
	}
	f := report.Newf(report.Polling, "", "", "raise the limits fs.inotify.max_user_watches and max_user_instances, or stop programs that use them up",
		"the system has no more file watches (%v); hookd looks at the files every %s instead", err, w.tick)
	w.loader.permanentFindings = []schema.Finding{f}
	if w.loader.opts.OnNotice != nil {
		w.loader.opts.OnNotice(f)
	}
}

func (w *Watcher) run(ctx context.Context) {
	defer func() { w.watch.Close() }()
	timer := time.NewTimer(w.tick)
	defer timer.Stop()
	for {
		timer.Reset(w.pause())
		select {
		case <-ctx.Done():
			return
		case <-w.watch.Events():
			if !w.calm(ctx) {
				return
			}
			w.look(ctx, false)
		case <-timer.C:
			w.look(ctx, !w.recheck.IsZero() && !time.Now().Before(w.recheck))
		case answer := <-w.reloads:
			w.look(ctx, true)
			answer <- w.current.Load()
		}
	}
}

// pause is how long to wait for an event before looking anyway.
func (w *Watcher) pause() time.Duration {
	pause := w.tick
	if !w.recheck.IsZero() {
		pause = min(pause, time.Until(w.recheck))
	}
	return max(pause, time.Millisecond)
}

// calm waits until a burst of events is over.
func (w *Watcher) calm(ctx context.Context) bool {
	limit := time.After(debounceMost)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-w.watch.Events():
		case <-time.After(debounce):
			return true
		case <-limit:
			return true
		}
	}
}

// look compares what is there with what was loaded, and loads if it differs.
func (w *Watcher) look(ctx context.Context, force bool) {
	if !force && !w.inputs.Changed() {
		return
	}
	s, err := w.loader.snapshot(ctx, w.current.Load().Set.Generation+1)
	if err != nil {
		return // the context ended
	}
	if w.mustWait(s) {
		w.recheck = time.Now().Add(debounce)
		return
	}
	if s.equal(w.current.Load()) {
		w.follow(s)
		return
	}
	w.publish(s)
}

// mustWait reports whether a snapshot may hold half of a change, and the files
// still have time to come to rest.
func (w *Watcher) mustWait(s *Snapshot) bool {
	if !s.halfWritten && !s.changedDuringLoad {
		w.waiting = time.Time{}
		return false
	}
	now := time.Now()
	if w.waiting.IsZero() {
		w.waiting = now
	}
	most := halfWrittenMost
	if s.changedDuringLoad {
		most = changingMost
	}
	return now.Sub(w.waiting) < most
}

// publish makes a snapshot the current one, in one step.
func (w *Watcher) publish(s *Snapshot) {
	w.current.Store(s)
	w.activate(s.Set)
	if w.loader.opts.OnChange != nil {
		w.loader.opts.OnChange(s)
	}
	w.follow(s) // what changes until then it sees
}

// follow watches what a snapshot was made of.
func (w *Watcher) follow(s *Snapshot) {
	w.inputs, w.recheck = s.inputs, s.recheck
	news, err := w.watch.Watch(s.inputs.Folders())
	if err != nil {
		w.poll(err)
	}
	// What changed between the load and a new watch made no event.
	if news && w.recheck.IsZero() && s.inputs.Changed() {
		w.recheck = time.Now()
	}
}
