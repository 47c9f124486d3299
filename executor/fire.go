package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/hookvalues"
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
	return e.gate().Fire(ctx, ev)
}

// Begin takes the current set of hooks and returns the function that asks them; see
// [protocol.EventGate].
func (e *Executor) Begin(ctx context.Context, ev protocol.Event) func() (protocol.Outcome, error) {
	return e.gate().Begin(ctx, ev)
}

// decide asks the hooks of the event.
func (d *dispatch) decide() (protocol.Outcome, error) {
	if d.req.spec.Detachable {
		return detachable{d}.decide()
	}
	return d.decideAttached()
}

// decideAttached decides an event that is given up when its context ends: it asks the
// hooks, writes the record and queues the observers.
func (d *dispatch) decideAttached() (protocol.Outcome, error) {
	if d.ctx.Err() != nil {
		return d.abort(context.Cause(d.ctx))
	}
	if err := d.askAll(); err != nil {
		return d.abort(err)
	}
	result, err := d.conclude()
	if err != nil {
		return d.abort(err)
	}
	d.record(&result.outcome, result.overwritten, "")
	result.outcome.Notices = append(result.outcome.Notices, d.notices...)
	d.req.inOrder(func() { d.req.queue(result.observers) })
	return result.outcome, nil
}

// askAll asks the hooks that are waited for. It fails if the caller gives up.
func (d *dispatch) askAll() error {
	if failure := d.req.refusal(); failure != nil {
		d.fold(selfRefusal(failure))
	}
	if d.req.spec.Kind == protocol.Notice {
		return nil
	}
	for _, ask := range []func() error{d.modify, d.block, d.observeRequired} {
		if err := ask(); err != nil {
			return err
		}
	}
	return nil
}

// refusal returns why a gate is refused that no hook can be asked about: the settings
// cannot be read, or too many agents have started one another.
func (r *request) refusal() *protocol.Failure {
	switch {
	case r.spec.Kind != protocol.Gate:
		return nil
	case r.tooDeep:
		return r.depthFailure(r.settings.MaxDepth)
	}
	return r.set.Refuse
}

// tooDeepFor reports whether too many hooks stand above this process for one hook:
// by the settings of its own layer.
func (r *request) tooDeepFor(h *Hook) bool {
	return r.executor.options.Depth >= r.set.settingsOf(h).MaxDepth
}

func (r *request) depthFailure(most int) *protocol.Failure {
	return &protocol.Failure{
		Kind:   protocol.FailDepth,
		Detail: fmt.Sprintf("this agent was started by a hook, %d deep; hooks.maxDepth is %d", r.executor.options.Depth, most),
		Remedy: "do not start an agent from a hook of its own events, or raise hooks.maxDepth",
	}
}

// modify asks the modifiers. Whether one matches is decided on the event as the
// earlier ones left it.
func (d *dispatch) modify() error {
	for _, h := range d.stages().modify {
		if !d.wants(h) {
			continue
		}
		if err := d.askNow(h); err != nil {
			return err
		}
	}
	return nil
}

// maxParallel is more than hooks.parallel can be.
const maxParallel = 1 << 10

// block asks the blockers, up to hooks.parallel neighbours side by side. A hook
// runs together with others only as far as its own layer says: a hook of a higher layer does
// not begin early because a lower layer wants more at once. Their answers count in
// running order, so the result is the same as one after the other.
func (d *dispatch) block() error {
	var group []*Hook
	most := maxParallel
	for _, h := range d.stages().block {
		most = min(most, d.req.set.settingsOf(h).Parallel)
		if len(group) > 0 && len(group) >= most {
			if err := d.askGroup(group); err != nil {
				return err
			}
			group, most = nil, d.req.set.settingsOf(h).Parallel
		}
		if !d.wants(h) {
			continue
		}
		if group = append(group, h); len(group) < most {
			continue
		}
		if err := d.askGroup(group); err != nil {
			return err
		}
		group, most = nil, maxParallel
	}
	return d.askGroup(group)
}

// observeRequired asks the observers without whose answer the event does not
// pass, on the final event and the outcome so far.
func (d *dispatch) observeRequired() error {
	for _, h := range d.stages().observe {
		if !d.req.waitsFor(h) || !d.wants(h) {
			continue
		}
		if err := d.askNow(h); err != nil {
			return err
		}
	}
	return nil
}

// waitsFor reports whether a hook is an observer that the event waits for.
func (r *request) waitsFor(h *Hook) bool {
	return stageOf(h) == stageObserve && h.Required && h.Mode != protocol.Audit && r.spec.Kind != protocol.Notice
}

// askNow asks one hook and waits for its answer.
func (d *dispatch) askNow(h *Hook) error {
	if d.results.skipsRefused(h) {
		return nil
	}
	began := time.Now()
	defer func() { d.spent.charge(accountOf(h), time.Since(began)) }()
	q := d.question(h)
	d.req.progress.started(&d.req.event, h)
	budget, cancel := d.withinBudget(d.ctx, h)
	defer cancel()
	return d.apply(h, d.req.ask(budget, q))
}

