//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// reviewGuards asks at the start of a run, before anything of it refuses, whether the
// person wants to look at the guards that will: nobody allowed them as they are. Without
// a terminal a note names them; below an agent nobody is asked.
func (a *app) reviewGuards(ctx context.Context) error {
	if a.json || !isTerminal(a.stdin) || !isTerminal(os.Stderr) || loader.MayDecide() != nil {
		return nil
	}
	if _, err := a.runtime(true); err != nil { // for the run, which needs a guardian
		return err
	}
	snapshot, err := a.look(ctx)
	if err != nil {
		return nil // it is said where the run begins
	}
	guards := waitingGuards(snapshot)
	if len(guards) == 0 {
		return nil
	}
	question := fmt.Sprintf("%s until you look at %s: review now?", andAre(guards), themOrIt(guards))
	err = a.confirm(ctx, question)
	a.reviewed = true
	if err == nil {
		err = a.review(ctx)
	}
	var fault *Fault
	if errors.As(err, &fault) { // a no, or something that cannot be allowed: the run says what follows
		a.err.Print("%s\n", a.err.In(show.Quiet, oneLine(fault.Message)+"; /trust or hookd trust asks again"))
		return nil
	}
	return err
}

// review is hookd trust.
func (a *app) review(ctx context.Context) error {
	trust, err := a.openTrust()
	if err != nil {
		return err
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return trustFault(err)
	}
	return a.allow(ctx, trust, plan, nil, false)
}

func andAre(guards []string) string {
	names := " (" + show.Shorten(joinLines(guards), 120) + ")"
	if len(guards) == 1 {
		return "1 guard" + names + " refuses"
	}
	return plural(len(guards), "guard") + names + " refuse"
}

func themOrIt(guards []string) string {
	if len(guards) == 1 {
		return "it"
	}
	return "them"
}

// trust is /trust: hookd trust in a conversation.
func (k *chatCommands) trust(ctx context.Context, p *show.Printer) error {
	trust, err := k.c.a.openTrust()
	if err != nil {
		return err
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return trustFault(err)
	}
	var shown strings.Builder
	open := openItems(&show.Printer{W: &shown, Color: p.Color, Width: p.Width}, plan)
	if len(open) == 0 {
		p.Raw(shown.String())
		p.Print("nothing to decide\n")
		return nil
	}
	k.tell(strings.TrimRight(shown.String(), "\n"))
	answer, err := k.ask(ctx, agentloop.Question{
		Event: "trust", AskedBy: "hookd", Text: fmt.Sprintf("allow %s%s?", countKinds(plan, open), notShown(plan, open)),
		Options: []protocol.PermissionOption{{OptionID: "allow", Name: "Allow", Kind: "allow-once"}, {OptionID: "reject", Name: "Leave as it is", Kind: "reject-once"}},
	})
	if err != nil || answer.OptionID != "allow" {
		p.Print("not allowed; nothing changed\n")
		return nil
	}
	trust.How = howDecided(false)
	if err := trust.Allow(plan, open...); err != nil {
		return trustFault(err)
	}
	if w, watches := k.c.engine.source.(*loader.Watcher); watches { // no event is to come in between
		if _, err := w.Reload(ctx); err != nil {
			return failed("reload", err, "")
		}
	}
	p.Print("%s %s allowed; it counts from the next event on\n", p.In(show.Good, "✓"), countKinds(plan, open))
	return nil
}

// openItems shows what of a plan waits for a decision, and returns the names of those
// that can be allowed.
func openItems(p *show.Printer, plan *loader.Plan) (open []string) {
	for i := range plan.Items {
		item := &plan.Items[i]
		if item.Trouble == "" && (item.In != "" || item.State == loader.StateTrusted && !item.Damaged) {
			continue
		}
		showPlanItem(p, item)
		if item.Trouble == "" && !slices.Contains(open, item.Hook) {
			open = append(open, item.Hook)
		}
	}
	return open
}
