package runview

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// OpenCall is a tool call that has not ended yet.
type OpenCall struct {
	Call   protocol.Call
	Began  time.Time
	Depth  int    // of its agent
	Output string // folded: the last lines that the tool has printed so far

	notes    bytes.Buffer // folded: what hooks decided, printed below the call's line
	detail   bytes.Buffer // folded: what is shown on demand
	streamed bool         // lines of the output were printed as they came
	parallel bool         // another call was open at the same time
}

// Title returns the call on a line.
func (c *OpenCall) Title() string { return c.name() + " " + c.args() }

// name returns the call's tool, or the mark that the person typed before a command.
func (c *OpenCall) name() string {
	if c.byPerson() {
		return "!"
	}
	return show.Line(c.Call.Name)
}

func (c *OpenCall) args() string { return show.Line(show.Shorten(report.ArgsLine(c.Call.Args), 100)) }

// openCalls are the calls at work, and the details of those that have ended.
type openCalls struct {
	byID    map[string]*OpenCall
	order   []string
	details details
}

func (o *openCalls) open(id string, c *OpenCall) {
	o.byID[id] = c
	o.order = append(o.order, id)
	for _, c := range o.byID {
		c.parallel = c.parallel || len(o.byID) > 1
	}
}

// close takes a call off the open ones. It returns nil for a call that is none of them.
func (o *openCalls) close(id string) *OpenCall {
	c := o.byID[id]
	delete(o.byID, id)
	o.order = slices.DeleteFunc(o.order, func(other string) bool { return other == id })
	return c
}

func (o *openCalls) clear() {
	clear(o.byID)
	o.order = nil
}

func (o *openCalls) list() []*OpenCall {
	list := make([]*OpenCall, len(o.order))
	for i, id := range o.order {
		list[i] = o.byID[id]
	}
	return list
}

// callStart prints a tool call as it will run, hooks' changes included.
func (v *TextPrinter) callStart(y *agentloop.Update) {
	v.tally.calls++
	d, read := data[protocol.ToolCallStartData](y)
	if !read {
		v.decision(y)
		return
	}
	v.calls.open(d.ToolCallID, &OpenCall{Call: d.Call, Began: y.Event.Time, Depth: v.depth})
	if !v.options.Folded {
		v.line("  " + v.p.In(show.Strong, show.Line(d.Name)) + " " + show.Line(show.Shorten(report.ArgsLine(d.Args), 100)))
	}
	v.callDecision(y)
}

// callDecision prints what hooks decided about a call: folded, below its line.
func (v *TextPrinter) callDecision(y *agentloop.Update) {
	d, read := data[protocol.ToolCallStartData](y)
	c := v.calls.byID[d.ToolCallID]
	if !v.options.Folded || !read || c == nil {
		v.decision(y)
		return
	}
	v.aside(&c.notes, func() { v.decision(y) })
	v.aside(&c.detail, func() { wholeDecision(v.p, "  ", &y.Outcome) })
}

// callOutput takes what a tool prints while it runs.
func (v *TextPrinter) callOutput(id, text string) {
	c := v.calls.byID[id]
	if c == nil {
		return
	}
	if !v.options.Folded {
		v.depth = c.Depth
		v.stream(c, text)
		return
	}
	const kept = 4096
	if c.Output += text; len(c.Output) > kept {
		c.Output = strings.ToValidUTF8(c.Output[len(c.Output)-kept:], "")
	}
}

// stream prints whole lines of a tool's output.
func (v *TextPrinter) stream(c *OpenCall, text string) {
	c.Output += text
	for {
		line, rest, whole := strings.Cut(c.Output, "\n")
		if !whole {
			return
		}
		c.Output, c.streamed = rest, true
		v.text.end(v.p)
		v.line("    " + v.p.In(show.Quiet, "│ "+show.Line(show.Shorten(strings.TrimRight(line, "\r"), 200))))
	}
}

