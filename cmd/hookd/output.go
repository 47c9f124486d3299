package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
)

// errOutput is the cause of the context that ended because nobody can read what
// the command says: a reader that has gone (| head), or a full disk.
var errOutput = errors.New("output cannot be written")

// outlet is a stream that remembers the first write that failed, and tells of it.
type outlet struct {
	to     io.Writer
	failed func()
	cause  atomic.Pointer[error]
}

func (o *outlet) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil && o.cause.CompareAndSwap(nil, &err) {
		o.failed()
	}
	return n, err
}

// watchOutput ends the command in good order when its stdout cannot be written,
// see [apart].
func (a *app) watchOutput(cancel context.CancelCauseFunc) {
	a.outlet = &outlet{to: a.out.W, failed: func() { cancel(errOutput) }}
	a.out.W = a.outlet
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
