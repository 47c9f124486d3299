package terminal

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/term"
)

// Lines are the lines that a person types at the terminal. All who want some share them:
// of two readers, each would get half of what is typed.
type Lines struct {
	stdin *os.File
	some  chan struct{} // holds one when there is something to take

	mu    sync.Mutex
	lines []string
	half  []byte // of a line that has not ended
	ended bool

	stopped atomic.Bool
	gone    chan struct{} // closed when nothing is read any more
}

// ReadLines begins to read the lines of a terminal.
func ReadLines(stdin *os.File) *Lines {
	t := &Lines{stdin: stdin, some: make(chan struct{}, 1), gone: make(chan struct{})}
	go func() {
		defer close(t.gone)
		for !t.stopped.Load() && t.read() {
		}
	}()
	return t
}

// Stopped reports whether the reading was ended.
func (t *Lines) Stopped() bool { return t.stopped.Load() }

// Size returns the size of the terminal in columns and lines, 0 for what it does not know.
func (t *Lines) Size() (width, height int) {
	width, height, err := term.GetSize(int(t.stdin.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// Stop ends the reading, where that is possible, so that another may read the terminal.
func (t *Lines) Stop() {
	t.stopped.Store(true)
	if canStopReading {
		<-t.gone
	}
}

// maxLine bounds a line: nobody types more.
const maxLine = 1 << 20

// take keeps what was read, under the lock. It returns false at the end of input.
func (t *Lines) take(piece []byte, err error) bool {
	t.half = append(t.half, piece...)
	for {
		line, rest, found := bytes.Cut(t.half, []byte("\n"))
		if !found {
			break
		}
		t.lines, t.half = append(t.lines, strings.TrimSuffix(string(line), "\r")), rest
	}
	if err != nil && len(t.half) > 0 || len(t.half) > maxLine {
		t.lines, t.half = append(t.lines, string(t.half)), nil
	}
	t.ended = err != nil
	t.wake()
	return err == nil
}

func (t *Lines) wake() {
	select {
	case t.some <- struct{}{}:
	default:
	}
}

// Next waits for a line. open is false at the end of input.
func (t *Lines) Next(ctx context.Context) (line string, open bool, err error) {
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

// Drop forgets what came before now. An answer counts only if its question was there
// first: what is in the terminal by then is no answer to it, no matter who typed
// it.
func (t *Lines) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	FlushInput(t.stdin)
	t.lines, t.half = nil, nil
}
