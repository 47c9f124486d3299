package main

import (
	"bufio"
	"context"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// terminalApprover puts questions to the person at the terminal.
type terminalApprover struct {
	p     *show.Printer
	lines <-chan string // what the person types; closed at the end of input
}

// approver is nil where nobody is there: every question is answered no.
func (a *app) approver() agentloop.Approver {
	if a.json || !isTerminal(a.stdin) || !isTerminal(a.err.W) {
		return nil
	}
	return terminalApprover{a.err, a.typed()}
}

// typed reads lines of the terminal. The reading goes on until the process
// ends: a read of a terminal cannot be taken back.
func (a *app) typed() <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(a.stdin); in.Scan(); {
			lines <- in.Text()
		}
	}()
	return lines
}

// Approve asks once; anything but yes is no.
func (t terminalApprover) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	what := string(q.Event)
	if q.Call != nil {
		what = show.Line(q.Call.Name) + " " + show.Line(show.Shorten(argsLine(q.Call.Args), 200))
	}
	t.p.Print("%s %s asks before: %s\n", t.p.In(show.Warn, "?"), t.p.In(show.Name, show.Line(q.AskedBy)), what)
	if q.Text != "" {
		t.p.Indented("  ", show.Plain, show.Visible(q.Text))
	}
	t.p.Print("  allow it once? [y/N] ")
	select {
	case line, open := <-t.lines:
		if open && strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y") {
			return agentloop.Answer{OptionID: "allow"}, nil
		}
		return agentloop.Answer{OptionID: "reject"}, nil
	case <-ctx.Done():
		t.p.Print("\n")
		return agentloop.Answer{}, context.Cause(ctx)
	}
}
