//go:build unix

package terminal

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const canStopReading = true

// stopWithin is how soon a reader sees that it is to stop, in milliseconds.
const stopWithin = 200

// read waits a while for input and takes it. It reads and
// keeps under one lock, so that [Lines.Drop] finds what was typed either in the terminal or
// here. It returns false at the end of input.
func (t *Lines) read() bool {
	fd := int(t.stdin.Fd())
	if !ready(fd, stopWithin) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ready(fd, 0) {
		return true // it was dropped
	}
	piece := make([]byte, 4096)
	n, err := unix.Read(fd, piece)
	switch {
	case err == unix.EINTR || err == unix.EAGAIN:
		return true
	case err == nil && n == 0:
		err = io.EOF
	}
	return t.take(piece[:max(n, 0)], err)
}

// ready reports whether a read returns at once.
func ready(fd, timeout int) bool {
	waiting := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(waiting, timeout)
	return n > 0 || err != nil && err != unix.EINTR // a read says what is wrong
}

// FlushInput forgets what a terminal has received and nobody has read.
func FlushInput(terminal *os.File) {
	if IsTerminal(terminal) {
		flushTerminal(int(terminal.Fd()))
	}
}
