package main

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

func newUntrust(a *app) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:               "untrust [PATH...]",
		Short:             "withdraw what was allowed: the hooks are absent from then on",
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
			count := len(names)
			if count == 0 {
				count = len(plan.Items)
			}
			trust.How = howDecided(yes)
			if !yes {
				if err := a.confirm(c.Context(), "deny "+plural(count, "hook")+" of "+show.Line(plan.Project)+"?"); err != nil {
					return err
				}
			}
			if err := trust.Deny(c.Context(), names...); err != nil {
				return trustFault(err)
			}
			a.out.Print("%s %s denied\n", a.out.In(show.Good, "✓"), plural(count, "hook"))
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "deny without asking")
	a.jsonFlag(c)
	return c
}
