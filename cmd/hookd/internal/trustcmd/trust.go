package trustcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
)

// trustFlags are the flags of `hookd trust`.
type trustFlags struct {
	yes, list, print, follow bool
	all                      bool // show every pattern of a file of rules
	expect                   string
}

// Commands are hookd trust, untrust, disable and enable.
type Commands struct {
	Console *cli.Console
	Project *places.Project
}

// Trust returns hookd trust.
func (cmd *Commands) Trust() *cobra.Command {
	var f trustFlags
	c := &cobra.Command{
		Use:   "trust [NAME or PATH...]",
		Short: "Look at a project's settings and hooks and allow them by content",
		Long: `Show what of this project would count: its settings, hooks, skills, recipes and
MCP servers, changes as a diff; and ask once. What is allowed is exactly what was
shown: a private copy of it is what runs and what is in force. With a name or a path
only that is allowed, and the settings, if they wait for a decision.`,
		ValidArgsFunction: cmd.Project.CompleteHooks,
		RunE:              func(c *cobra.Command, args []string) error { return cmd.trust(c.Context(), f, args) },
	}
	c.Flags().BoolVar(&f.yes, "yes", false, "allow without asking")
	c.Flags().BoolVar(&f.list, "list", false, "list all decisions, about every project")
	c.Flags().BoolVar(&f.print, "print", false, "print one hash of the project, settings and hooks together")
	cli.NameFlag(c.Flags(), &f.expect, "expect", "", "allow the project if its hash is `HASH`, else nothing")
	c.Flags().BoolVar(&f.all, "all", false, "show every pattern of long files of rules")
	c.Flags().BoolVar(&f.follow, "follow", false, "allow changes of what was allowed as they are saved, until interrupted")
	cli.Exclusive(c, "yes", "list", "print", "expect", "follow")
	cli.Exclusive(c, "all", "list", "print", "expect", "follow")
	cmd.Console.JSONFlag(c)
	return c
}

func (cmd *Commands) trust(ctx context.Context, f trustFlags, paths []string) error {
	trust, err := cmd.Project.OpenDecision()
	if err != nil {
		return err
	}
	switch {
	case f.list:
		return cmd.listTrust(ctx, trust)
	case f.expect != "":
		if err := trust.Expect(ctx, f.expect); err != nil {
			return Fault(err)
		}
		cmd.Console.Out.Print("%s the project is as expected and allowed\n", cmd.Console.Out.In(show.Good, "✓"))
		return nil
	case f.follow:
		return cmd.followTrust(ctx, trust)
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return Fault(err)
	}
	if f.print {
		if i := slices.IndexFunc(plan.Items, func(item loader.PlanItem) bool { return item.Kind == loader.KindSettings && item.Problem != nil }); i >= 0 {
			return cli.Usage("cannot-allow", "no hash: "+plan.Items[i].Problem.Why, plan.Items[i].Problem.Remedy)
		}
		cmd.Console.Out.Print("%s\n", plan.Hash)
		return nil
	}
	return cmd.allow(ctx, trust, plan, paths, f)
}

// Review does what hookd trust does without flags.
func (cmd *Commands) Review(ctx context.Context) error {
	trust, err := cmd.Project.OpenDecision()
	if err != nil {
		return err
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return Fault(err)
	}
	return cmd.allow(ctx, trust, plan, nil, trustFlags{})
}

// allow shows what would run, asks, and allows it.
func (cmd *Commands) allow(ctx context.Context, trust *loader.Trust, plan *loader.Plan, paths []string, f trustFlags) error {
	names, err := planNames(plan, paths)
	if err != nil {
		return err
	}
	names = plan.WithSettings(names)
	cmd.Console.Out.Print("%s\n", cmd.Console.Out.In(show.Quiet, "project "+show.Line(plan.Project)))
	var shown []*loader.PlanItem
	for i := range plan.Items {
		if item := &plan.Items[i]; len(names) == 0 || slices.Contains(names, item.Hook) {
			shown = append(shown, item)
		}
	}
	left := showItems(cmd.Console.Out, shown, f.all)
	var open, stuck []string
	for _, item := range shown {
		switch {
		case item.Problem != nil:
			stuck = append(stuck, item.Hook)
		case item.In != "":
		case item.State != loader.StateTrusted || item.Damaged:
			open = append(open, item.Hook)
		}
	}
	if len(open) > 0 {
		if err := cmd.allowOpen(ctx, trust, plan, open, left, f.yes); err != nil {
			return err
		}
	}
	above := trust.Above(ctx)
	switch {
	case len(stuck) == 1 && stuck[0] != plan.Settings():
		return cli.Usage("cannot-allow", CountKinds(plan, stuck)+" cannot be allowed as it is", "see what is said about it above")
	case len(stuck) > 0:
		return cli.Usage("cannot-allow", CountKinds(plan, stuck)+" cannot be allowed as they are", "see what is said about them above")
	case len(open) == 0 && len(plan.Items) == 0 && len(above) == 0:
		cmd.Console.Out.Print("nothing to decide: the project has no hooks\n")
	case len(open) == 0 && len(above) == 0:
		cmd.Console.Out.Print("nothing to decide: all of it is allowed already\n")
	}
	for _, outer := range above {
		cmd.Console.Note("something of the project above, "+outer+", waits for a decision, too", "hookd trust --project "+outer)
	}
	return nil
}

