package process

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Child is a program that lives as long as its owner wants, and talks with it
// over pipes. It is contained like any other run: whatever ends it, its whole
// tree goes with it.
type Child struct {
	// Stdin and Stdout are our ends of its pipes. Deadlines work on them, and a
	// Close frees whoever is blocked. They are the owner's to use from any
	// goroutine; End and Bury close both. A parked program has no Stdout: it is
	// heard by Hear and Overhear.
	Stdin, Stdout *os.File

	done   chan struct{}
	result Result
	cancel context.CancelCauseFunc

	theirs     *os.File      // of a parked one, the end of stdin that it reads: it tells what is unread
	stdout     *stdoutReader // of a parked one, its stdout
	stderrTail *stderrTail   // of a parked one
	drains     atomic.Bool
	drained    chan struct{} // closed by OutputClosed
	outputDone sync.Once
	sending    chan struct{} // closed when the last Send is written; nil while none needed to wait
	written    *int64        // bytes of the last Send that got into the pipe; stands when sending is closed
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
	command := *c
	command.Key = ""
	if err := rt.enter(ctx, ""); err != nil {
		return nil, err
	}
	theirs, ours, err := openTalk()
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

// begin starts a child's program on its ends of their pipes. The child's stdin is
// closed if that fails.
func (rt *Runtime) begin(ctx context.Context, command *Command, child *Child, theirs *talk) error {
	command.Stdin, command.Stream, command.Merge = nil, nil, false
	command.talk = theirs
	child.done, child.drained = make(chan struct{}), make(chan struct{})
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
		if child.stdout != nil { // what no containment holds may keep the pipe open
			child.stdout.interrupt()
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

// Cut begins to end the child: TERM, then KILL after the command's grace. It does
// not wait, and the child meets no end of input before: a program that was still
// to get its input must not act on an empty one. [Child.Bury] comes after it.
func (c *Child) Cancel(cause error) { c.cancel(cause) }

// Bury returns when the tree of a child that has ended, or was cut, is gone. It
// takes talk only to close the pipes, so that whoever talks with the child hears
// its last words, and nobody who begins to waits for a tree that does not die.
func (c *Child) Reap(talk sync.Locker) Result {
	<-c.done
	c.awaitGone()
	talk.Lock()
	defer talk.Unlock()
	c.closeOutput()
	c.Stdin.Close()
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
	c.awaitGone()
	c.closeOutput()
	return c.result
}

func (c *Child) awaitGone() {
	stuck := time.NewTimer(closePatience)
	defer stuck.Stop()
	select {
	case <-c.result.Gone:
	case <-stuck.C: // the kernel cannot end it; Close of the Runtime says so
	}
}

func (c *Child) closeOutput() {
	if c.stdout == nil {
		c.Stdout.Close()
		return
	}
	c.stdout.close()
	c.theirs.Close()
}

// Send writes a message, and closes stdin behind it if it is the last. What the
// pipe takes is written at once, so an ordinary message costs one call; for the
// rest somebody else waits, so the owner is free to read what the program writes
// meanwhile. Whether the program reads it shows in what it answers.
func (c *Child) Send(pieces [][]byte, last bool) {
	in := new(int64)
	c.written = in
	if c.sending == nil {
		all := inputSize(pieces)
		pieces = writeNow(c.Stdin, pieces)
		*in = int64(all - inputSize(pieces))
		if len(pieces) == 0 {
			if last {
				c.Stdin.Close()
			}
			return
		}
	}
	before, done := c.sending, make(chan struct{})
	c.sending = done
	go func() { // ends when the program reads or ends, or stdin is closed
		defer close(done)
		if before != nil {
			<-before
		}
		for _, piece := range pieces {
			n, err := c.Stdin.Write(piece)
			if *in += int64(n); err != nil {
				break
			}
		}
		if last {
			c.Stdin.Close()
		}
	}()
}

// Unread reports whether a program that has ended has certainly read nothing of
// the last Send: all that was written of it still lies in the pipe, or nothing was,
// because it had been buried before. It is false where that cannot be known. Nothing can be sent afterwards.
func (c *Child) InputUnread() bool {
	if c.sending != nil {
		c.Stdin.SetWriteDeadline(time.Unix(1, 0))
		<-c.sending
	}
	return c.written != nil && (*c.written == 0 || int64(waiting(c.theirs)) >= *c.written)
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
