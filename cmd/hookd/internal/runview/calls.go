package runview

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
)

// openCall is a tool call that has not ended yet.
type openCall struct {
	Call   protocol.Call
	Began  time.Time
	Depth  int
	notes  bytes.Buffer // folded: what hooks decided, printed below the call's line
	detail bytes.Buffer // folded: what is shown on demand
	Output string       // folded: the last lines that the tool has printed so far
	cut    bool         // lines of the output were printed as they came
	beside bool         // another call was open at the same time
}

// detail is something folded away that a person may ask for.
type detail struct{ Title, Body string }

// keptDetails is how many things folded away a person can still ask for.
const keptDetails = 200

// fold puts something away and returns the number to ask for it by.
func (v *View) fold(title, body string) int {
	v.Details = append(v.Details, detail{title, body})
	if n := len(v.Details) - keptDetails; n > 0 {
		v.Details[n-1] = detail{} // numbers stay; what is behind them goes
	}
	return len(v.Details)
}

func CallTitle(c *protocol.Call) string {
	return show.Line(c.Name) + " " + show.Line(show.Shorten(report.ArgsLine(c.Args), 100))
}

// callStart prints a tool call as it will run, hooks' changes included.
func (v *View) callStart(y *agentloop.Yield) {
	v.calls++
	d, read := data[protocol.ToolCallStartData](y)
	if !read {
		v.decision(y)
		return
	}
	v.Open[d.ToolCallID] = &openCall{Call: d.Call, Began: y.Event.Time, Depth: v.Depth}
	v.Order = append(v.Order, d.ToolCallID)
	for _, c := range v.Open {
		c.beside = c.beside || len(v.Open) > 1
	}
	if !v.Folded {
		v.Line("  " + v.P.In(show.Strong, show.Line(d.Name)) + " " + show.Line(show.Shorten(report.ArgsLine(d.Args), 100)))
	}
	v.callDecision(y)
}

// callDecision prints what hooks decided about a call: folded, below its line.
func (v *View) callDecision(y *agentloop.Yield) {
	d, read := data[protocol.ToolCallStartData](y)
	c := v.Open[d.ToolCallID]
	if !v.Folded || !read || c == nil {
		v.decision(y)
		return
	}
	v.aside(&c.notes, func() { v.decision(y) })
	v.aside(&c.detail, func() { report.Changes(v.P, "  ", &y.Outcome) })
}

// toolOutput takes what a tool prints while it runs.
func (v *View) toolOutput(id, text string) {
	c := v.Open[id]
	if c == nil {
		return
	}
	if !v.Folded {
		v.Depth = c.Depth
		v.stream(c, text)
		return
	}
	const kept = 4096
	if c.Output += text; len(c.Output) > kept {
		c.Output = strings.ToValidUTF8(c.Output[len(c.Output)-kept:], "")
	}
}

// stream prints whole lines of a tool's output.
func (v *View) stream(c *openCall, text string) {
	c.Output += text
	for {
		line, rest, whole := strings.Cut(c.Output, "\n")
		if !whole {
			return
		}
		c.Output, c.cut = rest, true
		v.EndLine()
		v.Line("    " + v.P.In(show.Quiet, "│ "+show.Line(show.Shorten(strings.TrimRight(line, "\r"), 200))))
	}
}

// closeCall takes a call off the open ones.
func (v *View) closeCall(id string) *openCall {
	c := v.Open[id]
	delete(v.Open, id)
	for i := range v.Order {
		if v.Order[i] == id {
			v.Order = append(v.Order[:i], v.Order[i+1:]...)
			break
		}
	}
	return c
}

func (v *View) callEnd(y *agentloop.Yield) {
	d, read := data[protocol.ToolCallEndData](y)
	c := v.closeCall(d.ToolCallID)
	if !read || y.Outcome.Withholds() {
		v.ended(c, v.P.In(show.Bad, "✗"), "withheld", "", y)
		return
	}
	text := strings.TrimSpace(d.Result.Content.Text())
	mark := v.P.In(show.Good, "✓")
	if d.Result.IsError {
		mark = v.P.In(show.Warn, "!")
	}
	printed := text
	if n := len(d.Result.Content); n > 1 && len(d.Result.Left) > 0 {
		printed = strings.TrimSpace(d.Result.Content[:n-1].Text()) // the last part tells the model of what was left
	}
	outcome := oneOutput(printed)
	if c != nil && c.cut { // its lines were printed as they came
		outcome = show.Plural(strings.Count(printed, "\n")+1, "line")
	}
	outcome += ", " + show.Milliseconds(d.DurationMs)
	if left := process.Left(d.Result.Left).String(); left != "" {
		outcome += ", left running and ended: " + show.Line(left)
		mark = v.P.In(show.Warn, "!")
	}
	v.ended(c, mark, outcome, text, y)
}

// oneOutput is a tool's output on a line.
func oneOutput(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if first == "" {
		return "no output"
	}
	line := show.Line(show.Shorten(first, 80))
	if rest != "" {
		line += fmt.Sprintf(" … %d lines", strings.Count(text, "\n")+1)
	}
	return line
}

func (v *View) callError(y *agentloop.Yield) {
	d, read := data[protocol.ToolCallErrorData](y)
	c := v.closeCall(d.ToolCallID)
	if !read {
		v.decision(y)
		return
	}
	if d.Error.Kind == protocol.CallBlocked || d.Error.Kind == protocol.CallDenied {
		v.refused++
		switch {
		case d.BlockedBy == nil: // no hook's refusal, so nobody has told of it yet
			v.ended(c, v.P.In(show.Bad, "✗"), show.Line(show.Shorten(d.Error.Text, 120)), d.Error.Text, y)
		case v.Folded:
			v.ended(c, v.P.In(show.Bad, "✗"), "not run", d.Error.Text, y)
		default:
			v.decision(y) // the refusal itself was printed where it was decided
		}
		return
	}
	v.ended(c, v.P.In(show.Bad, "✗"), show.Line(show.Shorten(d.Error.Text, 120)), d.Error.Text, y)
}

// ended prints what became of a call. Folded, that is its only line, with what
// hooks decided below.
func (v *View) ended(c *openCall, mark, outcome, output string, y *agentloop.Yield) {
	if c == nil || !v.Folded {
		name := ""
		if c != nil && c.beside { // which of those side by side
			name = show.Line(c.Call.Name) + ": "
		}
		v.Line("    " + mark + " " + v.P.In(show.Quiet, name+outcome))
		v.decision(y)
		return
	}
	v.aside(&c.notes, func() { v.decision(y) })
	body := v.foldedBody(c, output, y)
	number := v.fold(CallTitle(&c.Call), body)
	v.Line(mark + " " + v.P.In(show.Strong, show.Line(c.Call.Name)) + " " + show.Line(show.Shorten(report.ArgsLine(c.Call.Args), 100)) +
		v.P.In(show.Quiet, fmt.Sprintf(" · %s  #%d", outcome, number)))
	v.P.Raw(c.notes.String())
}

// foldedBody is what is shown of a call on demand.
func (v *View) foldedBody(c *openCall, output string, y *agentloop.Yield) string {
	var b bytes.Buffer
	v.aside(&b, func() {
		v.P.Indented("  ", show.Plain, show.Visible(report.ArgsText(c.Call.Args)))
		v.P.Raw(c.detail.String())
		if output != "" {
			v.P.Indented("  │ ", show.Quiet, show.Visible(output))
		}
		report.Changes(v.P, "  ", &y.Outcome)
	})
	return b.String()
}
