package main

import (
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

func newCheck(a *app) *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use:   "check",
		Short: "report every problem with file, line, hook and remedy, and what this machine promises",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			snapshot, err := a.look(c.Context())
			if err != nil {
				return err
			}
			listing := describe(snapshot)
			state, unusable := checkState()
			unfit, suggestions := judgeModes(snapshot, readPastRuns(state))
			listing.Findings = slices.Concat(listing.Findings, unusable, unfit, loader.Advice(snapshot), loader.Duplicates(snapshot))
			errors := 0
			for _, f := range listing.Findings {
				if f.Severity == schema.SeverityError || strict {
					errors++
				}
			}
			if a.json {
				err = a.printJSON(struct {
					Findings    []schema.Finding `json:"findings"`
					Suggestions []suggestion     `json:"suggestions"`
				}{listing.Findings, append([]suggestion{}, suggestions...)})
			} else {
				err = a.showCheck(listing.Findings, suggestions)
			}
			if err == nil && errors > 0 {
				return exitCode(exitUsage)
			}
			return err
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "warnings count as errors")
	a.jsonFlag(c)
	return c
}

func (a *app) showCheck(findings []schema.Finding, suggestions []suggestion) error {
	for _, group := range groupFindings(findings) {
		showFindings(a.out, group)
	}
	showCount(a.out, findings)
	for _, s := range suggestions {
		a.out.Print("%s  %s: %s\n", a.out.In(show.Quiet, "· faster"), a.out.In(show.Name, show.Line(s.Hook)), show.Line(s.Message))
	}
	runtime, err := a.runtime(false)
	if err != nil {
		return err
	}
	showPromises(a.out, runtime.Containment())
	return nil
}

// showPromises says what holds on this machine of what hookd promises.
func showPromises(p *show.Printer, report process.Report) {
	p.Print("\n%s (%s/%s)\n", p.In(show.Strong, "On this machine"), runtime.GOOS, runtime.GOARCH)
	row := func(what, text string, tone show.Tone) {
		if text != "" {
			p.Print("  %s%s%s\n", what, strings.Repeat(" ", 22-len(what)), p.In(tone, show.Line(text)))
		}
	}
	row("hooks are held by", string(report.Kind), show.Good)
	row("surely ended", report.Covers, show.Plain)
	row("may outlive its hook", report.Misses, show.Warn)
	row("if hookd is killed", report.Guardian, show.Plain)
	for _, unavailable := range report.Unavailable {
		row("not available", unavailable, show.Quiet)
	}
}
