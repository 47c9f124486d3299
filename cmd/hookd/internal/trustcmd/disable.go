package trustcmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// Disable returns hookd disable.
func (cmd *Commands) Disable() *cobra.Command {
	var duration string
	c := &cobra.Command{
		Use:               "disable NAME",
		Short:             "Switch a hook off, for a while or until hookd enable: the recorded way past a broken hook",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cmd.Project.CompleteHooks,
		RunE: func(c *cobra.Command, args []string) error {
			var until *time.Time
			if duration != "" {
				d, err := time.ParseDuration(duration)
				if err != nil || d <= 0 {
					return cli.Usage("usage", "--for takes a time such as 30m or 1h, not "+duration, "")
				}
				end := time.Now().Add(d)
				until = &end
			}
			trust, err := cmd.Project.OpenTrust()
			if err != nil {
				return err
			}
			if err := trust.Disable(c.Context(), args[0], until); err != nil {
				return Fault(err)
			}
			when := "until hookd enable " + args[0]
			if until != nil {
				when = "until " + until.Format("15:04")
				if now := time.Now(); until.YearDay() != now.YearDay() || until.Year() != now.Year() {
					when = "until " + until.Format("2006-01-02 15:04")
				}
			}
			cmd.Console.Out.Print("%s is off %s\n", cmd.Console.Out.In(show.Name, show.Line(args[0])), show.Line(when))
			return nil
		},
	}
	cli.NameFlag(c.Flags(), &duration, "for", "", "switch it on again after the time `D`, such as 1h")
	cmd.Console.JSONFlag(c)
	return c
}

// Enable returns hookd enable.
func (cmd *Commands) Enable() *cobra.Command {
	c := &cobra.Command{
		Use:               "enable NAME",
		Short:             "Switch a disabled hook on again",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cmd.Project.CompleteHooks,
		RunE: func(c *cobra.Command, args []string) error {
			trust, err := cmd.Project.OpenTrust()
			if err != nil {
				return err
			}
			if err := trust.Enable(c.Context(), args[0]); err != nil {
				return Fault(err)
			}
			cmd.Console.Out.Print("%s is not switched off any more\n", cmd.Console.Out.In(show.Name, show.Line(args[0])))
			return nil
		},
	}
	cmd.Console.JSONFlag(c)
	return c
}
