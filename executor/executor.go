package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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

	// Depth is how many hooks are above this process, normally [hookenv.ProcessDepth].
	Depth int

	// Explain lists the hooks that do not match an event among its runs.
	Explain bool

	// Progress is told about every hook asked. [WithProgress] takes its place for
	// one event.
	Progress Progress
}

// Progress is told about hooks as they are asked. Each function may be nil, may
// be called from several goroutines, also after Fire has returned (observers),
// and must return quickly.
type Progress struct {
	Started  func(ev *protocol.Event, h *Hook)
	Finished func(ev *protocol.Event, h *Hook, run protocol.Run)
	// Notice gets what the person is to read and no outcome holds: the notices
	// and failures of observers.
	Notice func(ev *protocol.Event, notice protocol.HookText)
	// Cut is told of a hook that was due to hear of an event and did not, or not to
	// its own end, because nobody waited for it any longer.
	Cut func(ev *protocol.Event, h *Hook)
}

type progressKey struct{}

// WithProgress returns a context under which Fire tells p about its hooks.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// Executor decides events by asking hooks. It is safe for concurrent use: events
// of different sessions, and side by side calls of one, run in parallel.
type Executor struct {
	source  Source
	options Options
	states  *state.Store
	records *record.Log // nil without a state folder

	lives map[protocol.Layer]life // of what outlives its event: observers
	work  inflight.Group

	slots      slots.Slots // hook processes at once
	overdue    overdue
	memory     memory
	judgements judgements
	observers  observers
	backlog    backlog
	troubles   troubles
}

var errClosed = errors.New("hookd is shutting down")

// New returns an Executor that takes its hooks from source, once for each event.
func New(source Source, options Options) *Executor {
	e := &Executor{source: source, options: options, states: state.Open("")}
	if options.StateDir != "" {
		e.states = state.Open(filepath.Join(options.StateDir, "sessions"))
		e.records = record.Open(filepath.Join(options.StateDir, "records"), 0, 0)
		if set := source.Current(); set != nil {
			e.records.SetLimits(set.Settings.Hooks.Records.Keep, set.Settings.Hooks.Records.MaxSize)
		}
	}
	e.lives = make(map[protocol.Layer]life, len(layers))
	for _, layer := range layers {
		e.lives[layer] = newLife()
	}
	return e
}

// Close waits for observers that are still queued or running, and for the hooks of
// events that go on without their host: those of each layer for as long as
// hooks.drain of that layer says, all at most until ctx ends. It ends those that
// are left, and closes the records. Who was not asked, or not to the end, is
// recorded as dropped and told to Progress.Cut. The error names what could not be
// written; it is a [ToldError] where a notice has said so before.
func (e *Executor) Close(ctx context.Context) error {
	set := e.source.Current()
	if set == nil {
		set = refusing()
	}
	drained := e.work.Idle()
	e.drain(ctx, set, drained)
	// What is asked now is being ended. A Go hook that ignores its context cannot
	// be, and is not waited for.
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
	told := e.troubles.any()
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

// ToldError is the error of [Executor.Close] that the person knows of: a notice told it
// when it began.
type ToldError struct{ error }

func (e ToldError) Unwrap() error { return e.error }

// Forget frees what is remembered in memory of a session that is over, and ends
// the processes that resident hooks have for it. The
// session-end event does the same.
func (e *Executor) Forget(session string) {
	e.memory.forget(session)
	e.judgements.forget(session)
	e.endResident(e.source.Current(), session)
}

// endResident ends the processes that resident hooks have for a session. Those of
// observers that are still to hear of its end go with that event.
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

// troubles are things that went wrong beside the hooks, each told to the person
// once until it has gone well again.
type troubles struct {
	mu   sync.Mutex
	told map[string]bool
}

// any reports whether the person was told of one that lasts.
func (t *troubles) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.told) > 0
}

// tell reports whether err is news about what.
func (t *troubles) tell(what string, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		delete(t.told, what)
		return false
	}
	if t.told[what] {
		return false
	}
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[what] = true
	return true
}
