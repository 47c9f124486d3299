//go:build !lean

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
	"github.com/hookd-dev/hookd/protocol"
)

type protocolOption = protocol.PermissionOption

// terminalApprover puts questions to the person at the terminal, line by line.
type terminalApprover struct {
	p     *show.Printer
	lines *terminal.Lines // what the person types
}

// approver is nil where nobody is there: every question is answered no.
func (a *app) approver() agentloop.Approver {
	if !a.console.PersonReads() {
		return nil
	}
	return terminalApprover{a.console.Err, a.console.Lines()}
}

// optionKeys are what a person types or presses for an answer, by its kind.
var optionKeys = map[string]string{"allow-once": "y", "allow-always": "a", "reject-once": "n", "reject-always": "N"}

// typedAnswer is what a typed line means. Anything that is not clearly another option is
// the plain refusal; what stands after n or N are words for the model.
func typedAnswer(q *agentloop.Question, typed string) agentloop.Answer {
	typed = strings.TrimSpace(typed)
	key, why := typed, ""
	if word, rest, more := strings.Cut(typed, " "); more && (word == "n" || word == "N" || word == "no" || word == "never") {
		key, why = word, strings.TrimSpace(rest)
	}
	words := map[string]string{"yes": "y", "Y": "y", "always": "a", "A": "a", "no": "n", "never": "N"}
	if short, isWord := words[key]; isWord {
		key = short
	}
	for _, o := range q.Options {
		if optionKeys[o.Kind] == key {
			return agentloop.Answer{OptionID: o.OptionID, Text: why}
		}
	}
	return agentloop.Answer{OptionID: refusalOf(q), Text: why}
}

// isRefusal reports whether a typed line can only mean no.
func isRefusal(typed string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(typed), " ")
	return word == "n" || word == "N" || word == "no" || word == "never"
}

// Approve asks once; anything but yes is no, and yes is taken only after all that will
// run was on the screen. What was typed before that is no answer.
func (t terminalApprover) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	select { // what was told before has to reach the screen first
	case <-time.After(settling):
	case <-ctx.Done():
		return agentloop.Answer{}, context.Cause(ctx)
	}
	lines := questionLines(t.p, &q)
	for at, page := 0, t.page(); at < len(lines); {
		end := min(at+page, len(lines))
		t.p.Raw(strings.Join(lines[at:end], "\n") + "\n")
		if at = end; at == len(lines) {
			break
		}
		typed, open, err := t.read(ctx, "  "+hiddenText(lines[at:])+". enter = more, all = the rest, n = no: ")
		switch {
		case err != nil:
			return agentloop.Answer{}, err
		case !open || isRefusal(typed):
			return typedAnswer(&q, typed), nil
		case strings.TrimSpace(typed) == "all":
			page = len(lines)
		case strings.TrimSpace(typed) != "":
			t.p.Print("  %s\n", "a yes counts after all of it was shown")
		}
	}
	var ways []string
	for _, o := range q.Options {
		ways = append(ways, fmt.Sprintf("%s = %s", optionKeys[o.Kind], show.Line(o.Name)))
	}
	typed, _, err := t.read(ctx, "  "+strings.Join(ways, ", ")+" (n WHY tells the model)? [n] ")
	if err != nil {
		return agentloop.Answer{}, err
	}
	return typedAnswer(&q, typed), nil // at the end of input: no
}

// read asks for a line. What came before it was asked for is dropped.
func (t terminalApprover) read(ctx context.Context, prompt string) (line string, open bool, err error) {
	t.lines.Drop()
	t.p.Print("%s", prompt)
	line, open, err = t.lines.Next(ctx)
	if err != nil || !open {
		t.p.Print("\n")
	}
	return line, open, err
}

// page is how many lines the terminal shows at once, besides a prompt.
func (t terminalApprover) page() int {
	const unknown, least, prompt = 24, 3, 3
	height := t.lines.Height()
	if height <= 0 {
		height = unknown
	}
	return max(height-prompt, least)
}
