package process

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// idleChild is what a child has in addition that waits for its work.
type idleChild struct {
	stdout     *stdoutReader
	stderr     *stderrTail
	theirStdin *os.File // the end that the program reads: it tells what is unread

	drains  atomic.Bool   // set by DrainAfterExit
	done    sync.Once     // of OutputDone
	drained chan struct{} // closed by OutputDone
}

// StartIdle starts a program that waits for its work. It differs from one of Start in
// three ways: it takes no place, because it may wait for long; its stderr can be read
// while it lives ([Child.Stderr]); and when it is cut short, later runs with the
// command's Key wait until its tree is gone.
func (rt *Runtime) StartIdle(ctx context.Context, c *Command) (*Child, error) {
	if rt.isClosed() {
		return nil, ErrClosed
	}
	reader, out, err := openStdoutReader()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	theirs, ours, err := os.Pipe()
	if err != nil {
		reader.close()
		return nil, err
	}
	tail := &stderrTail{tail: output{limit: c.withDefaults().StderrTail, tail: true}}
	idle := &idleChild{stdout: reader, stderr: tail, theirStdin: theirs, drained: make(chan struct{})}
	command := *c
	command.child = childCommand{noSlot: true, onStderr: tail.add, awaitOutput: idle.awaitOutput}
	child := &Child{Stdin: ours, idle: idle}
	if err := rt.begin(ctx, &command, child, &pipePair{theirs, out}); err != nil {
		reader.close()
		theirs.Close()
		return nil, err
	}
	return child, nil
}

// Read waits until an idle child writes to stdout, and reads that. It returns
// [os.ErrDeadlineExceeded] after Interrupt, and when the program has ended or is being
// ended: ReadBuffered returns what the program wrote until then.
func (c *Child) Read(buffer []byte) (int, error) { return c.idle.stdout.read(buffer) }

// Interrupt makes every Read of an idle child return, now and from now on.
func (c *Child) Interrupt() { c.idle.stdout.interrupt() }

// ReadBuffered returns what an idle child has written and nobody has read, at most
// len(buffer) bytes, without waiting for more.
func (c *Child) ReadBuffered(buffer []byte) []byte {
	return buffer[:readNow(c.idle.stdout.out, buffer)]
}

// DrainAfterExit has processes that an idle child leaves treated as those of
// [Runtime.Run] are: when the child exits, processes that have its stdout open may
// still write there for the command's Drain, and only then are they ended.
func (c *Child) DrainAfterExit() { c.idle.drains.Store(true) }

// OutputDone says that stdout is at its end, or that nobody needs more of it.
func (c *Child) OutputDone() { c.idle.done.Do(func() { close(c.idle.drained) }) }

// Stderr returns and forgets the last bytes that an idle child wrote to stderr since
// the last call, and how many bytes before them were dropped.
func (c *Child) Stderr() ([]byte, int64) { return c.idle.stderr.take() }

// awaitOutput waits for the rest of the output after an exit and reports whether it
// had no end.
func (i *idleChild) awaitOutput(drain time.Duration) (held bool) {
	if !i.drains.Load() {
		return false
	}
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-i.drained:
		return false
	case <-timer.C:
		return true
	}
}

// stderrTail collects a tail that another goroutine takes.
type stderrTail struct {
	mu   sync.Mutex
	tail output
}

func (t *stderrTail) add(piece []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tail.add(piece)
}

func (t *stderrTail) take() ([]byte, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, cut := t.tail.take()
	t.tail = output{limit: t.tail.limit, tail: true}
	return text, cut
}
