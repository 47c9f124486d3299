package process

import (
	"context"
	"errors"
	"os"
	"time"
)

// Child is a program that lives as long as its owner wants, and talks with it
// over pipes. It is contained like any other run: whatever ends it, its whole
// tree goes with it.
type Child struct {
	// Stdin and Stdout are our ends of its pipes. Deadlines work on them, and a
	// Close frees whoever is blocked. They are the owner's to use from any
	// goroutine; End closes both.
	Stdin, Stdout *os.File

	done   chan struct{}
	result Result
	cancel context.CancelCauseFunc
}

// ErrEnded is the Err of a child that [Child.End] had to cut short.
var ErrEnded = errors.New("the program was ended")

// Start starts a program and returns without waiting for it. It is ended when
// ctx ends, when the Runtime is closed, or by [Child.End], which every owner
// calls in the end. It holds one of Options.Processes places until its tree is
// gone.
//
// Of the command, Stdin, Key, Stream, Merge and the limits of stdout have no
// meaning here: its stdin and stdout are the child's, and stderr is kept as a
// tail. The error is why it could not be started; in a PID namespace that is
// known a moment later and is the Err of the child's Result.
func (rt *Runtime) Start(ctx context.Context, c *Command) (*Child, error) {
	theirs, ours, err := openTalk()
	if err != nil {
		return nil, err
	}
	defer theirs.close()
	command := *c
	command.Stdin, command.Stream, command.Merge, command.Key = nil, nil, false, ""
	command.talk = theirs

	began := time.Now()
	if err := rt.enter(ctx, ""); err != nil {
		ours.close()
		return nil, err
	}
	life, cancel := context.WithCancelCause(ctx)
	r, err := rt.start(life, &command)
	if err != nil {
		rt.leave()
		cancel(nil)
		ours.close()
		return nil, err
	}
	child := &Child{Stdin: ours.in, Stdout: ours.out, done: make(chan struct{}), cancel: cancel}
	go func() {
		child.result = r.answer(life)
		child.result.Took = time.Since(began)
		close(child.done)
		cancel(nil)
	}()
	return child, nil
}

// Done is closed when the program has exited or is being ended. Result stands
// from then on.
func (c *Child) Done() <-chan struct{} { return c.done }

// Result waits until Done and says how the child ended. Its Stdout is empty.
func (c *Child) Result() Result {
	<-c.done
	return c.result
}

// End ends the child and returns when its tree is gone: its stdin is closed, it
// has patience to exit by itself, then come TERM and, after the command's
// grace, KILL. It may be called again, and from several goroutines.
func (c *Child) End(patience time.Duration) Result {
	c.Stdin.Close()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-c.done:
	case <-wait.C:
		c.cancel(ErrEnded)
		<-c.done
	}
	stuck := time.NewTimer(closePatience)
	defer stuck.Stop()
	select {
	case <-c.result.Gone:
	case <-stuck.C: // the kernel cannot end it; Close of the Runtime says so
	}
	c.Stdout.Close()
	return c.result
}

// talk is one side of the two pipes between a child and its owner.
type talk struct{ in, out *os.File }

func openTalk() (theirs, ours *talk, err error) {
	theirs, ours = &talk{}, &talk{}
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

func (t *talk) close() {
	closeFile(t.in)
	closeFile(t.out)
}