// askGroup asks neighbours side by side. Once one of them has refused, the
// answers of those after it are not needed and not waited for.
func (d *dispatch) askGroup(group []*Hook) error {
	switch len(group) {
	case 0:
		return nil
	case 1:
		return d.askNow(group[0])
	}
	ctx, cancel := context.WithCancelCause(d.ctx)
	defer cancel(errNotNeeded)
	answers, took := make([]chan protocol.Answer, len(group)), make([]time.Duration, len(group))
	for i, h := range group {
		if d.results.fold.Closed() {
			break
		}
		q := d.question(h)
		answers[i] = make(chan protocol.Answer, 1)
		d.req.progress.started(&d.req.event, h)
		budget, done := d.withinBudget(ctx, h)
		d.req.executor.running.Go(func() {
			defer done()
			began := time.Now()
			answer := d.req.ask(budget, q)
			took[i] = time.Since(began)
			answers[i] <- answer
		})
	}
	used := map[account]time.Duration{} // side by side: the longest of each
	defer func() {
		for of, longest := range used {
			d.spent.charge(of, longest)
		}
	}()
	for i, h := range group {
		if d.results.skipsRefused(h) {
			continue
		}
		answer := <-answers[i]
		used[accountOf(h)] = max(used[accountOf(h)], took[i])
		if err := d.apply(h, answer); err != nil {
			return err
		}
	}
	return nil
}

// apply lets an answer count, unless the caller has given up: then no answer does.
func (d *dispatch) apply(h *Hook, answer protocol.Answer) error {
	if d.detached != nil {
		detachable{d}.apply(h, answer)
		return nil
	}
	if d.ctx.Err() != nil {
		cause := context.Cause(d.ctx)
		answer.Reply, answer.Failure = nil, abortFailure(cause)
		d.req.progress.finished(&d.req.event, h, d.fold(answer))
		return cause
	}
	d.req.progress.finished(&d.req.event, h, d.foldWithState(h, answer))
	return nil
}

// fold adds an answer to what was decided so far.
func (d *dispatch) fold(answer protocol.Answer) protocol.Run {
	run := d.results.add(answer)
	if len(run.Changed) > 0 {
		d.version.changed()
	}
	return run
}

// foldWithState adds an answer, and keeps what it wants the hook to remember if the
// answer counts.
func (d *dispatch) foldWithState(h *Hook, answer protocol.Answer) protocol.Run {
	writes := d.state.checkState(&d.req, h, &answer)
	run := d.fold(answer)
	if run.Failure == "" && run.Skipped == "" && len(writes) > 0 {
		d.state.keep(writes)
		d.version.forgetInput() // conditions read metadata
	}
	return run
}

// conclusion is what an event came to, before it is recorded.
type conclusion struct {
	outcome     protocol.Outcome
	overwritten []state.Overwritten // values that hooks wanted kept
	observers   []*job              // reserved, not queued yet
}

// conclude completes the outcome once the hooks have answered: it lets the host ask the
// person if that is left to do, writes what hooks want kept, reserves the observers'
// places in their queues, and has the host say what it cannot carry out. It fails if [protocol.Event.ResolveAsk] does; the error is the
// cause of the context if that has ended.
func (d *dispatch) conclude() (*conclusion, error) {
	result := &conclusion{outcome: d.results.fold.Outcome()}
	outcome := &result.outcome
	if d.req.event.ResolveAsk != nil {
		if err := d.req.event.ResolveAsk(d.ctx, outcome); err != nil {
			return nil, cmp.Or(context.Cause(d.ctx), err)
		}
	}
	overwritten, notices := d.state.commit(&d.req)
	d.notices = append(d.notices, notices...)
	result.overwritten, result.observers = overwritten, d.reserveObservers(outcome)
	for i, run := range outcome.Runs { // they say whose context was cut
		run.Warnings = append(slices.Clip(run.Warnings), hookvalues.Texts(overwritten, run.Hook)...)
		d.results.runs[d.results.folded[i]] = run
	}
	if d.req.executor.options.Explain {
		d.results.explain(d.req.set, d.req.spec.Name)
	}
	outcome.Runs = d.results.runs
	if d.req.event.TakeBack != nil {
		d.req.event.TakeBack(outcome)
	}
	if d.req.event.Lost != nil {
		outcome.Lost = d.req.event.Lost(outcome)
	}
	return result, nil
}

// abort records an event that the caller gave up, and returns a refusal and the cause.
// Nothing that its hooks answered takes effect, and no observer is asked about it.
func (d *dispatch) abort(cause error) (protocol.Outcome, error) {
	failure := abortFailure(cause)
	if !d.results.fold.Closed() {
		d.fold(selfRefusal(failure))
	}
	outcome := d.results.fold.Outcome()
	outcome.Runs = d.results.runs
	d.record(&outcome, nil, failure.Detail)
	return outcome, cause
}
