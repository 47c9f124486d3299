//go:build !lean

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// terminalApprover puts questions to the person at the terminal.
type terminalApprover struct {
	p     *show.Printer
	lines *typedLines // what the person types
}

// approver is nil where nobody is there: every question is answered no.
func (a *app) approver() agentloop.Approver {
	if a.json || !isTerminal(a.stdin) || !isTerminal(a.err.W) {
		return nil
	}
	return terminalApprover{a.err, a.typed()}
}

// optionKeys are what a person types or presses for an answer, by its kind.
var optionKeys = map[string]string{"allow-once": "y", "allow-always": "a", "reject-once": "n", "reject-always": "N"}

// chosenOption is the option that a typed answer means. Anything that is not
// clearly another one is the plain refusal.
func chosenOption(options []protocol.PermissionOption, typed string) string {
	typed = strings.TrimSpace(typed)
	words := map[string]string{"yes": "y", "Y": "y", "always": "a", "A": "a", "never": "N"}
	if key, isWord := words[typed]; isWord {
		typed = key
	}
	refusal := "reject"
	for _, o := range options {
		if optionKeys[o.Kind] == typed {
			return o.OptionID
		}
		if o.Kind == "reject-once" {
			refusal = o.OptionID
		}
	}
	return refusal
}

// askedWhat is what a question is about, on a line.
func askedWhat(q *agentloop.Question) string {
	if q.Call == nil {
		return string(q.Event)
	}
	return show.Line(q.Call.Name) + " " + show.Line(show.Middle(argsLine(q.Call.Args), 400))
}

// Approve asks once; anything but yes is no. What was typed before the question
// stands there is no answer.
func (t terminalApprover) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	t.lines.drop()
	t.p.Print("%s %s asks before: %s\n", t.p.In(show.Warn, "?"), t.p.In(show.Name, show.Line(q.AskedBy)), askedWhat(&q))
	if q.Text != "" {
		t.p.Indented("  ", show.Plain, show.Visible(q.Text))
	}
	var ways []string
	for _, o := range q.Options {
		ways = append(ways, fmt.Sprintf("%s = %s", optionKeys[o.Kind], show.Line(o.Name)))
	}
	t.p.Print("  %s? [n] ", strings.Join(ways, ", "))
	line, _, err := t.lines.next(ctx) // at the end of input: no
	if err != nil {
		t.p.Print("\n")
		return agentloop.Answer{}, err
	}
	return agentloop.Answer{OptionID: chosenOption(q.Options, line)}, nil
}
