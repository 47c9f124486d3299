package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"
)

// errOutput is the cause of the context that ended because nobody can read what
// the command says: a reader that has gone (| head), or a full disk.
var errOutput = errors.New("output cannot be written")

// errUnread is why the end of a command is not written: its reader is there, but does
// not read.
var errUnread = errors.New("nobody reads it")

// readerPatience is how long the end of a command waits for a reader that is slow.
// Before that end a reader may take all the time it wants.
const readerPatience = 2 * time.Second

// outlet is a stream that remembers the first write that failed, and tells of it. A
// reader that has stopped (a pager, a suspended program) does not keep the command from
// ending: what hangs is given up, and so is all after it.
type outlet struct {
	to      io.Writer
	failed  func()
	ending  <-chan struct{} // closed when the command is to end
	hurried <-chan struct{} // closed when it is to end without waiting
	cause   atomic.Pointer[error]
	stuck   atomic.Bool // a write that was given up still hangs
}

func (o *outlet) Write(text []byte) (int, error) {
	n, err := o.write(text)
	if err != nil && o.cause.CompareAndSwap(nil, &err) {
		o.failed()
	}
	return n, err
}

func (o *outlet) write(text []byte) (int, error) {
	if o.stuck.Load() {
		return 0, errUnread
	}
	type written struct {
		n   int
		err error
	}
	text = bytes.Clone(text) // who wrote it may use it again once the write is given up
	done := make(chan written, 1)
	go func() { // nothing ends a write to a pipe that is full but its reader, or our end
		n, err := o.to.Write(text)
		done <- written{n, err}
	}()
	select {
	case w := <-done:
		return w.n, w.err
	case <-o.ending:
	}
	patience := time.NewTimer(readerPatience)
	defer patience.Stop()
	select {
	case w := <-done:
		return w.n, w.err
	case <-patience.C:
	case <-o.hurried:
	}
	o.stuck.Store(true)
	return 0, errUnread
}

// watchOutput ends the command in good order when its stdout cannot be written,
// see [apart], and has no reader keep it from ending.
func (a *app) watchOutput(ctx context.Context, cancel context.CancelCauseFunc) {
	a.outlet = &outlet{to: a.out.W, failed: func() { cancel(errOutput) }, ending: ctx.Done(), hurried: a.unhurried.Done()}
	a.out.W = a.outlet
	a.err.W = &outlet{to: a.err.W, failed: func() {}, ending: ctx.Done(), hurried: a.unhurried.Done()}
}

// tellUnread says that the end of an interrupted command is not in its output.
func (a *app) tellUnread() {
	if cause := a.outlet.cause.Load(); cause != nil && errors.Is(*cause, errUnread) {
		a.note("the end is missing in the output: "+errUnread.Error(), "")
	}
}

// outputError makes a command that could not say what it had to say a failed
// one. A refusal stays one, and an interruption too. A reader that has gone
// needs no message.
func (a *app) outputError(err error) error {
	cause := a.outlet.cause.Load()
	var refused exitCode
	if cause == nil || errors.As(err, &refused) && refused == exitRefused {
		return err
	}
	if errors.Is(*cause, syscall.EPIPE) {
		return exitCode(exitFailed)
	}
	return failed("output", fmt.Errorf("%w: %w", errOutput, *cause), "make room, or send the output elsewhere")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