// showItems prints items as they would run, and returns how many bytes of the rules among them
// it left out: none with all.
func showItems(p *show.Printer, items []*loader.PlanItem, all bool) (left int64) {
	var packs map[string]*pack
	if !all {
		packs = longPacks(items)
	}
	told := map[*pack]bool{}
	for _, item := range items {
		switch of := packs[item.Hook]; {
		case of == nil:
			showItem(p, item)
		case !told[of]:
			told[of] = true
			left += showPack(p, of)
		}
	}
	return left
}

// allowOpen asks, and allows the hooks that can be decided about. left is how much of the
// rules among them was not shown.
func (cmd *Commands) allowOpen(ctx context.Context, trust *loader.Trust, plan *loader.Plan, open []string, left int64, yes bool) error {
	if err := loader.MayDecide(); err != nil { // or a yes would be asked for that counts for nothing
		return Fault(err)
	}
	trust.How = HowDecided(yes)
	if !yes {
		if err := cmd.Console.Confirm(ctx, fmt.Sprintf("allow %s%s?", CountKinds(plan, open), notShown(plan, open, left))); err != nil {
			return err
		}
	}
	if err := trust.Allow(plan, open...); err != nil {
		return Fault(err)
	}
	cmd.Console.Out.Print("%s %s allowed\n", cmd.Console.Out.In(show.Good, "✓"), CountKinds(plan, open))
	return nil
}

// planNames turns paths, or plain names, into names of the plan's hooks.
func planNames(plan *loader.Plan, paths []string) ([]string, error) {
	var names []string
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, cli.Failed("trust", err, "")
		}
		i := slices.IndexFunc(plan.Items, func(item loader.PlanItem) bool {
			return item.Hook == path || item.Path != "" && sameFile(item.Path, absolute)
		})
		if i < 0 {
			return nil, cli.Usage("no-hook", "the project has no hook "+path, hintNoHook(plan.Project, path))
		}
		names = append(names, plan.Items[i].Hook)
	}
	return names, nil
}

// hintNoHook says where to look for a hook that the project does not have: those of a
// project above have the way to it before their names.
func hintNoHook(project, name string) string {
	if strings.HasPrefix(name, "../") {
		return "it belongs to a project above: hookd trust --project " + filepath.Join(project, filepath.Dir(name))
	}
	return "hookd list shows its hooks"
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB
}

// Fault says why a decision was not made.
func Fault(err error) error {
	var passed *loader.IgnoredProjectError
	switch {
	case errors.As(err, &passed):
		return cli.Usage("no-project", passed.Error(), passed.Remedy)
	case errors.Is(err, loader.ErrNoProject):
		return cli.Usage("no-project", err.Error(), "hookd init makes one")
	case errors.Is(err, loader.ErrNoSuchHook):
		return cli.Usage("trust", err.Error(), "hookd list shows the hooks")
	case errors.Is(err, loader.ErrBelow):
		return cli.Usage("below-a-hook", err.Error(), "decide in a terminal of your own")
	case errors.Is(err, loader.ErrUnexpected):
		return cli.Usage("unexpected", err.Error(), "look at what changed with hookd trust, then expect the new hash")
	}
	return cli.Usage("trust", strings.ReplaceAll(err.Error(), "\n", "; "), "")
}

func (cmd *Commands) listTrust(ctx context.Context, trust *loader.Trust) error {
	listed, err := trust.List(ctx)
	if err != nil {
		return Fault(err)
	}
	if cmd.Console.JSON {
		return cmd.Console.PrintJSON(listed)
	}
	if len(listed) == 0 {
		cmd.Console.Out.Print("nothing was decided yet\n")
		return nil
	}
	table := show.Table{Header: []string{"PROJECT", "HOOK", "STATE", "SINCE", "HASH"}}
	for _, l := range listed {
		tone := show.Good
		if l.State != loader.StateTrusted {
			tone = show.Warn
		}
		table.Add(show.Cell{Text: l.Project}, show.Cell{Text: l.Hook, Tone: show.Name}, show.Cell{Text: string(l.State), Tone: tone},
			show.Cell{Text: l.At.Local().Format("2006-01-02 15:04")}, show.Cell{Text: shortHash(l.Hash), Tone: show.Quiet})
	}
	table.Write(cmd.Console.Out)
	return nil
}

func (cmd *Commands) followTrust(ctx context.Context, trust *loader.Trust) error {
	cmd.Console.Err.Print("hookd: allowing changes of what was allowed in %s as they are saved; Ctrl-C ends it\n", show.Line(trust.Project()))
	err := trust.Follow(ctx, func(hook, hash string, err error) {
		if err != nil {
			cmd.Console.Note(hook+" is not allowed: "+err.Error(), "")
			return
		}
		cmd.Console.Out.Print("%s %s allowed as it is now (%s)\n", cmd.Console.Out.In(show.Good, "✓"), cmd.Console.Out.In(show.Name, show.Line(hook)), shortHash(hash))
	})
	if err != nil && ctx.Err() == nil {
		return Fault(err)
	}
	return nil
}

func shortHash(hash string) string {
	const shown = len("sha256:") + 12
	if len(hash) > shown {
		return hash[:shown]
	}
	return hash
}
