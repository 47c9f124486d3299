//go:build !lean

package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
)

// openCall is a tool call that has not ended yet.
type openCall struct {
	call   protocol.Call
	began  time.Time
	depth  int
	notes  bytes.Buffer // folded: what hooks decided, printed below the call's line
	detail bytes.Buffer // folded: what is shown on demand
	output string       // folded: the last lines that the tool has printed so far
	cut    bool         // lines of the output were printed as they came
	beside bool         // another call was open at the same time
}

// detail is something folded away that a person may ask for.
type detail struct{ title, body string }

// keptDetails is how many things folded away a person can still ask for.
const keptDetails = 200

// fold puts something away and returns the number to ask for it by.
func (v *runView) fold(title, body string) int {
	v.details = append(v.details, detail{title, body})
	if n := len(v.details) - keptDetails; n > 0 {
		v.details[n-1] = detail{} // numbers stay; what is behind them goes
	}
	return len(v.details)
}

func callTitle(c *protocol.Call) string {
	return show.Line(c.Name) + " " + show.Line(show.Shorten(argsLine(c.Args), 100))
}

// callStart prints a tool call as it will run, hooks' changes included.
func (v *runView) callStart(y *agentloop.Yield) {
	v.calls++
	d, read := data[protocol.ToolCallStartData](y)
	if !read {
		v.decision(y)
		return
	}
	v.open[d.ToolCallID] = &openCall{call: d.Call, began: y.Event.Time, depth: v.depth}
	v.order = append(v.order, d.ToolCallID)
	for _, c := range v.open {
		c.beside = c.beside || len(v.open) > 1
	}
	if !v.folded {
		v.line("  " + v.p.In(show.Strong, show.Line(d.Name)) + " " + show.Line(show.Shorten(argsLine(d.Args), 100)))
	}
	v.callDecision(y)
}

// callDecision prints what hooks decided about a call: folded, below its line.
func (v *runView) callDecision(y *agentloop.Yield) {
	d, read := data[protocol.ToolCallStartData](y)
	c := v.open[d.ToolCallID]
	if !v.folded || !read || c == nil {
		v.decision(y)
		return
	}
	v.aside(&c.notes, func() { v.decision(y) })
	v.aside(&c.detail, func() { report.Changes(v.p, "  ", &y.Outcome) })
}

// toolOutput takes what a tool prints while it runs.
func (v *runView) toolOutput(id, text string) {
	c := v.open[id]
	if c == nil {
		return
	}
	if !v.folded {
		v.depth = c.depth
		v.stream(c, text)
		return
	}
	const kept = 4096
	if c.output += text; len(c.output) > kept {
		c.output = strings.ToValidUTF8(c.output[len(c.output)-kept:], "")
	}
}

// stream prints whole lines of a tool's output.
func (v *runView) stream(c *openCall, text string) {
	c.output += text
	for {
		line, rest, whole := strings.Cut(c.output, "\n")
		if !whole {
			return
		}
		c.output, c.cut = rest, true
		v.endLine()
		v.line("    " + v.p.In(show.Quiet, "│ "+show.Line(show.Shorten(strings.TrimRight(line, "\r"), 200))))
	}
}

// closeCall takes a call off the open ones.
func (v *runView) closeCall(id string) *openCall {
	c := v.open[id]
	delete(v.open, id)
	for i := range v.order {
		if v.order[i] == id {
			v.order = append(v.order[:i], v.order[i+1:]...)
			break
		}
	}
	return c
}

func (v *runView) callEnd(y *agentloop.Yield) {
	d, read := data[protocol.ToolCallEndData](y)
	c := v.closeCall(d.ToolCallID)
	if !read || y.Outcome.Withholds() {
		v.ended(c, v.p.In(show.Bad, "✗"), "withheld", "", y)
		return
	}
	text := strings.TrimSpace(d.Result.Content.Text())
	mark := v.p.In(show.Good, "✓")
	if d.Result.IsError {
		mark = v.p.In(show.Warn, "!")
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
		mark = v.p.In(show.Warn, "!")
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

func (v *runView) callError(y *agentloop.Yield) {
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
			v.ended(c, v.p.In(show.Bad, "✗"), show.Line(show.Shorten(d.Error.Text, 120)), d.Error.Text, y)
		case v.folded:
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
func (v *runView) ended(c *openCall, mark, outcome, output string, y *agentloop.Yield) {
	if c == nil || !v.folded {
		name := ""
		if c != nil && c.beside { // which of those side by side
			name = show.Line(c.call.Name) + ": "
		}
		v.line("    " + mark + " " + v.p.In(show.Quiet, name+outcome))
		v.decision(y)
		return
	}
	v.aside(&c.notes, func() { v.decision(y) })
	body := v.foldedBody(c, output, y)
	number := v.fold(callTitle(&c.call), body)
	v.line(mark + " " + v.p.In(show.Strong, show.Line(c.call.Name)) + " " + show.Line(show.Shorten(argsLine(c.call.Args), 100)) +
		v.p.In(show.Quiet, fmt.Sprintf(" · %s  #%d", outcome, number)))
	v.p.Raw(c.notes.String())
}

// foldedBody is what is shown of a call on demand.
func (v *runView) foldedBody(c *openCall, output string, y *agentloop.Yield) string {
	var b bytes.Buffer
	v.aside(&b, func() {
		v.p.Indented("  ", show.Plain, show.Visible(argsText(c.call.Args)))
		v.p.Raw(c.detail.String())
		if output != "" {
			v.p.Indented("  │ ", show.Quiet, show.Visible(output))
		}
		report.Changes(v.p, "  ", &y.Outcome)
	})
	return b.String()
}

// argsText shows all of a call's arguments, texts as they are.
func argsText(args protocol.RawMessage) string {
	var members map[string]protocol.RawMessage
	if json.Unmarshal(args, &members) != nil || len(members) != 1 {
		return show.Pretty(args)
	}
	for key, value := range members {
		var text string
		if json.Unmarshal(value, &text) == nil {
			return key + ": " + text
		}
	}
	return show.Pretty(args)
}

// argsLine shows a call's arguments: the one that says it all, else all.
func argsLine(args protocol.RawMessage) string {
	var members map[string]protocol.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return show.Compact(args)
	}
	for _, key := range []string{"command", "path"} {
		var text string
		if json.Unmarshal(members[key], &text) == nil && text != "" {
			if len(members) > 1 && key == "path" {
				if pattern := members["pattern"]; len(pattern) > 0 {
					return text + " " + string(pattern)
				}
			}
			return text
		}
	}
	return show.Compact(args)
}
