package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

func newDisable(a *app) *cobra.Command {
	var duration string
	c := &cobra.Command{
		Use:               "disable NAME",
		Short:             "switch a hook off, for a while or until it is enabled: the recorded way past a broken hook",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeHooks,
		RunE: func(c *cobra.Command, args []string) error {
			var until *time.Time
			if duration != "" {
				d, err := time.ParseDuration(duration)
				if err != nil || d <= 0 {
					return usage("usage", "--for takes a time such as 30m or 1h, not "+duration, "")
				}
				end := time.Now().Add(d)
				until = &end
			}
			trust, err := a.openTrust()
			if err != nil {
				return err
			}
			if err := trust.Disable(c.Context(), args[0], until); err != nil {
				return trustFault(err)
			}
			when := "until hookd enable " + args[0]
			if until != nil {
				when = "until " + until.Format("15:04")
				if now := time.Now(); until.YearDay() != now.YearDay() || until.Year() != now.Year() {
					when = "until " + until.Format("2006-01-02 15:04")
				}
			}
			a.out.Print("%s is off %s\n", a.out.In(show.Name, show.Line(args[0])), show.Line(when))
			return nil
		},
	}
	nameFlag(c, &duration, "for", "", "time `D` after which it is on again, such as 1h")
	a.jsonFlag(c)
	return c
}

func newEnable(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:               "enable NAME",
		Short:             "switch a disabled hook on again",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeHooks,
		RunE: func(c *cobra.Command, args []string) error {
			trust, err := a.openTrust()
			if err != nil {
				return err
			}
			if err := trust.Enable(c.Context(), args[0]); err != nil {
				return trustFault(err)
			}
			a.out.Print("%s is not switched off any more\n", a.out.In(show.Name, show.Line(args[0])))
			return nil
		},
	}
	a.jsonFlag(c)
	return c
}
