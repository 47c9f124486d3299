package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Restorer remembers the state of a terminal and returns the function that restores it.
func Restorer(stdin *os.File) (restore func()) {
	state, err := term.GetState(int(stdin.Fd()))
	if err != nil {
		return func() {}
	}
	return func() {
		// Cursor shown, bracketed paste and key reports off.
		io.WriteString(os.Stdout, "\x1b[?25h\x1b[?2004l\x1b[>4m\x1b[=0;1u\r\n")
		term.Restore(int(stdin.Fd()), state)
	}
}
