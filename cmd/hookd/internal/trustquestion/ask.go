package trustquestion

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/loader"
)

// Person is who is asked: what they read, and what they type.
type Person struct {
	Printer *show.Printer
	Lines   *terminal.Lines
}

// Waiting returns the items of a plan that wait for a decision and can be allowed.
func Waiting(plan *loader.Plan) (waiting []*loader.PlanItem) {
	for i := range plan.Items {
		if item := &plan.Items[i]; item.Problem == nil && item.Waits() {
			waiting = append(waiting, item)
		}
	}
	return waiting
}

// Ask shows what of a plan waits and asks the person. It returns the names of what the person
// allows, none for a no. guards are those that refuse their events until somebody decides.
func Ask(ctx context.Context, person Person, plan *loader.Plan, guards []string) (allowed []string, err error) {
	waiting := Waiting(plan)
	if len(waiting) == 0 {
		return nil, nil
	}
	p := person.Printer
	var head, whole bytes.Buffer
	summary(&show.Printer{W: &head, Color: p.Color, Width: p.Width}, plan, waiting, guards)
	open := trustcmd.OpenItems(&show.Printer{W: &whole, Color: p.Color, Width: p.Width}, plan)
	what := trustcmd.CountKinds(plan, open)
	d := &dialog{
		Person: person, pages: question.NewLineByLine(p, person.Lines), whole: rows(&whole, p.Width),
		final: fmt.Sprintf("allow %s%s?", what, trustcmd.NotShown(plan, open)),
	}
	yes, err := d.run(ctx, rows(&head, p.Width))
	if err != nil || !yes {
		return nil, err
	}
	return open, nil
}

// rows are the rows of the screen that a text takes.
func rows(printed *bytes.Buffer, width int) []string {
	return show.Rows(strings.TrimRight(printed.String(), "\n"), width)
}

// dialog is a question that is being asked.
type dialog struct {
	Person
	pages question.LineByLine
	whole []string // all that is decided about
	final string   // what a yes allows, once all of it was shown
	seen  bool     // all of it was on the screen
}

// run asks until there is an answer.
func (d *dialog) run(ctx context.Context, head []string) (yes bool, err error) {
	if d.pages.Fits(len(head) + len(d.whole) + 1) {
		head, d.seen = append(append(head, d.whole...), ""), true
	} else {
		head = append(head, "")
	}
	if shown, err := d.pages.Show(ctx, head); err != nil || !shown {
		return false, err
	}
	for {
		prompt := "allow it? y = look through all of it first, s = show it, n = no [n] "
		if d.seen {
			prompt = d.final + " y = yes, s = show it, n = no [n] "
		}
		d.Lines.Drop()
		d.Printer.Print("%s", prompt)
		line, open, err := d.Lines.Next(ctx)
		if err != nil || !open {
			d.Printer.Print("\n")
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			if d.pages.TooSmall() {
				d.Printer.Print("the terminal is too small for a yes: make it larger and answer once more, or n = no\n")
				d.seen = false
				continue
			}
			if d.seen {
				return true, nil
			}
			fallthrough
		case "s", "show":
			if d.seen, err = d.pages.Show(ctx, d.whole); err != nil || !d.seen {
				return false, err
			}
		case "", "n", "no":
			return false, nil
		default:
			d.Printer.Print("type y, s or n\n")
		}
	}
}
