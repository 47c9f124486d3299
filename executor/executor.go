package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/inflight"
	"github.com/hookd-dev/hookd/executor/internal/slots"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
)

// Options say how an [Executor] works. The zero value decides events and keeps
// nothing on disk.
type Options struct {
	// StateDir is the folder of records and of what hooks remember, normally
	// [StateDir]. "" keeps no records, and hooks remember as long as the Executor
	// lives.
	StateDir string

	// Depth is how many hooks are above this process, normally
	// ProcessDepth of package hookenv.
	Depth int

	// Explain lists the hooks that do not match an event among its runs.
	Explain bool

	// Progress is told about every hook asked. [Executor.WithProgress] takes its place
	// for some events.
	Progress Progress
}

// Progress is told about hooks as they are asked. Each function may be nil, may
// be called from several goroutines, also after Fire has returned (observers),
// and must return quickly.
type Progress struct {
	Started  func(ev *protocol.Event, h *Hook)
	Finished func(ev *protocol.Event, h *Hook, run protocol.Run)
	// Notice gets notices for the person that are in no outcome: the notices and
	// failures of observers.
	Notice func(ev *protocol.Event, notice protocol.HookText)
	// Cut is called for a hook that should have been asked about an event, and was not
	// asked or was ended before its answer, because the time to wait for it was over.
	Cut func(ev *protocol.Event, h *Hook)
}

func (p Progress) started(ev *protocol.Event, h *Hook) {
	if p.Started != nil {
		p.Started(ev, h)
	}
}

func (p Progress) finished(ev *protocol.Event, h *Hook, run protocol.Run) {
	if p.Finished != nil {
		p.Finished(ev, h, run)
	}
}

func (p Progress) cut(ev *protocol.Event, h *Hook) {
	if p.Cut != nil {
		p.Cut(ev, h)
	}
}

func (p Progress) notice(ev *protocol.Event, notices ...protocol.HookText) {
	if p.Notice == nil {
		return
	}
	for _, notice := range notices {
		p.Notice(ev, notice)
	}
}

// Executor decides events by asking hooks. It is safe for concurrent use: events
// of different sessions, and side by side calls of one, run in parallel.
type Executor struct {
	source  Source
	options Options
	states  *state.Store
	records *record.Log // nil without a state folder

	running     inflight.Group // everything that Close waits for
	slots       slots.Slots    // hook processes at once
	runningLate runningLate
	guards      sessionGuards
	callbacks   callbackResults
	observers   observers
	backlog     backlog
	problems    problems
}

// New returns an Executor that takes its hooks from source, once for each event.
func New(source Source, options Options) *Executor {
	e := &Executor{source: source, options: options, states: state.Open(""), observers: observers{contexts: newLayerContexts()}}
	if options.StateDir != "" {
		e.states = state.Open(filepath.Join(options.StateDir, "sessions"))
		e.records = record.Open(filepath.Join(options.StateDir, "records"), 0, 0)
		if set := source.Current(); set != nil {
			e.records.SetLimits(set.Settings.Hooks.Records.Keep, set.Settings.Hooks.Records.MaxSize)
		}
	}
	return e
}

// Close waits for observers that are still queued or running, and for the hooks of
// events that go on without their host: those of each layer for as long as
// hooks.drain of that layer says, all at most until ctx ends. It ends those that
// are left, and closes the records. A hook that was not asked, or not to the end, is
// recorded as dropped and told to Progress.Cut. The error names what could not be
// written; it is a [ToldError] where a notice has said so before.
func (e *Executor) Close(ctx context.Context) error {
	set := e.source.Current()
	if set == nil {
		set = refusingSet()
	}
	drained := e.running.Idle()
	e.drain(ctx, set, drained)
	// What is asked now is being ended. A Go hook that ignores its context cannot
	// be ended, and is not waited for.
	patience := time.NewTimer(2 * answerGrace)
	defer patience.Stop()
	select {
	case <-drained:
	case <-patience.C:
	}
	if e.records == nil {
		return nil
	}
	var errs []error
	told := e.problems.any()
	if err := e.records.Close(); err != nil {
		errs = append(errs, fmt.Errorf("close records: %w", err))
	}
	if err := e.states.PruneIfDue(set.longestKeep()); err != nil && !told {
		errs = append(errs, fmt.Errorf("remove what old sessions remember: %w", err))
	}
	err := errors.Join(errs...)
	if err != nil && told {
		return ToldError{err}
	}
	return err
}

// drain waits until drained is closed, and ends the observers of each layer when
// the time of that layer is over.
func (e *Executor) drain(ctx context.Context, set *Set, drained <-chan struct{}) {
	began := time.Now()
	order := slices.Clone(layers)
	slices.SortStableFunc(order, func(a, b protocol.Layer) int { return int(set.drainOf(a) - set.drainOf(b)) })
	for _, layer := range order {
		timer := time.NewTimer(set.drainOf(layer) - time.Since(began))
		select {
		case <-drained:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		e.observers.end(layer, errClosed)
	}
}

// Drain returns the longest time that [Executor.Close] waits for hooks, by the current
// settings.
func (e *Executor) Drain() (longest time.Duration) {
	if set := e.source.Current(); set != nil {
		for _, layer := range layers {
			longest = max(longest, set.drainOf(layer))
		}
	}
	return longest
}

// Forget frees what is remembered in memory of a session that is over, and ends
// the processes that resident hooks have for it. The session-end event does the same.
func (e *Executor) Forget(session string) {
	e.guards.forget(session)
	e.callbacks.forget(session)
	e.endResident(e.source.Current(), session)
}

// endResident ends the processes that resident hooks have for a session. Those of
// observers that still have to be asked about its end are ended after that event.
func (e *Executor) endResident(set *Set, session string) {
	if set == nil || session == "" {
		return
	}
	for _, h := range set.Hooks {
		if workers := h.Info().Workers; workers != nil && !e.observers.pending(queueKey{session, keyOf(h)}) {
			workers.EndSession(session)
		}
	}
}

// StateDir returns the folder of everything that hookd keeps about its user's
// projects and sessions, and creates it if need be.
func StateDir() (string, error) { return state.Dir() }

// ToldError is an error of [Executor.Close] that a notice has already reported to the
// person.
type ToldError struct{ error }

func (e ToldError) Unwrap() error { return e.error }

// problems are failures that are not those of hooks, such as a full disk. Each is
// reported to the person once, and again only after it has gone well meanwhile.
type problems struct {
	mu   sync.Mutex
	told map[string]bool
}

// any reports whether the person was told of a problem that lasts.
func (p *problems) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.told) > 0
}

// report returns the notice about a problem with what; it returns none if err is nil or
// was reported before. text says what the problem means.
func (p *problems) report(what, text string, err error) []protocol.HookText {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.told, what)
		return nil
	}
	if p.told[what] {
		return nil
	}
	if p.told == nil {
		p.told = map[string]bool{}
	}
	p.told[what] = true
	return []protocol.HookText{{Hook: selfName, Text: fmt.Sprintf("%s: %v", text, err)}}
}

// CallbackResult returns what keeps a recipe's text for a hook; see
// [protocol.EventGate]. A newer text takes the place of one that the hook has not read.
func (e *Executor) CallbackResult(session, agent string, hook protocol.HookRef) func(text string) {
	key := callbackKey{session, agent, hookKey{hook.Layer, hook.Name}}
	return func(text string) {
		c := &e.callbacks
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.texts == nil {
			c.texts = map[callbackKey]string{}
		}
		c.texts[key] = text
	}
}
