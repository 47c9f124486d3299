package process

import (
	"context"
	"fmt"
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
	// slot; the wait counts against its context. A slot is free when the tree of its
	// program is gone, Result.Gone, which may be a moment after Run has returned.
	Processes int

	// Containment asks for one kind and no other. New fails if it does not work.
	// With Best the choice is made when it is needed first: by a program, or by
	// [Runtime.Containment].
	Containment Kind

	// OwnsAllChildren says that nothing but this Runtime starts programs in this process.
	// The Runtime then reaps every orphan that the process inherits, ends an orphan that
	// cannot be assigned to a program, and resumes the process if it is stopped while
	// programs run. It has an effect on Linux only, and for one Runtime of a process.
	OwnsAllChildren bool

	portable bool // tests: the ladder of the other platforms
}

// defaultProcesses is how many programs run at once unless Options say otherwise.
const defaultProcesses = 16

// closeTimeout is how long Close waits for processes that do not die.
const closeTimeout = 5 * time.Second

// Runtime runs programs. It is made once per process and is safe for
// concurrent use.
type Runtime struct {
	options   Options
	slots     chan struct{} // one token per running program
	mechanism mechanism
	endings   endings
	hurried   atomic.Bool // no program is given grace any more

	mu       sync.Mutex
	closed   bool
	starting int               // calls of beginStart without endStart
	running  map[*run]struct{} // until the tree is gone
	idle     chan struct{}     // made by Close; closed when nothing starts or runs
	giveUp   chan struct{}     // closed when Close stops waiting
}

// New prepares to run programs. It costs next to nothing unless a kind of
// containment is asked for, because a process that lives for one event may run none.
func New(options Options) (*Runtime, error) {
	if options.Processes <= 0 {
		options.Processes = defaultProcesses
	}
	if err := prepareProcess(&options); err != nil {
		return nil, fmt.Errorf("prepare to run programs: %w", err)
	}
	rt := &Runtime{
		options: options,
		slots:   make(chan struct{}, options.Processes),
		endings: endings{gone: make(map[string][]<-chan struct{})},
		running: make(map[*run]struct{}),
		giveUp:  make(chan struct{}),
	}
	rt.mechanism.supervisor = newSupervisor(&options)
	if options.Containment == Best {
		return rt, nil
	}
	if err := rt.mechanism.choose(&rt.options); err != nil {
		rt.mechanism.supervisor.close()
		return nil, err
	}
	return rt, nil
}

// Containment reports which containment holds, and what it covers. It finds that
// out first if nothing was run before. If no program can be run at all, Misses of
// the report says why.
func (rt *Runtime) Containment() Report {
	err := rt.beginStart()
	if err == nil {
		err = rt.mechanism.choose(&rt.options)
		rt.endStart()
	}
	return rt.mechanism.report(err)
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

	defer rt.mechanism.supervisor.close()
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	select {
	case <-rt.idle:
	case <-timeout.C:
		close(rt.giveUp)
		return rt.leftovers()
	}
	return rt.mechanism.close()
}

// Hurry ends the grace time of every program, now and from now on: what is to end is killed.
// It is for a process that must be gone at a time.
func (rt *Runtime) Hurry() { rt.hurried.Store(true) }

// leftovers returns an error that names the programs whose processes do not die.
func (rt *Runtime) leftovers() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var pids []int
	for r := range rt.running {
		pids = append(pids, r.program.pid())
	}
	return fmt.Errorf("processes of %d programs did not end within %s (started as process %v)", len(pids), closeTimeout, pids)
}

// enter waits until a program with the key may start, as long as the context allows,
// and takes a slot.
func (rt *Runtime) enter(ctx context.Context, key string) error {
	if rt.isClosed() {
		return ErrClosed
	}
	if err := rt.AwaitEnding(ctx, key); err != nil {
		return err
	}
	select {
	case rt.slots <- struct{}{}:
	default:
		select {
		case rt.slots <- struct{}{}:
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

// leave gives a slot back.
func (rt *Runtime) leave() { <-rt.slots }

// AwaitEnding waits until the trees of all earlier runs with the key that were cut
// short are gone. The error is the cause of the context's end.
func (rt *Runtime) AwaitEnding(ctx context.Context, key string) error {
	return rt.endings.await(ctx, key, rt.giveUp)
}

func (rt *Runtime) isClosed() bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.closed
}

// beginStart makes Close wait for a program that does not run yet, until endStart
// is called.
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
	rt.mechanism.supervisor.ended()
	rt.announceIdle()
}

// announceIdle tells a waiting Close that nothing runs any more. The caller holds
// rt.mu.
func (rt *Runtime) announceIdle() {
	if rt.idle != nil && rt.starting == 0 && len(rt.running) == 0 {
		select {
		case <-rt.idle:
		default:
			close(rt.idle)
		}
	}
}
