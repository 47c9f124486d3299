package executor

import (
	"context"
	"fmt"
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

// Begin makes an Executor a [protocol.Sequencer]: the hooks that are asked about
// an event are those that stood when it began.
func (e *Executor) Begin(ctx context.Context, ev protocol.Event) func() (protocol.Outcome, error) {
	return e.begin(ctx, ev, e.source).decide
}

func (t *trip) decide() (protocol.Outcome, error) {
	if t.ctx.Err() != nil {
		return t.abort()
	}
	t.refuse()
	if t.spec.Kind != protocol.Notice {
		for _, stage := range []func() error{t.modify, t.block, t.observeRequired} {
			if err := stage(); err != nil {
				return t.abort()
			}
		}
	}
	return t.finish(), nil
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
	answer.Voter = protocol.Voter{
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
	defer func() { t.charge(originOf(h), time.Since(began)) }()
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
	used := map[protocol.Origin]time.Duration{} // side by side: the longest of each
	defer func() {
		for origin, longest := range used {
			t.charge(origin, longest)
		}
	}()
	for i, h := range group {
		if t.skips(h) {
			continue
		}
		answer := <-answers[i]
		used[originOf(h)] = max(used[originOf(h)], took[i])
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
	t.add(protocol.Answer{Voter: voterOf(h)})
	return true
}

// take lets an answer count, unless the caller has given up: then no answer
// does.
func (t *trip) take(h *Hook, answer protocol.Answer) error {
	if t.ctx.Err() != nil {
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

// finish writes what hooks want kept and the record, queues the observers, and
// returns the outcome.
func (t *trip) finish() protocol.Outcome {
	lost := t.commit()
	outcome := t.fold.Outcome()
	queued := t.reserveObservers(&outcome)
	for i, run := range outcome.Runs { // they say whose context was cut
		run.Warnings = append(slices.Clip(run.Warnings), lostTexts(lost, run.Hook)...)
		t.runs[t.folded[i]] = run
	}
	if t.executor.options.Explain {
		t.explain()
	}
	outcome.Runs = t.runs
	t.record(&outcome, lost, "")
	outcome.Notices = append(outcome.Notices, t.notices...)
	for _, job := range queued {
		t.executor.observers.push(t.executor, job)
	}
	if t.first.Event == protocol.SessionEnd {
		t.executor.memory.forget(t.first.Session.ID)
		t.executor.endResident(t.set, t.first.Session.ID)
	}
	return outcome
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

// budget is the context of a hook that is waited for. The hooks of each layer, and
// of each project, have a budget of their own, by its settings, which only their own time
// uses up: slow hooks of the project leave the machine's theirs. An event so waits
// at most for the budgets of its layers together.
func (t *trip) budget(parent context.Context, h *Hook) (context.Context, context.CancelFunc) {
	limit := t.set.of(h).Budget
	return context.WithTimeoutCause(parent, limit-t.used[originOf(h)], &protocol.Failure{
		Kind:   protocol.FailBudget,
		Detail: fmt.Sprintf("the event's budget of %s for all hooks of the %s layer is used up", limit, originOf(h)),
		Remedy: "make the hooks of this event faster, or raise hooks.budget",
	})
}

// charge takes time off the budget of an origin.
func (t *trip) charge(origin protocol.Origin, took time.Duration) {
	if t.used == nil {
		t.used = map[protocol.Origin]time.Duration{}
	}
	t.used[origin] += took
}

func milliseconds(since time.Time) float64 { return protocol.Milliseconds(time.Since(since)) }
