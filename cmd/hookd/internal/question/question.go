package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// About returns what a question is about on a line, shortened. It is for questions that
// were answered, never for what a person still has to judge.
func About(q *agentloop.Question) string {
	if q.Call == nil {
		return string(q.Event)
	}
	return show.Line(q.Call.Name) + " " + show.Line(show.Middle(report.ArgsLine(q.Call.Args), 400))
}

// whoAsks returns who asks, with the layer of a hook.
func whoAsks(q *agentloop.Question) string {
	name, isHook := strings.CutPrefix(q.AskedBy, "hook:")
	if !isHook {
		return "hookd"
	}
	return agentloop.WhoseHook(q.Layer, show.Line(name))
}

// AboutTrust is the event of the question that hookd itself asks about the project. Its text
// is what a person decides about, visible and laid out.
const AboutTrust protocol.EventName = "trust"

// Lines returns all that a question is about, nothing left out: who asks, why, and
// every character of what will run. What has no sign of its own is shown as a code.
func Lines(p *show.Printer, q *agentloop.Question) []string {
	if q.Event == AboutTrust && q.AskedBy == "hookd" {
		return show.Rows(q.Text, p.Width)
	}
	var b strings.Builder
	to := show.Printer{W: &b, Color: p.Color, Width: p.Width}
	what := string(q.Event)
	if q.Call != nil {
		what = show.Line(q.Call.Name) + " runs"
	}
	headLines(&to, whoAsks(q), what)
	if q.Call != nil {
		callLines(&to, q.Call.Args)
	}
	if q.Text != "" {
		to.Code("  reason: ", q.Text)
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// headLines say who asks before what, with names of any length.
func headLines(p *show.Printer, who, what string) {
	if longest := max(show.Width(who), show.Width(what)); p.Width > 0 && longest > p.Width-10 {
		p.Code("? ", who+" asks before "+what+":")
		return
	}
	p.Print("%s %s asks before %s:\n", p.In(show.Warn, "?"), p.In(show.Name, who), what)
}

// longParts are the arguments that are shown as texts of their own, in this order,
// with the mark before each of their lines.
var longParts = []struct{ name, mark string }{
	{"command", "│ "}, {"path", "│ "}, {"oldText", "- "}, {"newText", "+ "}, {"content", "+ "},
}

// callLines shows a call's arguments: long texts line by line, the rest as JSON.
func callLines(p *show.Printer, args protocol.RawMessage) {
	var members map[string]protocol.RawMessage
	if json.Unmarshal(args, &members) != nil {
		p.Code("  │ ", string(args))
		return
	}
	for _, part := range longParts {
		var long string
		if value, given := members[part.name]; !given || json.Unmarshal(value, &long) != nil {
			continue
		}
		delete(members, part.name)
		p.Raw("  " + p.In(show.Quiet, part.name+extentOf(long)) + "\n")
		p.Code("  "+part.mark, long)
		if strings.HasSuffix(long, "\n\n") { // the last one ends the last line
			p.Raw("  " + p.In(show.Warn, "… and "+text.Count(len(long)-len(strings.TrimRight(long, "\n"))-1, "empty line")+" at the end") + "\n")
		}
	}
	if len(members) == 0 {
		return
	}
	rest, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		rest = args
	}
	p.Code("  │ ", show.Pretty(rest))
}

// extentOf says how much text there is, where that is more than is seen at once.
func extentOf(long string) string {
	n, lines := utf8.RuneCountInString(long), strings.Count(strings.TrimSuffix(long, "\n"), "\n")+1
	if n <= 80 && lines == 1 {
		return ":"
	}
	return fmt.Sprintf(" (%s characters, %s):", show.Number(int64(n)), text.Count(lines, "line"))
}

// HiddenText says what of a question is not shown yet.
func HiddenText(lines []string) string {
	n := 0
	for _, line := range lines {
		n += show.Width(line)
	}
	return fmt.Sprintf("… %s, %s characters, not shown yet", text.Count(len(lines), "more line"), show.Number(int64(n)))
}

// Refusal returns the ID of the option that refuses once.
func Refusal(q *agentloop.Question) string {
	if i := slices.IndexFunc(q.Options, func(o protocol.PermissionOption) bool { return o.Kind == "reject-once" }); i >= 0 {
		return q.Options[i].OptionID
	}
	return "reject"
}
