package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// ErrUnread is the error of a write that was given up: the reader is there, but does not
// read.
var ErrUnread = errors.New("nobody reads it")

// readerPatience is how long the end of a command waits for a reader that is slow.
// Before that end a reader may take all the time it wants.
const readerPatience = 2 * time.Second

// StickyWriter is a stream that remembers the first write that failed, and reports it. A
// reader that has stopped (a pager, a suspended program) does not keep the command from
// ending: the write that hangs is given up, and so is all that follows it.
type StickyWriter struct {
	to     io.Writer
	failed func()
	ending <-chan struct{}
	forced <-chan struct{}
	err    atomic.Pointer[error]
	stuck  atomic.Bool // a write that was given up still hangs
}

// NewStickyWriter returns a writer to a stream. failed is called at the first write that
// fails. ending is closed when the command is to end, forced when it is to end without
// waiting.
func NewStickyWriter(to io.Writer, failed func(), ending, forced <-chan struct{}) *StickyWriter {
	return &StickyWriter{to: to, failed: failed, ending: ending, forced: forced}
}

// Err returns the error of the first write that failed, nil if none did.
func (s *StickyWriter) Err() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *StickyWriter) Write(text []byte) (int, error) {
	n, err := s.write(text)
	if err != nil && s.err.CompareAndSwap(nil, &err) {
		s.failed()
	}
	return n, err
}

func (s *StickyWriter) write(text []byte) (int, error) {
	if s.stuck.Load() {
		return 0, ErrUnread
	}
	type written struct {
		n   int
		err error
	}
	text = bytes.Clone(text) // the caller may use it again once the write is given up
	done := make(chan written, 1)
	go func() { // nothing ends a write to a pipe that is full but its reader, or our end
		n, err := s.to.Write(text)
		done <- written{n, err}
	}()
	select {
	case w := <-done:
		return w.n, w.err
	case <-s.ending:
	}
	patience := time.NewTimer(readerPatience)
	defer patience.Stop()
	select {
	case w := <-done:
		return w.n, w.err
	case <-patience.C:
	case <-s.forced:
	}
	s.stuck.Store(true)
	return 0, ErrUnread
}

// File returns the file that a stream writes to in the end, nil if it is none.
func File(stream any) *os.File {
	switch s := stream.(type) {
	case *os.File:
		return s
	case *StickyWriter:
		return File(s.to)
	case *SwappableWriter:
		return File(s.target())
	}
	return nil
}

// IsTerminal reports whether a person is at the other end of a stream.
func IsTerminal(stream any) bool {
	f := File(stream)
	return f != nil && show.IsTerminal(f)
}

// Size returns the size of the terminal that a stream writes to, in columns and lines. It
// is 0 for a terminal that shows nothing.
func Size(stream any) (width, height int, known bool) {
	f := File(stream)
	if f == nil {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return width, height, err == nil
}

// SwappableWriter is a stream that can be sent elsewhere while others write to it.
type SwappableWriter struct {
	mu sync.Mutex
	to io.Writer
}

// NewSwappableWriter returns a writer that writes to a stream until it is swapped.
func NewSwappableWriter(to io.Writer) *SwappableWriter { return &SwappableWriter{to: to} }

func (s *SwappableWriter) Write(text []byte) (int, error) {
	return s.target().Write(text)
}

func (s *SwappableWriter) target() io.Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to
}

// Swap sends what is written from now on to another place, until the returned function
// is called.
func (s *SwappableWriter) Swap(to io.Writer) (back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.to
	s.to = to
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.to = before
	}
}
