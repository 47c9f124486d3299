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
	var strict, machine bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Report every problem with file, line, hook and remedy",
		Long: `Report every problem with file, line, hook and remedy: errors first, and those that
say the same of several places once. It ends with 3 if there is an error.

What hookd can promise depends on the system. --machine says what holds on this one:
which processes of a hook end with it, and which may outlive it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			snapshot, err := cmd.Opener.Look(c.Context())
			if err != nil {
				return err
			}
			cmd.Opener.NoteNoProject(snapshot.Project)
			listing := engine.Describe(snapshot)
			state, unusable := checkState()
			otherAgents, err := cmd.checkAgents(c.Context(), state, snapshot.Set.Project)
			if err != nil {
				return err
			}
			unfit, suggestions := judgeModes(snapshot, readPastRuns(state))
			listing.Findings = slices.Concat(listing.Findings, unusable, monitorFindings(state), unfit, loader.Advice(snapshot), loader.Duplicates(snapshot), testFindings(snapshot), otherAgents)
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
				err = cmd.showCheck(listing.Findings, suggestions, untestedGuards(snapshot), machine)
			}
			if err == nil && errors > 0 {
				return cli.ExitCode(cli.ExitUsage)
			}
			return err
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "count warnings as errors")
	c.Flags().BoolVar(&machine, "machine", false, "say in full what hookd can promise on this machine")
	cmd.Console.JSONFlag(c)
	return c
}

func (cmd *Commands) showCheck(findings []schema.Finding, suggestions []suggestion, untested []string, machine bool) error {
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
	if machine {
		showPromises(cmd.Console.Out, runtime.Containment())
	} else {
		showContainment(cmd.Console.Out, runtime.Containment())
	}
	return nil
}

// showContainment says on a line how hooks are held on this machine, and what would hold
// them better and is not available.
func showContainment(p *show.Printer, report process.Report) {
	p.Print("  hooks are held by %s here; %s says what that promises\n", p.In(show.Good, show.Line(string(report.Kind))), p.In(show.Name, "hookd check --machine"))
	for _, unavailable := range report.Unavailable {
		p.Print("  %s\n", p.In(show.Quiet, "not available: "+show.Line(unavailable)))
	}
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