func (v *TextPrinter) callEnd(y *agentloop.Update) {
	d, read := data[protocol.ToolCallEndData](y)
	c := v.calls.close(d.ToolCallID)
	if !read || y.Outcome.Withholds() {
		v.ended(c, v.p.In(show.Bad, "✗"), "withheld", "", y)
		return
	}
	output := strings.TrimSpace(d.Result.Content.Text())
	mark := v.p.In(show.Good, "✓")
	if d.Result.IsError {
		mark = v.p.In(show.Warn, "!")
	}
	printed := output
	if n := len(d.Result.Content); n > 1 && len(d.Result.Left) > 0 {
		printed = strings.TrimSpace(d.Result.Content[:n-1].Text()) // the last part tells the model of what was left
	}
	outcome := oneOutput(printed)
	switch {
	case c == nil:
	case c.byPerson():
		outcome, mark = ownOutcome(&d.Result, printed, outcome), ownMark(v.p, &d.Result)
	case c.streamed: // its lines were printed as they came
		outcome = text.Count(strings.Count(printed, "\n")+1, "line")
	}
	outcome += ", " + show.Milliseconds(d.DurationMs)
	if left := process.Left(d.Result.Left).String(); left != "" {
		outcome += ", left running and ended: " + show.Line(left)
		mark = v.p.In(show.Warn, "!")
	}
	v.ended(c, mark, outcome, output, y)
	switch {
	case c == nil:
	case c.byPerson() && !c.streamed:
		ownOutput(v.p, printed, len(v.calls.details))
	case v.options.Folded && !d.Result.IsError:
		v.p.Raw(editDiff(v.p, v.indent()+"    ", &c.Call, len(v.calls.details)))
	}
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

func (v *TextPrinter) callError(y *agentloop.Update) {
	d, read := data[protocol.ToolCallErrorData](y)
	c := v.calls.close(d.ToolCallID)
	if !read {
		v.decision(y)
		return
	}
	if d.Error.Kind == protocol.CallBlocked || d.Error.Kind == protocol.CallDenied {
		v.tally.refused++
		switch {
		case d.BlockedBy == nil: // no hook's refusal, so nobody has told of it yet
			v.ended(c, v.p.In(show.Bad, "✗"), show.Line(show.Shorten(d.Error.Text, 120)), d.Error.Text, y)
		case v.options.Folded:
			v.ended(c, v.p.In(show.Bad, "✗"), "not run", d.Error.Text, y)
		default:
			v.decision(y) // the refusal itself was printed where it was decided
		}
		return
	}
	v.ended(c, v.p.In(show.Bad, "✗"), show.Line(show.Shorten(d.Error.Text, 120)), d.Error.Text, y)
}

// ended prints what became of a call. Folded, that is its only line, with what
// hooks decided below.
func (v *TextPrinter) ended(c *OpenCall, mark, outcome, output string, y *agentloop.Update) {
	if c == nil || !v.options.Folded {
		name := ""
		if c != nil && c.parallel { // which of those side by side
			name = show.Line(c.Call.Name) + ": "
		}
		v.line("    " + mark + " " + v.p.In(show.Quiet, name+outcome))
		v.decision(y)
		return
	}
	v.aside(&c.notes, func() { v.decision(y) })
	body := v.foldedBody(c, output, y)
	number := v.calls.details.add(c.Title(), body)
	v.line(mark + " " + v.p.In(show.Strong, c.name()) + " " + c.args() +
		v.p.In(show.Quiet, fmt.Sprintf(" · %s  #%d", outcome, number)))
	v.p.Raw(c.notes.String())
}

// foldedBody is what is shown of a call on demand.
func (v *TextPrinter) foldedBody(c *OpenCall, output string, y *agentloop.Update) string {
	var b bytes.Buffer
	v.aside(&b, func() {
		v.p.Indented("  ", show.Plain, show.Visible(report.ArgsText(c.Call.Args)))
		v.p.Raw(c.detail.String())
		if output != "" {
			v.p.Indented("  │ ", show.Quiet, show.Visible(output))
		}
		wholeDecision(v.p, "  ", &y.Outcome)
	})
	return b.String()
}
