//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// reviewGuards asks at the start of a run, before anything of it refuses, whether the
// person wants to look at the guards that will: nobody allowed them as they are. Without
// a terminal a note names them; below an agent nobody is asked.
func (a *app) reviewGuards(ctx context.Context) (reviewed bool, err error) {
	if !a.console.PersonReads() || loader.MayDecide() != nil {
		return false, nil
	}
	if _, err := a.processes.Start(true); err != nil { // for the run, which needs a guardian
		return false, err
	}
	snapshot, err := a.opener.Look(ctx)
	if err != nil {
		return false, nil // it is said where the run begins
	}
	guards := engine.WaitingGuards(snapshot)
	if len(guards) == 0 {
		return false, nil
	}
	question := fmt.Sprintf("%s until you look at %s: review now?", andAre(guards), themOrIt(guards))
	err = a.console.Confirm(ctx, question)
	if err == nil {
		err = (&trustcmd.Commands{Console: a.console, Project: a.project}).Review(ctx)
	}
	var fault *cli.Fault
	if errors.As(err, &fault) { // a no, or something that cannot be allowed: the run says what follows
		a.console.Err.Print("%s\n", a.console.Err.In(show.Quiet, show.OneLine(fault.Message)+"; /trust or hookd trust asks again"))
		return true, nil
	}
	return true, err
}

func andAre(guards []string) string {
	names := " (" + show.Shorten(strings.Join(guards, " "), 120) + ")"
	if len(guards) == 1 {
		return "1 guard" + names + " refuses"
	}
	return show.Plural(len(guards), "guard") + names + " refuse"
}

func themOrIt(guards []string) string {
	if len(guards) == 1 {
		return "it"
	}
	return "them"
}

// trust is /trust: hookd trust in a conversation.
func (k *chatCommands) trust(ctx context.Context, p *show.Printer) error {
	trust, err := k.c.a.project.OpenTrust()
	if err != nil {
		return err
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return trustcmd.Fault(err)
	}
	var shown strings.Builder
	open := trustcmd.OpenItems(&show.Printer{W: &shown, Color: p.Color, Width: p.Width}, plan)
	if len(open) == 0 {
		p.Raw(shown.String())
		p.Print("nothing to decide\n")
		return nil
	}
	k.tell(strings.TrimRight(shown.String(), "\n"))
	answer, err := k.ask(ctx, agentloop.Question{
		Event: "trust", AskedBy: "hookd", Text: fmt.Sprintf("allow %s%s?", trustcmd.CountKinds(plan, open), trustcmd.NotShown(plan, open)),
		Options: []protocol.PermissionOption{{OptionID: "allow", Name: "Allow", Kind: "allow-once"}, {OptionID: "reject", Name: "Leave as it is", Kind: "reject-once"}},
	})
	if err != nil || answer.OptionID != "allow" {
		p.Print("not allowed; nothing changed\n")
		return nil
	}
	trust.How = trustcmd.HowDecided(false)
	if err := trust.Allow(plan, open...); err != nil {
		return trustcmd.Fault(err)
	}
	if w := k.c.engine.Watcher(); w != nil { // no event is to come in between
		if _, err := w.Reload(ctx); err != nil {
			return cli.Failed("reload", err, "")
		}
	}
	p.Print("%s %s allowed; it counts from the next event on\n", p.In(show.Good, "✓"), trustcmd.CountKinds(plan, open))
	return nil
}
