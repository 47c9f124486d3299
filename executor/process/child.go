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
	// goroutine; End and Bury close both.
	Stdin, Stdout *os.File

	done   chan struct{}
	result Result
	cancel context.CancelCauseFunc

	theirs  *os.File // of a parked one, the end of stdin that it reads: it tells what is unread
	stderr  *hearing // nil unless it was parked
	asked   atomic.Bool
	heard   chan struct{} // closed by OutputClosed
	hush    sync.Once
	sending chan struct{} // closed when the last Send is written; nil while none needed to wait
	written *int64        // bytes of the last Send that got into the pipe; stands when sending is closed
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
	child, err := rt.begin(ctx, &command, nil)
	if err != nil {
		rt.leave()
		return nil, err
	}
	return child, nil
}

// Park starts a program that is to wait for its work. It differs from a started
// one in three ways: it takes no place, because it may wait for long; its stderr
// can be had while it lives ([Child.Stderr]); and when it is cut short, later
// runs with the command's Key wait until its tree is gone.
func (rt *Runtime) Park(ctx context.Context, c *Command) (*Child, error) {
	if rt.isClosed() {
		return nil, ErrClosed
	}
	command := *c
	command.placeless = true
	heard := &hearing{tail: output{limit: c.withDefaults().StderrTail, tail: true}}
	command.hear = heard.add
	return rt.begin(ctx, &command, heard)
}

// AwaitEnding waits until no earlier run with the key, parked or not, that was cut
// short is still ending. The error is the cause of the context's end.
func (rt *Runtime) AwaitEnding(ctx context.Context, key string) error {
	return rt.awaitEnding(ctx, key)
}

// begin starts a program; heard is the stderr of one that is parked.
func (rt *Runtime) begin(ctx context.Context, command *Command, heard *hearing) (*Child, error) {
	theirs, ours, err := openTalk()
	if err != nil {
		return nil, err
	}
	defer closeFile(theirs.out)
	command.Stdin, command.Stream, command.Merge = nil, nil, false
	command.talk = theirs

	child := &Child{Stdin: ours.in, Stdout: ours.out, done: make(chan struct{}), heard: make(chan struct{}), stderr: heard}
	if heard != nil {
		child.theirs, command.linger = theirs.in, child.linger
	} else {
		defer closeFile(theirs.in)
	}
	began := time.Now()
	life, cancel := context.WithCancelCause(ctx)
	child.cancel = cancel
	r, err := rt.start(life, command)
	if err != nil {
		cancel(nil)
		ours.close()
		closeFile(child.theirs)
		return nil, err
	}
	go func() {
		child.result = r.answer(life)
		child.result.Took = time.Since(began)
		close(child.done)
		if heard != nil { // what no containment holds may keep the pipe open
			child.Stdout.SetReadDeadline(time.Unix(1, 0))
		}
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

// Cut begins to end the child: TERM, then KILL after the command's grace. It does
// not wait, and the child meets no end of input before: a program that was still
// to get its input must not act on an empty one. [Child.Bury] comes after it.
func (c *Child) Cut(cause error) { c.cancel(cause) }

// Bury returns when the tree of a child that has ended, or was cut, is gone. It
// takes talk only to close the pipes, so that whoever talks with the child hears
// its last words, and nobody who begins to waits for a tree that does not die.
func (c *Child) Bury(talk sync.Locker) Result {
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
	c.Stdout.Close()
	closeFile(c.theirs)
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
func (c *Child) Unread() bool {
	if c.sending != nil {
		c.Stdin.SetWriteDeadline(time.Unix(1, 0))
		<-c.sending
	}
	return c.written != nil && (*c.written == 0 || int64(waiting(c.theirs)) >= *c.written)
}

// Overhear returns what the program has written up to now and nobody has read, at
// most len(buffer) bytes, without waiting for more.
func (c *Child) Overhear(buffer []byte) []byte { return buffer[:readNow(c.Stdout, buffer)] }

// AwaitOutput has what the program leaves behind treated as [Runtime.Run] does:
// when it exits, processes that hold its stdout may still write there for the
// command's Drain, and only then are they ended.
func (c *Child) AwaitOutput() { c.asked.Store(true) }

// OutputClosed says that stdout is at its end, or of no interest any more.
func (c *Child) OutputClosed() { c.hush.Do(func() { close(c.heard) }) }

// linger waits for the output behind an exit and reports whether it had no end.
func (c *Child) linger(drain time.Duration) (held bool) {
	if !c.asked.Load() {
		return false
	}
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-c.heard:
		return false
	case <-timer.C:
		return true
	}
}

// Stderr returns and forgets what a parked program wrote to stderr since the last
// call, its last bytes.
func (c *Child) Stderr() ([]byte, int64) { return c.stderr.take() }

// hearing collects a tail that somebody else takes.
type hearing struct {
	mu   sync.Mutex
	tail output
}

func (h *hearing) add(piece []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tail.add(piece)
}

func (h *hearing) take() ([]byte, int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, cut := h.tail.take()
	h.tail = output{limit: h.tail.limit, tail: true}
	return text, cut
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
