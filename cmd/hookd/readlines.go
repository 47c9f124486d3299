package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// typedLines are the lines that a person types at the terminal.
type typedLines struct {
	stdin *os.File
	some  chan struct{} // holds one when there is something to take

	mu    sync.Mutex
	lines []string
	half  []byte // of a line that has not ended
	ended bool

	stopped atomic.Bool
	gone    chan struct{} // closed when nothing is read any more
}

// typed are the lines that are typed from now on. All who want some share them: two
// that read would each get half of what is typed.
func (a *app) typed() *typedLines {
	if a.lines == nil || a.lines.stopped.Load() {
		a.lines = readTyped(a.stdin)
	}
	return a.lines
}

func readTyped(stdin *os.File) *typedLines {
	t := &typedLines{stdin: stdin, some: make(chan struct{}, 1), gone: make(chan struct{})}
	go func() {
		defer close(t.gone)
		for !t.stopped.Load() && t.read() {
		}
	}()
	return t
}

// stop ends the reading, where that can be done, so that another may read the terminal.
func (t *typedLines) stop() {
	t.stopped.Store(true)
	if canStopReading {
		<-t.gone
	}
}

// longestTyped bounds a line: nobody types more.
const longestTyped = 1 << 20

// take keeps what was read, under the lock. It returns false at the end of input.
func (t *typedLines) take(piece []byte, err error) bool {
	t.half = append(t.half, piece...)
	for {
		line, rest, found := bytes.Cut(t.half, []byte("\n"))
		if !found {
			break
		}
		t.lines, t.half = append(t.lines, strings.TrimSuffix(string(line), "\r")), rest
	}
	if err != nil && len(t.half) > 0 || len(t.half) > longestTyped {
		t.lines, t.half = append(t.lines, string(t.half)), nil
	}
	t.ended = err != nil
	t.wake()
	return err == nil
}

func (t *typedLines) wake() {
	select {
	case t.some <- struct{}{}:
	default:
	}
}

// next waits for a line. open is false at the end of input.
func (t *typedLines) next(ctx context.Context) (line string, open bool, err error) {
	for {
		t.mu.Lock()
		if len(t.lines) > 0 {
			line, t.lines = t.lines[0], t.lines[1:]
			t.mu.Unlock()
			return line, true, nil
		}
		ended := t.ended
		t.mu.Unlock()
		if ended {
			return "", false, nil
		}
		select {
		case <-t.some:
		case <-ctx.Done():
			return "", false, context.Cause(ctx)
		}
	}
}

// drop forgets what came before now. An answer counts only where its question was
// there first: what stands in the terminal by then is no answer to it, no matter who put it
// there.
func (t *typedLines) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	flushInput(t.stdin)
	t.lines, t.half = nil, nil
}
