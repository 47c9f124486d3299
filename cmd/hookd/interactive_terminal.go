//go:build !lean

package main

import (
	"io"
	"os"
	"sync"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// printQueue hands messages to the program in order. The program's own commands
// run side by side, and its update must not wait for itself.
type printQueue struct {
	mu     sync.Mutex
	some   *sync.Cond
	queue  []tea.Msg
	closed bool
}

func newPrinter() *printQueue {
	q := &printQueue{}
	q.some = sync.NewCond(&q.mu)
	return q
}

func (q *printQueue) add(msg tea.Msg) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, msg)
	q.some.Signal()
}

func (q *printQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.some.Signal()
}

// run delivers until the queue is closed. A program that has ended takes
// everything at once.
func (q *printQueue) run(program *tea.Program) {
	for {
		q.mu.Lock()
		for len(q.queue) == 0 && !q.closed {
			q.some.Wait()
		}
		batch := q.queue
		q.queue = nil
		closed := q.closed
		q.mu.Unlock()
		for _, msg := range batch {
			program.Send(msg)
		}
		if closed && len(batch) == 0 {
			return
		}
	}
}

// turnout is a stream that can be led elsewhere while others write to it.
type turnout struct {
	mu sync.Mutex
	to io.Writer
}

func (t *turnout) Write(text []byte) (int, error) {
	t.mu.Lock()
	to := t.to
	t.mu.Unlock()
	return to.Write(text)
}

// lead sends what is written from now on to another place, until the returned
// function is called.
func (t *turnout) lead(to io.Writer) (back func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.to
	t.to = to
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.to = before
	}
}

// onInterrupt lets do have the signals that a person sends to end what goes on,
// until the returned function is called.
func (a *app) onInterrupt(do func()) (off func()) {
	a.interrupt.Store(&do)
	return func() { a.interrupt.Store(nil) }
}

// guardTerminal remembers how the terminal was, so that it is so again also
// where the process ends without waiting. It returns what restores it.
func (a *app) guardTerminal() (restore func()) {
	state, err := term.GetState(int(a.stdin.Fd()))
	if err != nil {
		return func() {}
	}
	restore = func() {
		// Cursor shown, bracketed paste and key reports off.
		io.WriteString(os.Stdout, "\x1b[?25h\x1b[?2004l\x1b[>4m\x1b[=0;1u\r\n")
		term.Restore(int(a.stdin.Fd()), state)
	}
	a.rescue.Store(&restore)
	return restore
}
