package cli

import (
	"context"
	"errors"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
	"github.com/hookd-dev/hookd/protocol"
)

// Console is how a command speaks with its caller, a person or a program: the streams,
// the output for programs, the notes and the questions.
type Console struct {
	In       *os.File
	Out, Err *show.Printer
	JSON     bool // --json: a program reads what the command prints

	notes func(text, remedy string) // gets the notes in place of the person, nil for none
	lines *terminal.Lines           // what the person types, nil before somebody wants it
	out   *terminal.StickyWriter    // under Out
}

// NewConsole returns the console of this process. failed is called when its output can be
// read by nobody. ending is closed when the command is to end, forced when it is to end
// without waiting.
func NewConsole(failed func(), ending, forced <-chan struct{}) *Console {
	c := &Console{In: os.Stdin, Out: show.New(terminal.Duplicate(os.Stdout)), Err: show.New(terminal.Duplicate(os.Stderr))}
	c.out = terminal.NewStickyWriter(c.Out.W, failed, ending, forced)
	c.Out.W = c.out
	c.Err.W = terminal.NewStickyWriter(c.Err.W, func() {}, ending, forced)
	return c
}

// JSONFlag adds --json to a command that has output for programs.
func (c *Console) JSONFlag(command *cobra.Command) {
	command.Flags().BoolVar(&c.JSON, "json", false, "print JSON for programs, errors too")
}

// PrintJSON prints a value on a line.
func (c *Console) PrintJSON(value any) error {
	text, err := protocol.Marshal(value)
	if err != nil {
		return err
	}
	c.Out.Raw(string(text) + "\n")
	return nil
}

// PersonReads reports whether a person is at the terminal, to read and to answer.
func (c *Console) PersonReads() bool {
	return !c.JSON && terminal.IsTerminal(c.In) && terminal.IsTerminal(c.Err.W)
}

// Lines returns the lines that the person types from now on.
func (c *Console) Lines() *terminal.Lines {
	if c.lines == nil || c.lines.Stopped() {
		c.lines = terminal.ReadLines(c.In)
	}
	return c.lines
}

// StopLines ends the reading of lines, so that another may read the terminal.
func (c *Console) StopLines() {
	if c.lines != nil {
		c.lines.Stop()
	}
}

// Confirm asks the person at the terminal. A no is an error, and so is that nobody is
// there.
func (c *Console) Confirm(ctx context.Context, question string) error {
	if !terminal.IsTerminal(c.In) {
		return Usage("not-confirmed", "nobody is there to ask: "+question, "--yes decides without asking")
	}
	yes, err := terminal.Confirm(ctx, c.Err, c.Lines(), question)
	if err == nil && !yes {
		return Usage("not-confirmed", "not allowed; nothing changed", "")
	}
	return err
}

// Report prints the error that ended a command and returns the exit code of the process.
func (c *Console) Report(err error) int {
	var code ExitCode
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		return int(code)
	}
	var fault *Fault
	if !errors.As(err, &fault) {
		fault = Failed("failed", err, "")
	}
	if c.JSON {
		line, _ := json.Marshal(struct {
			Error *Fault `json:"error"`
		}{fault})
		c.Err.Raw(string(line) + "\n")
		return fault.Exit
	}
	c.Err.Print("%s %s\n", c.Err.In(show.Bad, "hookd: error:"), show.OneLine(fault.Message))
	if fault.Hint != "" {
		c.Err.Print("%s %s\n", c.Err.In(show.Quiet, "hookd: hint:"), show.OneLine(fault.Hint))
	}
	return fault.Exit
}
