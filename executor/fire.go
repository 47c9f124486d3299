package executor

import (
	"context"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// Fire asks the hooks of an event and returns what they decided together. The
// error is not nil for one reason only: ctx ended, and it is the cause; the
// outcome is then a refusal, and nothing of it took effect.
//
// Modifiers are asked one after the other, each about the event as changed so
// far; blockers about the final event, until the first no; observers that are
// required are waited for, all others are queued and never delay the event. No
// hook of a notice is waited for.
func (e *Executor) Fire(ctx context.Context, ev protocol.Event) (protocol.Outcome, error) {
	return e.fire(ctx, ev, e.source)
}

func (e *Executor) fire(ctx context.Context, ev protocol.Event, source Source) (protocol.Outcome, error) {
	return e.begin(ctx, ev, source).decide()
}

// Begin gives an event its place after those begun before, see [protocol.EventGate].
// The hooks that are asked about it are those of the set that is current now.
func (e *Executor) Begin(ctx context.Context, ev protocol.Event) func() (protocol.Outcome, error) {
	return e.begin(ctx, ev, e.source).decide
}

func (t *trip) decide() (protocol.Outcome, error) {
	due := t.first.Due && t.spec.Tells
	switch {
	case t.ctx.Err() != nil && !due:
		return t.abort()
	case t.spec.Tells && t.asksNow():
		return t.tell()
	case due:
		t.ctx = context.WithoutCancel(t.ctx)
	}
	if err := t.askAll(); err != nil {
		return t.abort()
	}
	return t.finish()
}

// asksNow reports whether the event has hooks that are waited for.
func (t *trip) asksNow() bool {
	if t.spec.Kind == protocol.Notice {
		return false
	}
	hooks := t.asked()
	return len(hooks.modify)+len(hooks.block) > 0 || slices.ContainsFunc(hooks.observe, t.waitsFor)
}

// askAll asks the hooks that are waited for. It fails if the caller gives up.
func (t *trip) askAll() error {
	t.refuse()
	if t.spec.Kind == protocol.Notice {
		return nil
	}
	for _, stage := range []func() error{t.modify, t.block, t.observeRequired} {
		if err := stage(); err != nil {
			return err
		}
	}
	return nil
}

// refuse refuses a gate that no hook can be asked about: the settings cannot be
// read, or too many agents have started one another.
func (t *trip) refuse() {
	if t.spec.Kind != protocol.Gate {
		return
	}
	failure := t.set.Refuse
	if t.tooDeep {
		failure = t.depthFailure(t.settings.MaxDepth)
	}
	if failure == nil {
		return
	}
	t.add(t.ourselves(failure))
}

// ourselves is a refusal by no hook.
func (t *trip) ourselves(failure *protocol.Failure) protocol.Answer {
	answer := failed(failure)
	answer.HookInfo = protocol.HookInfo{
		Name: selfName, Layer: protocol.Builtin, Class: protocol.CanBlock,
		Mode: protocol.Enforce, Rule: protocol.RuleBlock, Required: true,
	}
	return answer
}

// modify asks the modifiers. Whether one matches is decided on the event as the
// earlier ones left it.
func (t *trip) modify() error {
	for _, h := range t.asked().modify {
		if !t.wants(h) {
			continue
		}
		if err := t.askNow(h); err != nil {
			return err
		}
	}
	return nil
}

// maxParallel is more than hooks.parallel can be.
const maxParallel = 1 << 10

// block asks the blockers, up to hooks.parallel neighbours side by side. A hook
// runs beside others only as far as its own layer says: one of a higher layer does
// not begin early because a lower layer wants more at once. Their answers count in running order, so the result is the same as one after the
// other.
func (t *trip) block() error {
	var group []*Hook
	most := maxParallel
	for _, h := range t.asked().block {
		most = min(most, t.set.of(h).Parallel)
		if len(group) > 0 && len(group) >= most {
			if err := t.askGroup(group); err != nil {
				return err
			}
			group, most = nil, t.set.of(h).Parallel
		}
		if !t.wants(h) {
			continue
		}
		if group = append(group, h); len(group) < most {
			continue
		}
		if err := t.askGroup(group); err != nil {
			return err
		}
		group, most = nil, maxParallel
	}
	return t.askGroup(group)
}

// observeRequired asks the observers without whose answer the event does not
// pass, on the final event and the outcome so far.
func (t *trip) observeRequired() error {
	for _, h := range t.asked().observe {
		if !t.waitsFor(h) || !t.wants(h) {
			continue
		}
		if err := t.askNow(h); err != nil {
			return err
		}
	}
	return nil
}

// waitsFor reports whether a hook is an observer that the event waits for.
func (t *trip) waitsFor(h *Hook) bool {
	return stageOf(h) == stageObserve && h.Required && h.Mode != protocol.Audit && t.spec.Kind != protocol.Notice
}

// askNow asks one hook and waits for its answer.
func (t *trip) askNow(h *Hook) error {
	if t.skips(h) {
		return nil
	}
	began := time.Now()
	defer func() { t.charge(accountOf(h), time.Since(began)) }()
	q := t.question(h)
	t.progress.started(&t.first, h)
	budget, cancel := t.budget(t.ctx, h)
	defer cancel()
	return t.take(h, t.executor.ask(budget, t, q))
}

// askGroup asks neighbours side by side. Once one of them has refused, the
// answers of those behind it are not needed and not waited for.
func (t *trip) askGroup(group []*Hook) error {
	switch len(group) {
	case 0:
		return nil
	case 1:
		return t.askNow(group[0])
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(errNotNeeded)
	answers, took := make([]chan protocol.Answer, len(group)), make([]time.Duration, len(group))
	for i, h := range group {
		if t.fold.Closed() {
			break
		}
		q := t.question(h)
		answers[i] = make(chan protocol.Answer, 1)
		t.progress.started(&t.first, h)
		budget, done := t.budget(ctx, h)
		t.executor.work.Go(func() {
			defer done()
			began := time.Now()
			answer := t.executor.ask(budget, t, q)
			took[i] = time.Since(began)
			answers[i] <- answer
		})
	}
	used := map[account]time.Duration{} // side by side: the longest of each
	defer func() {
		for of, longest := range used {
			t.charge(of, longest)
		}
	}()
	for i, h := range group {
		if t.skips(h) {
			continue
		}
		answer := <-answers[i]
		used[accountOf(h)] = max(used[accountOf(h)], took[i])
		if err := t.take(h, answer); err != nil {
			return err
		}
	}
	return nil
}

// skips records a hook that is not asked any more because the event is refused.
// Observers are asked all the same.
func (t *trip) skips(h *Hook) bool {
	if !t.fold.Closed() || stageOf(h) == stageObserve {
		return false
	}
	t.add(protocol.Answer{HookInfo: h.HookInfo()})
	return true
}

// take lets an answer count, unless the caller has given up: then no answer
// does. An event that tells of what has happened goes on to the other hooks.
func (t *trip) take(h *Hook, answer protocol.Answer) error {
	if t.telling != nil {
		if t.ctx.Err() != nil {
			t.goOn()
		}
		if t.alone() && answer.Failure != nil && answer.Failure.Kind == protocol.FailAborted {
			t.progress.finished(&t.first, h, t.cutOff(h, answer))
			return nil
		}
	} else if t.ctx.Err() != nil {
		answer.Reply, answer.Failure = nil, t.aborted()
		t.progress.finished(&t.first, h, t.add(answer))
		return context.Cause(t.ctx)
	}
	kept := t.checkKept(h, &answer)
	run := t.add(answer)
	if accepted(&run) {
		t.keep(h, kept)
	}
	t.progress.finished(&t.first, h, run)
	return nil
}

// accepted reports whether a reply counted, so that what it wants kept is kept.
func accepted(run *protocol.Run) bool { return run.Failure == "" && run.Skipped == "" }

// add adds an answer to what was decided so far.
func (t *trip) add(answer protocol.Answer) protocol.Run {
	for _, e := range t.matchErrors {
		if e.hook.Name == answer.Name && e.hook.Layer == answer.Layer {
			answer.Warnings = append(answer.Warnings, e.text)
		}
	}
	var run protocol.Run
	t.fold, run = t.fold.Add(answer)
	t.folded = append(t.folded, len(t.runs))
	t.runs = append(t.runs, run)
	if len(run.Changed) > 0 {
		t.changed()
	}
	return run
}

// finish has the person asked where that is left, writes what hooks want kept, writes
// the record, queues the observers, and returns the outcome.
func (t *trip) finish() (protocol.Outcome, error) {
	outcome := t.fold.Outcome()
	if t.first.Settle != nil {
		if err := t.first.Settle(t.ctx, &outcome); err != nil {
			return t.abort()
		}
	}
	lost := t.commit()
	queued := t.reserveObservers(&outcome)
	for i, run := range outcome.Runs { // they say whose context was cut
		run.Warnings = append(slices.Clip(run.Warnings), lostTexts(lost, run.Hook)...)
		t.runs[t.folded[i]] = run
	}
	if t.executor.options.Explain {
		t.explain()
	}
	outcome.Runs = t.runs
	if t.first.Due && !t.alone() { // nobody goes on with it, so its record keeps its place, too
		recorded := outcome
		t.inOrder(func() { t.record(&recorded, lost, ""); t.queue(queued) })
		return outcome, nil
	}
	t.record(&outcome, lost, "")
	outcome.Notices = append(outcome.Notices, t.notices...)
	t.inOrder(func() { t.queue(queued) })
	return outcome, nil
}

// queue hands the event to its observers.
func (t *trip) queue(jobs []*job) {
	e := t.executor
	for _, job := range jobs {
		e.observers.push(e, job)
	}
	if t.first.Event == protocol.SessionEnd {
		e.memory.forget(t.first.Session.ID)
		e.endResident(t.set, t.first.Session.ID)
	}
}

// abort records an event that the caller gave up and returns a refusal and the
// cause. Nothing that its hooks answered takes effect, no observer hears of it.
func (t *trip) abort() (protocol.Outcome, error) {
	failure := t.aborted()
	if !t.fold.Closed() {
		t.add(t.ourselves(failure))
	}
	outcome := t.fold.Outcome()
	outcome.Runs = t.runs
	t.record(&outcome, nil, failure.Detail)
	return outcome, context.Cause(t.ctx)
}

func (t *trip) aborted() *protocol.Failure {
	return &protocol.Failure{Kind: protocol.FailAborted, Detail: context.Cause(t.ctx).Error()}
}

func milliseconds(since time.Time) float64 { return protocol.Milliseconds(time.Since(since)) }
