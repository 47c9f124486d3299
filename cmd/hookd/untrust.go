package main

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

func newUntrust(a *app) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:               "untrust [NAME or PATH...]",
		Short:             "withdraw what was allowed: it counts for nothing from then on",
		ValidArgsFunction: a.completeHooks,
		RunE: func(c *cobra.Command, args []string) error {
			trust, err := a.openTrust()
			if err != nil {
				return err
			}
			plan, err := trust.Plan(c.Context())
			if err != nil {
				return trustFault(err)
			}
			names, err := planNames(plan, args)
			if err != nil {
				return err
			}
			meant := names
			if len(names) == 0 {
				for i := range plan.Items {
					meant = append(meant, plan.Items[i].Hook)
				}
			}
			if len(meant) == 0 {
				a.out.Print("nothing to decide: the project has no hooks\n")
				return nil
			}
			what := countKinds(plan, meant)
			trust.How = howDecided(yes)
			if !yes {
				if err := a.confirm(c.Context(), "deny "+what+" of "+show.Line(plan.Project)+"?"); err != nil {
					return err
				}
			}
			if err := trust.Deny(c.Context(), names...); err != nil {
				return trustFault(err)
			}
			a.out.Print("%s %s denied\n", a.out.In(show.Good, "✓"), what)
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "deny without asking")
	a.jsonFlag(c)
	return c
}
