package integration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
)

// The tables of docs/bridges.md are made of the rows by which the bridge translates, so
// that the page cannot say what the bridge does not do.
func init() {
	generated["bridge-agents"] = bridgeAgents
	generated["bridge-matrix"] = bridgeMatrix
	generated["bridge-foreign"] = bridgeForeign
}

// answerPart is one thing that a hook can answer: its column, what an agent can do with it,
// and whether hookd has it at an event at all.
type answerPart struct {
	column string
	means  func(*dialect.Can) dialect.Means
	has    func(*protocol.Spec) bool
}

var answerParts = []answerPart{
	{"block", func(c *dialect.Can) dialect.Means { return c.Block }, func(s *protocol.Spec) bool { return s.Block != protocol.BlockFails && !goesOn(s) }},
	{"change", func(c *dialect.Can) dialect.Means { return c.Change }, func(s *protocol.Spec) bool { return len(s.Fields) > 0 }},
	{"replace", func(c *dialect.Can) dialect.Means { return c.Replace }, func(s *protocol.Spec) bool { return s.Replace != "" }},
	{"context", func(c *dialect.Can) dialect.Means { return c.Context }, func(s *protocol.Spec) bool { return s.Kind != protocol.Notice }},
	{"ask", func(c *dialect.Can) dialect.Means { return c.Ask }, func(s *protocol.Spec) bool { return s.Ask != protocol.AskFails }},
	{"allow", func(c *dialect.Can) dialect.Means { return c.Allow }, func(s *protocol.Spec) bool { return s.Name == protocol.PermissionRequest }},
	{"stop", func(c *dialect.Can) dialect.Means { return c.Stop }, (*protocol.Spec).CanStop},
	{"continue", func(c *dialect.Can) dialect.Means { return c.Continue }, func(s *protocol.Spec) bool { return s.Continue != protocol.ContinueFails }},
	{"notice", func(c *dialect.Can) dialect.Means { return c.Notice }, func(*protocol.Spec) bool { return true }},
}

// goesOn says that a block at the event is another word for continue.
func goesOn(s *protocol.Spec) bool {
	return s.Name == protocol.AgentStop || s.Name == protocol.SubagentStop
}

// bridgeAgents is one line for each agent: what it does at the event that matters most.
func bridgeAgents() string {
	var b strings.Builder
	b.WriteString("| agent | name | known from | events | before a tool: block | change args | ask the person | over its limit |\n|---|---|---|---|---|---|---|---|\n")
	for _, a := range hosts.All {
		at := slices.IndexFunc(a.Rows, func(r dialect.Row) bool { return r.Event == protocol.ToolCallStart && r.Same == "" })
		first := &a.Rows[at]
		fmt.Fprintf(&b, "| [%s](#%s) | `%s` | %s | %d | %s | %s | %s | %s |\n", a.Title, strings.ReplaceAll(strings.ToLower(a.Title), " ", "-"), a.Name,
			knownFrom(a), len(a.Rows), first.Can.Block.Way, first.Can.Change.Way, first.Can.Ask.Way, overLimit(first, false))
	}
	return b.String()
}

// bridgeMatrix is a table for each agent, with the notes of its cells.
func bridgeMatrix() string {
	var b strings.Builder
	for _, a := range hosts.All {
		b.WriteString(agentMatrix(a))
	}
	return b.String()
}

func agentMatrix(a *dialect.Agent) string {
	var shown []answerPart
	var nowhere []string
	for _, p := range answerParts {
		switch possible, there := reach(a, p); {
		case possible:
			shown = append(shown, p)
		case there:
			nowhere = append(nowhere, p.column)
		}
	}
	var notes noteList
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n`hookd install %s`, known from: %s.", a.Title, a.Name, knownFrom(a))
	if len(nowhere) > 0 {
		fmt.Fprintf(&b, " Impossible at every event: %s.", strings.Join(nowhere, ", "))
	}
	b.WriteString("\n\n| event | hookd's |")
	for _, p := range shown {
		b.WriteString(" " + p.column + " |")
	}
	b.WriteString(" over its limit |\n|---|---|" + strings.Repeat("---|", len(shown)+1) + "\n")
	for i := range a.Rows {
		row := &a.Rows[i]
		fmt.Fprintf(&b, "| %s | `%s` |", eventCell(a, row, &notes), row.Event)
		for _, p := range shown {
			b.WriteString(" " + cell(row, p, &notes) + " |")
		}
		fmt.Fprintf(&b, " %s |\n", overLimit(row, true))
	}
	b.WriteString("\n")
	for i, note := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, note)
	}
	b.WriteString("\n")
	return b.String()
}

