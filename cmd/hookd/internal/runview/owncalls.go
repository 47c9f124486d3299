package runview

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// byPerson reports whether the person made the call: they typed the command to read what it
// prints.
func (c *OpenCall) byPerson() bool { return c.Call.Source == "user" }

// shownOwn is how many lines of a command's output are shown without being asked for.
const shownOwn = 40

// isShort reports whether an output stands in the call's own line.
func isShort(output string) bool { return len(output) <= 80 && !strings.Contains(output, "\n") }

// ownOutcome returns what a command came to: its output if that is short, else its exit code.
func ownOutcome(result *protocol.Result, output, short string) string {
	switch {
	case result.ExitCode == nil:
		return short
	case !isShort(output):
		return fmt.Sprintf("exit code %d", *result.ExitCode)
	case result.IsError && !strings.Contains(output, "exit code"): // that of no output says it
		return fmt.Sprintf("%s, exit code %d", short, *result.ExitCode)
	}
	return short
}

func ownMark(p *show.Printer, result *protocol.Result) string {
	if result.IsError {
		return p.In(show.Bad, "✗")
	}
	return p.In(show.Good, "✓")
}

// ownOutput prints what a command printed, below its line: of a long one, the rest of which
// can be opened by its number, the first lines. 0 is no number.
func ownOutput(p *show.Printer, output string, number int) {
	if isShort(output) {
		return
	}
	lines, more := strings.Split(output, "\n"), ""
	if left := len(lines) - shownOwn; number > 0 && left > 1 { // the line that says so takes as much room as one
		lines, more = lines[:shownOwn], fmt.Sprintf("… %s more: /show %d", text.Count(left, "line"), number)
	}
	p.Indented("    │ ", show.Plain, show.Visible(strings.Join(lines, "\n")))
	if more != "" {
		p.Print("    %s\n", p.In(show.Quiet, more))
	}
}
