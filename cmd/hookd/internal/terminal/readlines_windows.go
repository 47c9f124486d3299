package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// canStopReading: a read of the console cannot be taken back.
const canStopReading = false

// read waits for input and takes it. It returns false at the end of input.
func (t *Lines) read() bool {
	piece := make([]byte, 4096)
	n, err := t.stdin.Read(piece)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.take(piece[:n], err)
}

// FlushInput forgets what a terminal has received and nobody has read.
func FlushInput(terminal *os.File) {
	if IsTerminal(terminal) {
		_ = windows.FlushConsoleInputBuffer(windows.Handle(terminal.Fd()))
	}
}
