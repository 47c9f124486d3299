package installcmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader/install"
)

func (cmd *Commands) uninstall(ctx context.Context, f flags, names []string) error {
	chosen, err := agents(names)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := mayWrite(true); err != nil {
			return err
		}
	}
	in, err := cmd.installer(&f)
	if err != nil {
		return err
	}
	scopes := []install.Scope{install.User, install.Project}
	scope, named := f.scope()
	if named {
		scopes = []install.Scope{scope}
	}
	var plans []*install.Plan
	more := false
	for _, a := range chosen {
		for _, s := range scopes {
			if !named && (!a.Has(in.Places, s) || s == install.Project && in.Places.Project == "") {
				continue
			}
			plan, err := in.PlanRemoval(a, s)
			if !named && errors.Is(err, install.ErrOutside) {
				cmd.Console.Note(about(a, "nothing is taken out for this project: "+err.Error()), "remove the link in the project")
				continue
			}
			if err != nil {
				return fault(err)
			}
			if !plan.Changes() && len(plan.Notes) == 0 && !errors.Is(err, install.ErrNoPlace) {
				continue
			}
			more = cmd.showPlan(plan, "", f.diff) || more
			plans = append(plans, plan)
		}
	}
	for _, a := range chosen {
		if !slices.ContainsFunc(plans, func(p *install.Plan) bool { return p.Agent == a }) {
			cmd.Console.Out.Print("hookd is not in the settings of %s\n", show.Line(a.Title))
		}
	}
	cmd.showMore(more)
	if err := cmd.carryOut(ctx, in, f, plans, "take hookd out?"); err != nil || f.dryRun {
		return err
	}
	for _, a := range chosen {
		for _, s := range scopes {
			if err := in.Tidy(a, s); err != nil {
				return fault(err)
			}
		}
	}
	for _, a := range chosen { // a later installation begins strict
		if err := cmd.setMonitor(in.State, a, time.Now(), time.Time{}); err != nil {
			return err
		}
	}
	return nil
}
