package executor

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// observers are the queues of hooks that nobody waits for: one queue for each
// hook and session, worked off in order by one goroutine that lives while the
// queue is not empty.
type observers struct {
	mu     sync.Mutex
	queues map[queueKey]*queue
}

type queueKey struct {
	session string
	hook    hookKey
}

type queue struct {
	jobs     []*job
	reserved int  // places taken by events that are not recorded yet
	running  bool // a goroutine is at work
	dropped  int64
}

// job is one event for one observer.
type job struct {
	key  queueKey
	trip *trip
	hook *Hook
	ev   protocol.Event // final, with the outcome
	// shared is the encoding that all observers of the event have in common.
	shared *sharedEncoding
}

type sharedEncoding struct {
	mu      sync.Mutex
	encoded *protocol.Encoding
}

// reserve takes a place in a queue, or counts the event as dropped.
func (o *observers) reserve(key queueKey, limit int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.queues == nil {
		o.queues = map[queueKey]*queue{}
	}
	q := o.queues[key]
	if q == nil {
		q = &queue{}
		o.queues[key] = q
	}
	if len(q.jobs)+q.reserved >= limit {
		q.dropped++
		return false
	}
	q.reserved++
	return true
}

// push puts a job on the place that was reserved for it.
func (o *observers) push(e *Executor, j *job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := o.queues[j.key]
	q.reserved--
	q.jobs = append(q.jobs, j)
	if !q.running {
		q.running = true
		e.work.Go(func() { o.work(e, j.key) })
	}
}

// pending reports whether events wait for a hook, or it is at one.
func (o *observers) pending(key queueKey) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := o.queues[key]
	return q != nil && (q.running || len(q.jobs) > 0)
}

// next returns the oldest job and how many events were dropped since the last,
// nil when the queue is empty and its goroutine is to end.
func (o *observers) next(key queueKey) (*job, int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := o.queues[key]
	if len(q.jobs) == 0 {
		q.running = false
		if q.reserved == 0 && q.dropped == 0 {
			delete(o.queues, key)
		}
		return nil, 0
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	dropped := q.dropped
	q.dropped = 0
	return j, dropped
}

func (o *observers) work(e *Executor, key queueKey) {
	for {
		j, dropped := o.next(key)
		if j == nil {
			return
		}
		if e.life(j.hook.Layer).Err() != nil {
			e.recordDropped(j)
			continue
		}
		e.observe(j, dropped)
	}
}

// reserveObservers finds the observers that want the final event and takes a
// place for each in its queue. Those without a place are recorded as dropped.
func (t *trip) reserveObservers(outcome *protocol.Outcome) []*job {
	t.changed()
	final := t.fold.ObserversRead(outcome) // a refused event is observed as it came in
	t.event = &final
	var jobs []*job
	var shared *sharedEncoding
	hooks := t.asked().observe
	if t.spec.Kind == protocol.Notice {
		hooks = t.asked().all
	}
	for _, h := range hooks {
		if t.waitsFor(h) || !t.wants(h) {
			continue
		}
		key := queueKey{t.first.Session.ID, keyOf(h)}
		if !t.executor.observers.reserve(key, t.set.of(h).ObserverQueue) {
			dropped := skippedRun(h, protocol.SkipDropped)
			dropped.Warnings = []string{fmt.Sprintf("is not told of this event: %d wait for it already (hooks.observerQueue)", t.set.of(h).ObserverQueue)}
			t.runs = append(t.runs, dropped)
			continue
		}
		if shared == nil {
			shared = &sharedEncoding{}
		}
		ev := final
		ev.Layer, ev.Outcome = h.Layer, t.fold.SoFar()
		if outcome.Answered != nil {
			ev.Outcome.Action, ev.Outcome.By = outcome.Action, outcome.By
		}
		jobs = append(jobs, &job{key: key, trip: t, hook: h, ev: ev, shared: shared})
	}
	return jobs
}

// observe asks an observer. It sees what hooks remember now, which is what it
// said itself about the event before.
func (e *Executor) observe(j *job, dropped int64) {
	t := j.trip.after(j.ev)
	t.matchErrors = j.trip.matchErrors
	ev := j.ev
	view := t.view()
	ev.State, ev.Metadata = view.State(stateKey(j.hook)), view.Metadata(t.set.ways)
	j.shared.mu.Lock()
	q := t.complete(j.hook, ev, &j.shared.encoded)
	j.shared.mu.Unlock()
	t.progress.started(&t.first, j.hook)
	answer := e.ask(e.life(j.hook.Layer), t, q)
	t.finishObserver(j, answer, dropped)
}

func (t *trip) finishObserver(j *job, answer protocol.Answer, dropped int64) {
	cut := answer.Failure != nil && answer.Failure.Kind == protocol.FailAborted // nobody else may end it
	kept := t.checkKept(j.hook, &answer)
	run := t.add(answer)
	if accepted(&run) {
		t.keep(j.hook, kept)
	}
	lost := t.commit()
	note := ""
	if cut {
		note = droppedNote
		t.progress.cut(&t.first, j.hook)
	}
	run.Warnings = append(slices.Clip(run.Warnings), lostTexts(lost, j.hook.Name)...)
	t.recordLate(&run, note, dropped, lost)
	t.progress.finished(&t.first, j.hook, run)
	for _, notice := range append(t.fold.Outcome().Notices, t.notices...) {
		t.progress.notice(&t.first, notice)
	}
	for _, text := range run.Warnings {
		t.progress.notice(&t.first, protocol.HookText{Hook: run.Hook, Source: run.Source, Text: text, Warning: true})
	}
}

// recordDropped records an observer that the end of this process left no time
// for.
func (e *Executor) recordDropped(j *job) {
	run := skippedRun(j.hook, protocol.SkipDropped)
	j.trip.after(j.ev).recordLate(&run, droppedNote, 0, nil)
	j.trip.progress.cut(&j.trip.first, j.hook)
}

// droppedNote is the record's word for a hook that the end of this process did not
// let come to its own.
var droppedNote = "dropped: " + errClosed.Error()
