package hookcmd

import (
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

// Check returns hookd check.
func (cmd *Commands) Check() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Report every problem with file, line, hook and remedy, and what hookd can promise on this machine",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			snapshot, err := cmd.Opener.Look(c.Context())
			if err != nil {
				return err
			}
			listing := engine.Describe(snapshot)
			state, unusable := checkState()
			otherAgents, err := cmd.checkAgents(c.Context(), state, snapshot.Set.Project)
			if err != nil {
				return err
			}
			unfit, suggestions := judgeModes(snapshot, readPastRuns(state))
			listing.Findings = slices.Concat(listing.Findings, unusable, monitorFindings(state), unfit, loader.Advice(snapshot), loader.Duplicates(snapshot), otherAgents)
			errors := 0
			for _, f := range listing.Findings {
				if f.Severity == schema.SeverityError || strict {
					errors++
				}
			}
			if cmd.Console.JSON {
				err = cmd.Console.PrintJSON(struct {
					Findings    []schema.Finding `json:"findings"`
					Suggestions []suggestion     `json:"suggestions"`
					Untested    []string         `json:"untested"` // guards without tests
				}{listing.Findings, append([]suggestion{}, suggestions...), untestedGuards(snapshot)})
			} else {
				err = cmd.showCheck(listing.Findings, suggestions, untestedGuards(snapshot))
			}
			if err == nil && errors > 0 {
				return cli.ExitCode(cli.ExitUsage)
			}
			return err
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "count warnings as errors")
	cmd.Console.JSONFlag(c)
	return c
}

func (cmd *Commands) showCheck(findings []schema.Finding, suggestions []suggestion, untested []string) error {
	for _, group := range report.GroupFindings(findings) {
		report.Findings(cmd.Console.Out, group)
	}
	report.FindingCount(cmd.Console.Out, findings)
	for _, s := range suggestions {
		cmd.Console.Out.Print("%s  %s: %s\n", cmd.Console.Out.In(show.Quiet, "· faster"), cmd.Console.Out.In(show.Name, show.Line(s.Hook)), show.Line(s.Message))
	}
	showUntested(cmd.Console.Out, untested)
	runtime, err := cmd.Processes.Start(false)
	if err != nil {
		return err
	}
	showPromises(cmd.Console.Out, runtime.Containment())
	return nil
}

// showPromises says what of hookd's promises holds on this machine. The parts of a long
// sentence have a line each.
func showPromises(p *show.Printer, report process.Report) {
	p.Print("\n%s (%s/%s)\n", p.In(show.Strong, "On this machine"), runtime.GOOS, runtime.GOARCH)
	row := func(what, text string, tone show.Tone) {
		for part := range strings.SplitSeq(text, "; ") {
			if part != "" {
				p.Print("  %s%s%s\n", what, strings.Repeat(" ", 22-len(what)), p.In(tone, show.Line(part)))
			}
			what = ""
		}
	}
	row("hooks are held by", string(report.Kind), show.Good)
	row("ends with its hook", report.Covers, show.Plain)
	row("may outlive its hook", report.Misses, show.Warn)
	row("if hookd is killed", report.Guardian, show.Plain)
	for _, unavailable := range report.Unavailable {
		row("not available", unavailable, show.Quiet)
	}
}
