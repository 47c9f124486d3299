package process

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how programs are run. The zero value is right for a command that
// lives for one event.
type Options struct {
	// LongLived keeps a guardian process that ends everything still running when
	// this process is killed. Without it the kernel ends the programs themselves
	// (the parent-death signal), and what they started is not covered.
	LongLived bool

	// Processes is how many programs run at once (default 16). A run waits for a
	// place; the wait counts against its context. A place is free when the tree of its
	// program is gone, Result.Gone, which may be a moment after Run has returned.
	Processes int

	// Containment asks for one kind and no other. New fails if it does not work.
	// With Best the choice is made when it is needed first: by a program, or by
	// [Runtime.Containment].
	Containment Kind

	// Sole says that this process is there for its programs: nothing else in it
	// starts any. It then reaps every orphan that comes to it, ends those of which
	// nothing tells from which program they come, and does not stay stopped while
	// programs run. Only on Linux, and for one Runtime of a process.
	Dedicated bool

	// Starting, unless nil, is called before the first program is started, if any
	// is. It may be called again.
	Starting func()

	portable bool // tests: the ladder of the other platforms
}

// DefaultProcesses is how many programs run at once unless Options say otherwise.
const DefaultProcesses = 16

// closePatience is how long Close waits for processes that do not die.
const closePatience = 5 * time.Second

// Runtime runs programs. It is made once per process and is safe for
// concurrent use.
type Runtime struct {
	options Options
	places  chan struct{} // one token per running program

	choosing    sync.Mutex  // guards the next two until prepared is set
	chosen      atomic.Bool // they are not changed any more
	containment containment
	guardian    *guardian   // nil unless LongLived
	dedication  *dedication // nil unless Options.Sole

	mu       sync.Mutex
	closed   bool
	starting int                          // calls of hold without release
	running  map[*run]struct{}            // until the tree is gone
	ending   map[string][]<-chan struct{} // Gone of runs that were cut short, by key
	idle     chan struct{}                // set by Close; closed when nothing is held or running
	giveUp   chan struct{}                // closed when Close stops waiting
}

// New prepares to run programs. It costs next to nothing unless a kind of
// containment is asked for: whoever starts for each event may run none.
func New(options Options) (*Runtime, error) {
	if options.Processes <= 0 {
		options.Processes = DefaultProcesses
	}
	if err := prepareProcess(&options); err != nil {
		return nil, fmt.Errorf("prepare to run programs: %w", err)
	}
	rt := &Runtime{
		options: options,
		places:  make(chan struct{}, options.Processes),
		running: make(map[*run]struct{}),
		ending:  make(map[string][]<-chan struct{}),
		giveUp:  make(chan struct{}),
	}
	rt.dedication = newDedication(&options)
	if options.Containment == Best {
		return rt, nil
	}
	if err := rt.chooseContainment(); err != nil {
		rt.dedication.close()
		return nil, err
	}
	return rt, nil
}

// prepare probes which containment works here and takes what it needs for it, and
// starts the guardian, once. What has failed is tried again by the next call.
func (rt *Runtime) chooseContainment() error {
	if rt.chosen.Load() {
		return nil
	}
	rt.choosing.Lock()
	defer rt.choosing.Unlock()
	if rt.chosen.Load() {
		return nil
	}
	if rt.options.Starting != nil {
		rt.options.Starting()
	}
	chosen, err := choose(&rt.options)
	if err != nil {
		return err
	}
	if rt.options.LongLived {
		if rt.guardian, err = newGuardian(chosen); err != nil {
			chosen.close()
			return err
		}
		rt.dedication.watches(rt.guardian)
	}
	rt.containment = chosen
	rt.chosen.Store(true)
	return nil
}

