package cli

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// ErrOutput is the cause of the context of a command whose output nobody can read: the
// reader has gone (| head), or the disk is full.
var ErrOutput = errors.New("output cannot be written")

// OutputError returns the error of a command that could not print all that it had to say,
// else err. A refusal and an interruption stay what they are. A reader that has gone needs
// no message.
func (c *Console) OutputError(err error) error {
	cause := c.out.Err()
	var refused ExitCode
	if cause == nil || errors.As(err, &refused) && refused == ExitRefused {
		return err
	}
	if errors.Is(cause, syscall.EPIPE) {
		return ExitCode(ExitFailed)
	}
	return Failed("output", fmt.Errorf("%w: %w", ErrOutput, cause), "make room, or send the output elsewhere")
}

// NoteUnread says that the end of an interrupted command is not in its output.
func (c *Console) NoteUnread() {
	if errors.Is(c.out.Err(), terminal.ErrUnread) {
		c.Note("the end is missing in the output: "+terminal.ErrUnread.Error(), "")
	}
}
