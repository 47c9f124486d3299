package process

import (
	"context"
	"os"
	"sync"
	"time"
)

// Park starts a program that is to wait for its work. It differs from a started
// one in three ways: it takes no place, because it may wait for long; its stderr
// can be had while it lives ([Child.Stderr]); and when it is cut short, later
// runs with the command's Key wait until its tree is gone.
func (rt *Runtime) StartIdle(ctx context.Context, c *Command) (*Child, error) {
	if rt.isClosed() {
		return nil, ErrClosed
	}
	ear, out, err := openStdoutReader()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	command := *c
	command.placeless = true
	heard := &stderrTail{tail: output{limit: c.withDefaults().StderrTail, tail: true}}
	command.onStderr = heard.add
	in, ours, err := os.Pipe()
	if err != nil {
		ear.close()
		return nil, err
	}
	child := &Child{Stdin: ours, stdout: ear, stderrTail: heard, theirs: in}
	command.awaitOutput = child.linger
	if err := rt.begin(ctx, &command, child, &talk{in, out}); err != nil {
		ear.close()
		in.Close()
		return nil, err
	}
	return child, nil
}

// AwaitEnding waits until no earlier run with the key, parked or not, that was cut
// short is still ending. The error is the cause of the context's end.
func (rt *Runtime) AwaitEnding(ctx context.Context, key string) error {
	return rt.awaitEnding(ctx, key)
}

// Hear waits until a parked program writes to stdout, and reads that. It returns
// [os.ErrDeadlineExceeded] from Hush on, and when the program has ended or is being
// ended: what it wrote up to then is to be had by Overhear.
func (c *Child) Read(buffer []byte) (int, error) { return c.stdout.read(buffer) }

// Hush frees whoever hears a parked program, now and from now on.
func (c *Child) Interrupt() { c.stdout.interrupt() }

// Overhear returns what a parked program has written up to now and nobody has
// read, at most len(buffer) bytes, without waiting for more.
func (c *Child) ReadBuffered(buffer []byte) []byte { return buffer[:readNow(c.stdout.out, buffer)] }

// AwaitOutput has what the program leaves behind treated as [Runtime.Run] does:
// when it exits, processes that hold its stdout may still write there for the
// command's Drain, and only then are they ended.
func (c *Child) DrainAfterExit() { c.drains.Store(true) }

// OutputClosed says that stdout is at its end, or of no interest any more.
func (c *Child) OutputDone() { c.outputDone.Do(func() { close(c.drained) }) }

// linger waits for the output behind an exit and reports whether it had no end.
func (c *Child) linger(drain time.Duration) (held bool) {
	if !c.drains.Load() {
		return false
	}
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-c.drained:
		return false
	case <-timer.C:
		return true
	}
}

// Stderr returns and forgets what a parked program wrote to stderr since the last
// call, its last bytes.
func (c *Child) Stderr() ([]byte, int64) { return c.stderrTail.take() }

// hearing collects a tail that somebody else takes.
type stderrTail struct {
	mu   sync.Mutex
	tail output
}

func (h *stderrTail) add(piece []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tail.add(piece)
}

func (h *stderrTail) take() ([]byte, int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, cut := h.tail.take()
	h.tail = output{limit: h.tail.limit, tail: true}
	return text, cut
}
