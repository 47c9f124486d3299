package conversation

import (
	"context"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustquestion"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

// askAboutProject asks the person at the start of a run about all of the project that waits to
// be allowed, and reports whether it asked. Without a terminal notes say what is left out
// instead; below an agent nobody is asked.
func (o *opening) askAboutProject(ctx context.Context) (asked bool, err error) {
	if !o.console.PersonReads() || loader.MayDecide() != nil {
		return false, nil
	}
	if _, err := o.hooks.Processes.Start(true); err != nil { // for the run, which needs a guardian
		return false, err
	}
	trust, err := o.hooks.Project.OpenDecision()
	if err != nil {
		return false, nil // it is said where the run begins
	}
	plan, err := trust.Plan(ctx)
	if err != nil || len(trustquestion.Waiting(plan)) == 0 {
		return false, nil
	}
	var guards []string
	if snapshot, err := o.hooks.Look(ctx); err == nil {
		guards = engine.WaitingGuards(snapshot)
	}
	p := o.console.Err
	allowed, err := trustquestion.Ask(ctx, trustquestion.Person{Printer: p, Lines: o.console.Lines()}, plan, guards)
	if err != nil {
		return true, err
	}
	if len(allowed) == 0 {
		p.Print("%s\n", p.In(show.Quiet, "not allowed; nothing changed; /trust or hookd trust asks again"))
		return true, nil
	}
	trust.How = trustcmd.HowDecided(false)
	if err := trust.Allow(plan, allowed...); err != nil {
		p.Print("%s %s\n", p.In(show.Bad, "✗"), show.OneLine(trustcmd.Fault(err).Error()))
		return true, nil
	}
	p.Print("%s %s allowed\n", p.In(show.Good, "✓"), trustcmd.CountKinds(plan, allowed))
	return true, nil
}

// noteUnread names the instructions of a folder that is no project of hookd, and that are not
// read because nobody allowed them. Those of a project are named with all else that waits.
func (o *opening) noteUnread(ctx context.Context, e *engine.Engine, settings *schema.Settings) {
	if o.project != "" || !o.console.NotesArePrinted() || !switchedOn("instructions", settings) || settings.Agent.Instructions.Limit == 0 {
		return
	}
	trust, err := o.hooks.Project.OpenDecision()
	if err != nil || trust.Project() == "" {
		return
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return
	}
	var names []string
	for i := range plan.Items {
		item := &plan.Items[i]
		name := show.Line(strings.TrimPrefix(item.Hook, "instructions/"))
		switch {
		case item.Kind != loader.KindInstructions:
		case item.Problem != nil:
			o.console.Note(name+" is not read: "+item.Problem.Why, item.Problem.Remedy)
		case item.Waits():
			names = append(names, name)
		}
	}
	if names = slices.Compact(names); len(names) > 0 {
		o.console.Note("not read, nobody allowed it yet: "+show.AndList(names), "hookd trust shows it and asks")
	}
}
