package installcmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/verify"
)

// Verify returns hookd verify.
func (cmd *Commands) Verify() *cobra.Command {
	var f flags
	var noProof bool
	c := &cobra.Command{
		Use:   "verify [AGENT...]",
		Short: "Say whether the hooks that were installed into other agents are alive",
		Long: `Say of each agent in which hookd is installed whether its hooks are alive:

  proved         the agent was started, and its own hook call reached hookd
  plausible      everything that can be looked at is as it should be
  broken         it does not work, with the reason and what to do
  cannot say     something is there that may keep hookd from working

Agents that can be driven without a model are started once in an empty folder, with
keys that are none and an address at which nobody answers. Of others the command in
their settings is run. Where they start hookd-bridge, the call must reach a daemon, and
be answered after that was killed.

The exit code is 0 if all are proved or plausible, 2 if one is broken, 4 if of one it
cannot be said or if an agent that was named has nothing of hookd's.`,
		ValidArgs: install.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.verify(c.Context(), &f, args, !noProof)
		},
	}
	c.Flags().BoolVar(&noProof, "no-proof", false, "start no agent for a proof")
	cmd.Console.JSONFlag(c)
	return c
}

// verify verifies some agents, or all, and prints what is known.
func (cmd *Commands) verify(ctx context.Context, f *flags, names []string, prove bool) error {
	chosen, err := agents(names)
	if err != nil {
		return err
	}
	in, err := cmd.installer(f)
	if err != nil {
		return err
	}
	state, err := places.StateDir()
	if err != nil {
		return err
	}
	runtime, err := cmd.Processes.Start(false)
	if err != nil {
		return err
	}
	v := verify.Verifier{Installer: in, State: state, Environ: os.Environ(), Run: runtime, Prove: prove}
	results := v.Verify(ctx, chosen)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cmd.Console.JSON {
		err = cmd.Console.PrintJSON(append([]verify.Result{}, results...))
	} else {
		cmd.showResults(results)
	}
	if exit := verify.Exit(results); err == nil && exit != verify.ExitAlive {
		return cli.ExitCode(exit)
	}
	return err
}

var tones = map[verify.Verdict]show.Tone{
	verify.Proved: show.Good, verify.Plausible: show.Good, verify.Broken: show.Bad, verify.CannotSay: show.Warn, verify.Absent: show.Warn,
}

func (cmd *Commands) showResults(results []verify.Result) {
	p := cmd.Console.Out
	if len(results) == 0 {
		p.Print("hookd is installed in no agent; hookd install --detect shows which are here\n")
		return
	}
	for i := range results {
		r := &results[i]
		title := r.Title
		if r.Version != "unknown" {
			title += " " + r.Version
		}
		if r.Scope != "" {
			title += " (" + string(r.Scope) + ")"
		}
		p.Print("%s  %s", p.In(show.Strong, show.Line(title)), p.In(tones[r.Verdict], string(r.Verdict)))
		if r.Verdict == verify.Absent {
			p.Print("  %s", p.In(show.Quiet, "hookd install "+r.Agent+" puts hookd into its settings"))
		}
		if r.Proof != "" {
			p.Print("  %s", p.In(show.Quiet, show.Line(r.Proof)))
		}
		p.Print("\n")
		for _, problem := range r.Problems {
			printProblem(p, problem, show.Bad, "because")
		}
		for _, problem := range r.Doubts {
			printProblem(p, problem, show.Warn, "note:")
		}
	}
}

func printProblem(p *show.Printer, problem verify.Problem, tone show.Tone, word string) {
	place := ""
	if problem.File != "" {
		place = problem.File
		if problem.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, problem.Line)
		}
		place = "  " + p.In(show.Quiet, show.Line(place))
	}
	p.Print("  %s %s%s\n", p.In(tone, word), show.Line(problem.Text), place)
	if problem.Remedy != "" {
		p.Print("    %s %s\n", p.In(show.Quiet, "remedy:"), show.Line(problem.Remedy))
	}
}
