package limits

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Run is how long a run may take and how many steps it has, as providers said. Its timer
// ends the run's context when the time is over; hooks hold all other limits.
type Run struct {
	parent *Run // that this one works for, nil for none

	mu    sync.Mutex
	began time.Time
	end   context.CancelCauseFunc // nil: no run goes on
	timer *time.Timer
	at    time.Duration // when the timer ends the run, since began
	why   string        // stop reason of that end
	steps int           // 0: no number is known

	pauses int // how many people are waited for
	paused time.Time
}

// NewRun returns the limits of a run that works for the run of parent, which is nil for a
// prompt's own run.
func NewRun(parent *Run) *Run { return &Run{parent: parent} }

// Reached is the cause of a run's context when a limit of time has ended it.
type Reached struct {
	Reason string // stopReason of agent-end
	after  time.Duration
}

func (l *Reached) Error() string {
	return fmt.Sprintf("the %s limit of the run is over: %s have passed", l.Reason, l.after)
}

// Begin is called when the run begins: no limits are known then. The run is ended with
// end.
func (r *Run) Begin(began time.Time, end context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began, r.end, r.timer, r.at, r.why, r.steps, r.pauses = began, end, nil, 0, "", 0, 0
}

// End is called when the run has ended: no limit ends it any more.
func (r *Run) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = nil
	if r.timer != nil {
		r.timer.Stop()
	}
}

// EndAfter ends the run d after its beginning, unless an earlier end was set.
func (r *Run) EndAfter(d time.Duration, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end == nil || r.timer != nil && r.at <= d {
		return
	}
	r.at, r.why = d, reason
	r.arm()
}

// arm sets the timer for the end that is known. The lock must be held.
func (r *Run) arm() {
	if r.timer != nil {
		r.timer.Stop()
	}
	end, cause := r.end, &Reached{r.why, r.at}
	left := time.Until(r.began.Add(r.at))
	r.timer = time.AfterFunc(left, func() { end(cause) })
	switch {
	case r.pauses > 0:
		r.timer.Stop()
	case left <= 0:
		end(cause)
	}
}

// Pause stops the time of the run, and of those that it works for, until goOn is called.
func (r *Run) Pause() (goOn func()) {
	for run := r; run != nil; run = run.parent {
		run.pause()
	}
	return func() {
		for run := r; run != nil; run = run.parent {
			run.goOn()
		}
	}
}

func (r *Run) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pauses++; r.pauses > 1 {
		return
	}
	r.paused = time.Now()
	if r.timer != nil {
		r.timer.Stop()
	}
}

func (r *Run) goOn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pauses == 0 {
		return // another run has begun since
	}
	if r.pauses--; r.pauses > 0 {
		return
	}
	r.began = r.began.Add(time.Since(r.paused))
	if r.end != nil && r.timer != nil {
		r.arm()
	}
}

// EndNow ends the run with a cause.
func (r *Run) EndNow(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end != nil {
		r.end(cause)
	}
}

// LimitSteps says how many steps the run has. The lowest number counts.
func (r *Run) LimitSteps(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.steps == 0 || n < r.steps {
		r.steps = max(n, 0)
	}
}

// StepsLeft returns how many steps are left after so many were taken, nil if no number is
// known.
func (r *Run) StepsLeft(taken int) *int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.steps == 0 {
		return nil
	}
	left := max(0, r.steps-taken)
	return &left
}
