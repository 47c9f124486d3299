package process

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// Child is a program that lives as long as its owner wants, and exchanges messages
// with it over pipes. It is contained as any other run is: whatever ends it, its
// whole tree ends with it.
type Child struct {
	// Stdin and Stdout are our ends of the child's pipes. Deadlines work on them, and
	// Close frees a goroutine that is blocked on one. The owner may use them from any
	// goroutine; End and Reap close both. An idle child has no Stdout: its owner reads
	// it by Read and ReadBuffered.
	Stdin, Stdout *os.File

	done   chan struct{}
	result Result
	cancel context.CancelCauseFunc
	input  inputWriter
	idle   *idleChild // nil unless it was started by StartIdle
}

// ErrEnded is the Err of a child that [Child.End] had to cut short.
var ErrEnded = errors.New("the program was ended")

// Start starts a program and returns without waiting for it. It is ended when
// ctx ends, when the Runtime is closed, or by [Child.End], which every owner
// must call in the end. It holds one of the slots of Options.Processes until its tree is
// gone.
//
// Of the command, Stdin, Key, Stream, Merge and the limits of stdout have no
// meaning here: stdin and stdout are the child's, and a tail of stderr is kept. The
// error says why the program could not be started.
func (rt *Runtime) Start(ctx context.Context, c *Command) (*Child, error) {
	command := *c
	command.Key = ""
	if err := rt.enter(ctx, ""); err != nil {
		return nil, err
	}
	theirs, ours, err := openPipePairs()
	if err != nil {
		rt.leave()
		return nil, err
	}
	defer theirs.close()
	child := &Child{Stdin: ours.in, Stdout: ours.out}
	if err := rt.begin(ctx, &command, child, theirs); err != nil {
		rt.leave()
		ours.out.Close()
		return nil, err
	}
	return child, nil
}

// begin starts a child's program on its ends of the pipes. If that fails, begin
// closes the child's stdin.
func (rt *Runtime) begin(ctx context.Context, command *Command, child *Child, theirs *pipePair) error {
	command.Stdin, command.Stream, command.Merge = nil, nil, false
	command.child.pipes = theirs
	child.done = make(chan struct{})
	began := time.Now()
	life, cancel := context.WithCancelCause(ctx)
	child.cancel = cancel
	r, err := rt.start(life, command)
	if err != nil {
		cancel(nil)
		child.Stdin.Close()
		return err
	}
	go func() {
		child.result = r.answer(life)
		child.result.Took = time.Since(began)
		close(child.done)
		if child.idle != nil { // a process that no containment holds may keep the pipe open
			child.idle.stdout.interrupt()
		}
		cancel(nil)
	}()
	return nil
}

// Done is closed when the program has exited or is being ended. Result stands
// from then on.
func (c *Child) Done() <-chan struct{} { return c.done }

// Result waits until Done and says how the child ended. Its Stdout is empty.
func (c *Child) Result() Result {
	<-c.done
	return c.result
}

// Cancel begins to end the child: TERM, then KILL after the command's grace. It does
// not wait, and does not close stdin first: a program that has not had its input yet
// must not act on an empty one. The owner must call [Child.Reap] after it.
func (c *Child) Cancel(cause error) { c.cancel(cause) }

// Reap returns when the tree of a child that has ended, or was cancelled, is gone. It
// locks pipes only to close the pipes, so that a goroutine that holds the lock reads
// the child's last output, and one that waits for the lock does not wait for a tree
// that does not die.
func (c *Child) Reap(pipes sync.Locker) Result {
	<-c.done
	c.awaitGone()
	pipes.Lock()
	defer pipes.Unlock()
	c.closeOutput()
	c.Stdin.Close()
	return c.result
}

// End closes the child's stdin, gives it timeout to exit by itself, then sends TERM
// and, after the command's grace, KILL. It returns when the tree is gone. It may be
// called again, and from several goroutines.
func (c *Child) End(timeout time.Duration) Result {
	c.Stdin.Close()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
		c.cancel(ErrEnded)
		<-c.done
	}
	c.awaitGone()
	c.closeOutput()
	return c.result
}

func (c *Child) awaitGone() {
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-c.result.Gone:
	case <-timer.C: // the kernel cannot end it; Close of the Runtime says so
	}
}

func (c *Child) closeOutput() {
	if c.idle == nil {
		c.Stdout.Close()
		return
	}
	c.idle.stdout.close()
	c.idle.theirStdin.Close()
}

// pipePair is one side of the two pipes between a child and its owner.
type pipePair struct{ in, out *os.File }

func openPipePairs() (theirs, ours *pipePair, err error) {
	theirs, ours = &pipePair{}, &pipePair{}
	if theirs.in, ours.in, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if ours.out, theirs.out, err = os.Pipe(); err != nil {
		closeFile(theirs.in)
		closeFile(ours.in)
		return nil, nil, err
	}
	return theirs, ours, nil
}

func (p *pipePair) close() {
	closeFile(p.in)
	closeFile(p.out)
}
