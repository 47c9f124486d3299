package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/executor/internal/inflight"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/hookvalues"
	"github.com/hookd-dev/hookd/protocol"
)

// observers are the queues of hooks that nobody waits for: one queue for each
// hook and session, worked off in order by one goroutine that lives while the
// queue is not empty.
type observers struct {
	contexts map[protocol.Layer]layerContext

	mu     sync.Mutex
	queues map[queueKey]*queue
}

// layerContext is the context of the observers of one layer.
type layerContext struct {
	ctx context.Context
	end context.CancelCauseFunc
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
	key      queueKey
	req      *request
	hook     *Hook
	ev       protocol.Event // final, with the outcome
	warnings []hookWarning
	shared   *sharedEncoding // that all observers of the event have in common

	undecided error // see [Question]
	hidden    bool
}

type sharedEncoding struct {
	mu      sync.Mutex
	encoded *protocol.Encoding
}

func newLayerContexts() map[protocol.Layer]layerContext {
	contexts := make(map[protocol.Layer]layerContext, len(layers))
	for _, layer := range layers {
		ctx, end := context.WithCancelCause(context.Background())
		contexts[layer] = layerContext{ctx, end}
	}
	return contexts
}

// context returns the context of the observers of a layer.
func (o *observers) context(layer protocol.Layer) context.Context {
	if c, known := o.contexts[layer]; known {
		return c.ctx
	}
	return o.contexts[protocol.Builtin].ctx
}

// end ends the observers of a layer.
func (o *observers) end(layer protocol.Layer, cause error) { o.contexts[layer].end(cause) }

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

// push puts a job on the place that was reserved for it. running counts what works the
// queue off.
func (o *observers) push(running *inflight.Group, j *job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := o.queues[j.key]
	q.reserved--
	q.jobs = append(q.jobs, j)
	if !q.running {
		q.running = true
		running.Go(func() { o.work(j.key) })
	}
}

// pending reports whether events wait for a hook, or the hook is being asked.
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

// work asks the hook of a queue about its events, one after the other.
func (o *observers) work(key queueKey) {
	for {
		j, dropped := o.next(key)
		if j == nil {
			return
		}
		ctx := o.context(j.hook.Layer)
		if ctx.Err() != nil {
			j.drop()
			continue
		}
		j.ask(ctx, dropped)
	}
}

// reserveObservers finds the observers that want the final event and takes a
// place for each in its queue. Those without a place are recorded as dropped.
func (d *dispatch) reserveObservers(outcome *protocol.Outcome) []*job {
	d.version.changed()
	final := d.results.fold.ObserversRead(outcome) // a refused event is observed as it came in
	d.version.event = &final
	hooks := d.stages().observe
	if d.req.spec.Kind == protocol.Notice {
		hooks = d.stages().all
	}
	var jobs []*job
	var shared *sharedEncoding
	for _, h := range hooks {
		if d.req.waitsFor(h) || !d.wants(h) {
			continue
		}
		key, limit := queueKey{d.req.event.Session.ID, keyOf(h)}, d.req.set.settingsOf(h).ObserverQueue
		if !d.req.executor.observers.reserve(key, limit) {
			dropped := skippedRun(h, protocol.SkipDropped)
			dropped.Warnings = []string{fmt.Sprintf("is not told of this event: %d wait for it already (hooks.observerQueue)", limit)}
			d.results.runs = append(d.results.runs, dropped)
			continue
		}
		if shared == nil {
			shared = &sharedEncoding{}
		}
		ev := final
		ev.Layer, ev.Outcome = h.Layer, d.results.fold.SoFar()
		if outcome.Answered != nil {
			ev.Outcome.Action, ev.Outcome.By = outcome.Action, outcome.By
		}
		jobs = append(jobs, &job{key: key, req: &d.req, hook: h, ev: ev, warnings: d.results.warnings, shared: shared, undecided: d.version.undecided[h], hidden: h.Sensitive || d.results.sawSensitive()})
	}
	return jobs
}

// queue hands the event to its observers.
func (r *request) queue(jobs []*job) {
	e := r.executor
	for _, j := range jobs {
		e.observers.push(&e.running, j)
	}
	if session := r.event.Session.ID; r.event.Event == protocol.SessionEnd {
		e.guards.forget(session)
		e.endResident(r.set, session)
	}
}

// ask asks the observer. It sees what hooks remember now, which is what it said itself
// about the event before. dropped is how many events it was not told of before.
func (j *job) ask(ctx context.Context, dropped int64) {
	d := &dispatch{req: *j.req.after(j.ev), ctx: context.Background()}
	d.results.fold = protocol.Begin(d.req.event, d.req.foldOptions())
	d.results.warnings = j.warnings
	ev, snapshot := j.ev, d.state.snapshot(&d.req)
	ev.State, ev.Metadata = snapshot.State(stateKey(j.hook)), snapshot.Metadata(d.req.set.index.prefixes)
	ev.ModelArgs = d.results.modelArgs(j.hook)
	j.shared.mu.Lock()
	q := d.req.questionOf(j.hook, ev, &j.shared.encoded, false)
	j.shared.mu.Unlock()
	q.Undecided, q.Hidden = j.undecided, j.hidden
	d.req.progress.started(&d.req.event, j.hook)
	answer := d.req.ask(ctx, q)
	cut := answer.Failure != nil && answer.Failure.Kind == protocol.FailAborted // only Close aborts an observer
	run := d.foldWithState(j.hook, answer)
	overwritten, notices := d.state.commit(&d.req)
	d.notices = append(d.notices, notices...)
	j.finish(d, run, overwritten, cut, dropped)
}

// finish records what the observer did and tells the person.
func (j *job) finish(d *dispatch, run protocol.Run, overwritten []state.Overwritten, cut bool, dropped int64) {
	note := ""
	if cut {
		note = droppedNote
		d.req.progress.cut(&d.req.event, j.hook)
	}
	run.Warnings = append(slices.Clip(run.Warnings), hookvalues.Texts(overwritten, j.hook.Name)...)
	d.req.recordLate(&run, note, dropped, overwritten)
	d.req.progress.finished(&d.req.event, j.hook, run)
	d.req.progress.notice(&d.req.event, append(d.results.fold.Outcome().Notices, d.notices...)...)
	for _, text := range run.Warnings {
		d.req.progress.notice(&d.req.event, protocol.HookText{Hook: run.Hook, Source: run.Source, Text: text, Warning: true})
	}
}

// drop records an observer that is not asked because this process ends.
func (j *job) drop() {
	run := skippedRun(j.hook, protocol.SkipDropped)
	j.req.after(j.ev).recordLate(&run, droppedNote, 0, nil)
	j.req.progress.cut(&j.req.event, j.hook)
}

// droppedNote is what the record says of a hook that the end of this process did not
// let answer.
var droppedNote = "dropped: " + errClosed.Error()

var errClosed = errors.New("hookd is shutting down")
