package trustcmd

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
)

// Untrust returns hookd untrust.
func (cmd *Commands) Untrust() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:               "untrust [NAME or PATH...]",
		Short:             "Withdraw what was allowed, so that it is not in force any more",
		ValidArgsFunction: cmd.Project.CompleteHooks,
		RunE: func(c *cobra.Command, args []string) error {
			trust, err := cmd.Project.OpenDecision()
			if err != nil {
				return err
			}
			plan, err := trust.Plan(c.Context())
			if err != nil {
				return Fault(err)
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
				cmd.Console.Out.Print("nothing to decide: the project has no hooks\n")
				return nil
			}
			if err := loader.MayDecide(); err != nil {
				return Fault(err)
			}
			what := CountKinds(plan, meant)
			trust.How = HowDecided(yes)
			if !yes {
				if err := cmd.Console.Confirm(c.Context(), "deny "+what+" of "+show.Line(plan.Project)+"?"); err != nil {
					return err
				}
			}
			if err := trust.Deny(c.Context(), names...); err != nil {
				return Fault(err)
			}
			cmd.Console.Out.Print("%s %s denied\n", cmd.Console.Out.In(show.Good, "✓"), what)
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "deny without asking")
	cmd.Console.JSONFlag(c)
	return c
}
