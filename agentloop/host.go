package agentloop

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/provider"
)

// host is a run as its Go hooks and tools see it.
type host struct{ run *Run }

func (h host) EndAfter(d time.Duration, reason string) { h.run.bounds.endAfter(d, reason) }

func (h host) LimitSteps(n int) { h.run.bounds.limitSteps(n) }

func (h host) TreeUsage() provider.TreeUsage {
	return provider.TreeUsage{Usage: h.run.root().usage.known(), Steps: int(h.run.claimed)}
}

func (h host) Spawn(ctx context.Context, sub provider.SubAgent) (result provider.SubResult, err error) {
	h.run.loop.options.floor.aside(ctx, func(ctx context.Context) { result, err = h.run.spawn(ctx, sub) })
	return result, err
}

// hosting is the context of a gate call or a tool: what works there finds the
// run.
func (r *Run) hosting(ctx context.Context) context.Context {
	return provider.WithRunContext(ctx, host{r})
}

// bounds are what providers said of how far a run may go. The run's time is kept
// by a timer that ends its context; all other limits are kept by hooks.
type bounds struct {
	mu    sync.Mutex
	began time.Time
	end   context.CancelCauseFunc // nil: no run goes on
	timer *time.Timer
	at    time.Duration // when the timer ends the run, since began
	why   string        // stop reason of that end
	steps int           // 0: no number is known

	pauses int // people who are waited for
	paused time.Time
}

// limitReached is the cause of a run's context when a limit of time has ended
// it.
type limitReached struct {
	reason string // stopReason of agent-end
	after  time.Duration
}

func (l *limitReached) Error() string {
	return fmt.Sprintf("the %s limit of the run is over: %s have passed", l.reason, l.after)
}

func (b *bounds) reset(began time.Time, end context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.began, b.end, b.timer, b.at, b.why, b.steps, b.pauses = began, end, nil, 0, "", 0, 0
}

// over takes the limits back: the run has ended.
func (b *bounds) over() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = nil
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *bounds) endAfter(d time.Duration, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end == nil || b.timer != nil && b.at <= d {
		return
	}
	b.at, b.why = d, reason
	b.arm()
}

// arm sets the timer for the end that is known, under the lock.
func (b *bounds) arm() {
	if b.timer != nil {
		b.timer.Stop()
	}
	end, cause := b.end, &limitReached{b.why, b.at}
	left := time.Until(b.began.Add(b.at))
	b.timer = time.AfterFunc(left, func() { end(cause) })
	switch {
	case b.pauses > 0:
		b.timer.Stop()
	case left <= 0:
		end(cause)
	}
}

// pause stops the time of the run, and of those that it works for, while a person is
// waited for.
func (r *Run) pause() (goOn func()) {
	for run := r; run != nil; run = run.parent {
		run.bounds.hold()
	}
	return func() {
		for run := r; run != nil; run = run.parent {
			run.bounds.goOn()
		}
	}
}

func (b *bounds) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pauses++; b.pauses > 1 {
		return
	}
	b.paused = time.Now()
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *bounds) goOn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pauses == 0 {
		return // another run began meanwhile
	}
	if b.pauses--; b.pauses > 0 {
		return
	}
	b.began = b.began.Add(time.Since(b.paused))
	if b.end != nil && b.timer != nil {
		b.arm()
	}
}

// endNow ends the run for a reason that is its error.
func (b *bounds) endNow(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		b.end(cause)
	}
}

func (b *bounds) limitSteps(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.steps == 0 || n < b.steps {
		b.steps = max(n, 0)
	}
}

// left are the steps that are left when so many were taken, nil if nobody said
// how many there are.
func (b *bounds) left(taken int) *int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.steps == 0 {
		return nil
	}
	left := max(0, b.steps-taken)
	return &left
}