// Containment reports which containment holds, and what it covers. It finds that
// out first if nothing was run before. Misses of a Runtime that can run nothing
// says why.
func (rt *Runtime) Containment() Report {
	err := rt.beginStart()
	if err == nil {
		err = rt.chooseContainment()
		rt.endStart()
	}
	if !rt.chosen.Load() {
		return Report{Misses: fmt.Sprintf("no program can be started: %v", err)}
	}
	report := rt.containment.report()
	if report.Guardian == "" {
		report.Guardian = guardianReport(rt.guardian != nil)
	}
	return report
}

// Close ends every program that still runs, waits until all their processes are
// gone, and removes what the containment made. Runs in flight return ErrClosed.
// An error names what could not be ended or removed.
func (rt *Runtime) Close() error {
	rt.mu.Lock()
	if rt.closed {
		rt.mu.Unlock()
		return nil
	}
	rt.closed = true
	rt.idle = make(chan struct{})
	for r := range rt.running {
		r.program.interrupt(ErrClosed)
	}
	rt.announceIdle()
	rt.mu.Unlock()

	defer rt.dedication.close()
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	select {
	case <-rt.idle:
	case <-patience.C:
		close(rt.giveUp)
		return rt.leftovers()
	}
	if !rt.chosen.Load() {
		return nil
	}
	if rt.guardian != nil {
		rt.guardian.dismiss()
	}
	return rt.containment.close()
}

// leftovers names the programs whose processes would not die.
func (rt *Runtime) leftovers() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var pids []int
	for r := range rt.running {
		pids = append(pids, r.program.pid())
	}
	return fmt.Errorf("processes of %d programs did not end within %s (started as process %v)", len(pids), closePatience, pids)
}

// enter waits until the program may start, as long as the context allows, and
// takes a place.
func (rt *Runtime) enter(ctx context.Context, key string) error {
	if rt.isClosed() {
		return ErrClosed
	}
	if err := rt.awaitEnding(ctx, key); err != nil {
		return err
	}
	select {
	case rt.places <- struct{}{}:
	default:
		select {
		case rt.places <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-rt.giveUp:
			return ErrClosed
		}
	}
	if ctx.Err() != nil {
		rt.leave()
		return context.Cause(ctx)
	}
	return nil
}

func (rt *Runtime) leave() { <-rt.places }

func (rt *Runtime) isClosed() bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.closed
}

// awaitEnding waits until no tree of an earlier run with the key is ending.
func (rt *Runtime) awaitEnding(ctx context.Context, key string) error {
	for {
		gone := rt.endingOf(key)
		if gone == nil {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return fmt.Errorf("%w while an earlier run of it was still ending", context.Cause(ctx))
		case <-rt.giveUp:
			return ErrClosed
		}
	}
}

// endingOf returns the Gone of one earlier run with the key that has not ended,
// nil if there is none.
func (rt *Runtime) endingOf(key string) <-chan struct{} {
	if key == "" {
		return nil
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	list := slices.DeleteFunc(rt.ending[key], func(gone <-chan struct{}) bool {
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
	if len(list) == 0 {
		delete(rt.ending, key)
		return nil
	}
	rt.ending[key] = list
	return list[0]
}

// noteEnding makes later runs with the key wait.
func (rt *Runtime) noteEnding(key string, gone <-chan struct{}) {
	if key == "" {
		return
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.ending[key] = append(rt.ending[key], gone)
}

// hold makes Close wait for what is not running yet, until release is called.
func (rt *Runtime) beginStart() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return ErrClosed
	}
	rt.starting++
	return nil
}

func (rt *Runtime) endStart() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.starting--
	rt.announceIdle()
}

// register makes Close aware of a started program.
func (rt *Runtime) register(r *run) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.running[r] = struct{}{}
	if rt.closed {
		r.program.interrupt(ErrClosed)
	}
}

func (rt *Runtime) unregister(r *run) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	delete(rt.running, r)
	rt.dedication.ended()
	rt.announceIdle()
}

// announceIdle tells a waiting Close that nothing runs any more.
func (rt *Runtime) announceIdle() {
	if rt.idle != nil && rt.starting == 0 && len(rt.running) == 0 {
		select {
		case <-rt.idle:
		default:
			close(rt.idle)
		}
	}
}