// reach reports whether an agent can carry out a part of an answer at any event, and
// whether hookd has that part at any of its events.
func reach(a *dialect.Agent, p answerPart) (possible, there bool) {
	for i := range a.Rows {
		if has := p.has(protocol.Lookup(a.Rows[i].Event)); has {
			there = true
			possible = possible || p.means(&a.Rows[i].Can).Possible()
		}
	}
	return possible, there
}

// cell is ✓ for carried out, ~ with the number of its note for translated, ✗ for
// impossible, and empty where hookd's event has no such answer.
func cell(row *dialect.Row, p answerPart, notes *noteList) string {
	means := p.means(&row.Can)
	switch {
	case !p.has(protocol.Lookup(row.Event)):
		return ""
	case means.Way == dialect.Carried:
		return "✓"
	case means.Way == dialect.Translated:
		return "~" + notes.mark(p.column+": "+means.Note)
	}
	return "✗"
}

// overLimit says what happens when the agent's own limit ends the hook. At an event at
// which nothing can be refused there is nothing to say.
func overLimit(row *dialect.Row, withLimit bool) string {
	limit := ""
	if withLimit {
		limit = row.Limit.String() + ", "
		limit = strings.ReplaceAll(strings.ReplaceAll(limit, "m0s", "m"), "h0m", "h")
	}
	switch {
	case !row.Can.Block.Possible() || goesOn(protocol.Lookup(row.Event)):
		return limit + "goes on"
	case row.FailsOpen:
		return limit + "**fails open**"
	}
	return limit + "refuses"
}

// eventCell is the agent's name of the event, with the event that it doubles.
func eventCell(a *dialect.Agent, row *dialect.Row, notes *noteList) string {
	name := "`" + row.Name + "`"
	if !isCaptured(a, row) && strings.HasPrefix(knownFrom(a), "captured") {
		name += notes.mark("its input is known from documents")
	}
	switch {
	case row.Pieces:
		return name + notes.mark("comes with each piece of a stream, and is not installed unless it is asked for")
	case row.Same != "":
		return name + ", see `" + row.Same + "`"
	}
	return name
}

// noteList are the notes of one table, each once.
type noteList []string

// mark returns the number of a note, which is added if it is new, as a mark in a cell.
func (n *noteList) mark(note string) string {
	at := slices.Index(*n, note)
	if at < 0 {
		at = len(*n)
		*n = append(*n, note)
	}
	return fmt.Sprintf(" (%d)", at+1)
}

// bridgeForeign is a table of our events and what agents whose hooks run here call them.
func bridgeForeign() string {
	var b strings.Builder
	b.WriteString("| hookd's event |")
	for _, f := range foreignhooks.All {
		b.WriteString(" `" + f.Name + "` |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(foreignhooks.All)) + "\n")
	for i := range protocol.Table {
		event := protocol.Table[i].Name
		var cells []string
		for _, f := range foreignhooks.All {
			cells = append(cells, foreignNames(f, event))
		}
		if strings.Join(cells, "") != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", event, strings.Join(cells, " | "))
		}
	}
	b.WriteString("\nAsked about by their own agent and not here, since hookd has no event like it:\n\n")
	for _, f := range foreignhooks.All {
		if names := foreignNames(f, ""); names != "" {
			fmt.Fprintf(&b, "- %s: %s\n", f.Title, names)
		}
	}
	return b.String()
}

// foreignNames are an agent's names of one of our events, in bold those at which a hook
// can refuse.
func foreignNames(f *foreignhooks.Agent, event protocol.EventName) string {
	var names []string
	for _, e := range f.Events {
		if e.Event != event {
			continue
		}
		name := "`" + e.Name + "`"
		if e.Refuses {
			name = "**" + name + "**"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
