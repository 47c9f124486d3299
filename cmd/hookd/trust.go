package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
)

// trustFlags are the flags of `hookd trust`.
type trustFlags struct {
	yes, list, print, follow bool
	expect                   string
}

func newTrust(a *app) *cobra.Command {
	var f trustFlags
	c := &cobra.Command{
		Use:   "trust [NAME or PATH...]",
		Short: "look at a project's settings and hooks and allow them by content",
		Long: `Show what of this project would count: its settings, hooks, skills, recipes and
MCP servers, changes as a diff; and ask once. What is allowed is exactly what was
shown: a private copy of it is what runs and what is in force. With a name or a path
only that is allowed, and the settings, if they wait for a decision.`,
		ValidArgsFunction: a.completeHooks,
		RunE:              func(c *cobra.Command, args []string) error { return a.trust(c.Context(), f, args) },
	}
	c.Flags().BoolVar(&f.yes, "yes", false, "allow without asking")
	c.Flags().BoolVar(&f.list, "list", false, "list all decisions, about every project")
	c.Flags().BoolVar(&f.print, "print", false, "print one hash of the project, settings and hooks together")
	nameFlag(c, &f.expect, "expect", "", "allow the project if its hash is `HASH`, else nothing")
	c.Flags().BoolVar(&f.follow, "follow", false, "allow changes of what was allowed as they are saved, until interrupted")
	exclusive(c, "yes", "list", "print", "expect", "follow")
	a.jsonFlag(c)
	return c
}

func (a *app) trust(ctx context.Context, f trustFlags, paths []string) error {
	trust, err := a.openTrust()
	if err != nil {
		return err
	}
	switch {
	case f.list:
		return a.listTrust(ctx, trust)
	case f.expect != "":
		if err := trust.Expect(ctx, f.expect); err != nil {
			return trustFault(err)
		}
		a.out.Print("%s the project is as expected and allowed\n", a.out.In(show.Good, "✓"))
		return nil
	case f.follow:
		return a.followTrust(ctx, trust)
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return trustFault(err)
	}
	if f.print {
		if i := slices.IndexFunc(plan.Items, func(item loader.PlanItem) bool { return item.Kind == loader.KindSettings && item.Trouble != "" }); i >= 0 {
			return usage("cannot-allow", "no hash: "+plan.Items[i].Trouble, plan.Items[i].Remedy)
		}
		a.out.Print("%s\n", plan.Hash)
		return nil
	}
	return a.allow(ctx, trust, plan, paths, f.yes)
}

// allow shows what would run, asks, and allows it.
func (a *app) allow(ctx context.Context, trust *loader.Trust, plan *loader.Plan, paths []string, yes bool) error {
	names, err := planNames(plan, paths)
	if err != nil {
		return err
	}
	names = plan.WithSettings(names)
	a.out.Print("%s\n", a.out.In(show.Quiet, "project "+show.Line(plan.Project)))
	var open, stuck []string
	for i := range plan.Items {
		item := &plan.Items[i]
		if len(names) > 0 && !slices.Contains(names, item.Hook) {
			continue
		}
		showPlanItem(a.out, item)
		switch {
		case item.Trouble != "":
			stuck = append(stuck, item.Hook)
		case item.In != "":
		case item.State != loader.StateTrusted || item.Damaged:
			open = append(open, item.Hook)
		}
	}
	if len(open) > 0 {
		if err := a.allowOpen(ctx, trust, plan, open, yes); err != nil {
			return err
		}
	}
	above := trust.Above(ctx)
	switch {
	case len(stuck) == 1 && stuck[0] != plan.Settings():
		return usage("cannot-allow", countKinds(plan, stuck)+" cannot be allowed as it is", "see what is said about it above")
	case len(stuck) > 0:
		return usage("cannot-allow", countKinds(plan, stuck)+" cannot be allowed as they are", "see what is said about them above")
	case len(open) == 0 && len(plan.Items) == 0 && len(above) == 0:
		a.out.Print("nothing to decide: the project has no hooks\n")
	case len(open) == 0 && len(above) == 0:
		a.out.Print("nothing to decide: all of it is allowed already\n")
	}
	for _, outer := range above {
		a.note("something of the project above, "+outer+", waits for a decision, too", "hookd trust --project "+outer)
	}
	return nil
}

// allowOpen asks, and allows the hooks that can be decided about.
func (a *app) allowOpen(ctx context.Context, trust *loader.Trust, plan *loader.Plan, open []string, yes bool) error {
	trust.How = howDecided(yes)
	if !yes {
		if err := a.confirm(ctx, fmt.Sprintf("allow %s%s?", countKinds(plan, open), notShown(plan, open))); err != nil {
			return err
		}
	}
	if err := trust.Allow(plan, open...); err != nil {
		return trustFault(err)
	}
	a.out.Print("%s %s allowed\n", a.out.In(show.Good, "✓"), countKinds(plan, open))
	return nil
}

// countKinds says how many hooks, skills, recipes and servers are meant.
func countKinds(plan *loader.Plan, names []string) string {
	var parts []string
	for _, kind := range []loader.Kind{loader.KindSettings, loader.KindHook, loader.KindSkill, loader.KindRecipe, loader.KindServer} {
		n := 0
		for i := range plan.Items {
			if plan.Items[i].Kind == kind && slices.Contains(names, plan.Items[i].Hook) {
				n++
			}
		}
		what := string(kind)
		if kind == loader.KindServer {
			what = "MCP server"
		}
		if kind == loader.KindSettings && n > 0 {
			parts = append(parts, "the settings")
			continue
		}
		if n > 0 {
			parts = append(parts, plural(n, what))
		}
	}
	return andList(parts)
}

// andList is a list as a sentence has it: a, b and c.
func andList(parts []string) string {
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}

// howDecided is how a person says yes, for the record.
func howDecided(yes bool) string {
	if yes {
		return "--yes"
	}
	return "terminal"
}

// confirm asks the person at the terminal; without one nothing is decided.
func (a *app) confirm(ctx context.Context, question string) error {
	if !isTerminal(a.stdin) {
		return usage("not-confirmed", "nobody is there to ask: "+question, "--yes decides without asking")
	}
	lines := a.typed()
	lines.drop() // what was typed before the question is no answer to it
	a.err.Print("%s [y/N] ", question)
	line, _, err := lines.next(ctx)
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y"):
		return nil
	}
	return usage("not-confirmed", "not allowed; nothing changed", "")
}

// planNames turns paths, or plain names, into names of the plan's hooks.
func planNames(plan *loader.Plan, paths []string) ([]string, error) {
	var names []string
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, failed("trust", err, "")
		}
		i := slices.IndexFunc(plan.Items, func(item loader.PlanItem) bool {
			return item.Hook == path || item.Path != "" && sameFile(item.Path, absolute)
		})
		if i < 0 {
			return nil, usage("no-hook", "the project has no hook "+path, hintNoHook(plan.Project, path))
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

func (a *app) openTrust() (*loader.Trust, error) {
	trust, err := loader.OpenTrust(loader.Options{Project: a.project})
	if err != nil {
		return nil, noProject(err)
	}
	return trust, nil
}

// trustFault says why a decision was not made.
func trustFault(err error) error {
	var passed *loader.PassedOverError
	switch {
	case errors.As(err, &passed):
		return usage("no-project", passed.Error(), passed.Remedy)
	case errors.Is(err, loader.ErrNoProject):
		return usage("no-project", err.Error(), "hookd init makes one")
	case errors.Is(err, loader.ErrNoSuchHook):
		return usage("trust", err.Error(), "hookd list shows the hooks")
	case errors.Is(err, loader.ErrBelow):
		return usage("below-a-hook", err.Error(), "decide in a terminal of your own")
	case errors.Is(err, loader.ErrUnexpected):
		return usage("unexpected", err.Error(), "look at what changed with hookd trust, then expect the new hash")
	}
	return usage("trust", strings.ReplaceAll(err.Error(), "\n", "; "), "")
}

func (a *app) listTrust(ctx context.Context, trust *loader.Trust) error {
	listed, err := trust.List(ctx)
	if err != nil {
		return trustFault(err)
	}
	if a.json {
		return a.printJSON(listed)
	}
	if len(listed) == 0 {
		a.out.Print("nothing was decided yet\n")
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
	table.Write(a.out)
	return nil
}

func (a *app) followTrust(ctx context.Context, trust *loader.Trust) error {
	a.err.Print("hookd: allowing changes of what was allowed in %s as they are saved; Ctrl-C ends it\n", show.Line(trust.Project()))
	err := trust.Follow(ctx, func(hook, hash string, err error) {
		if err != nil {
			a.note(hook+" is not allowed: "+err.Error(), "")
			return
		}
		a.out.Print("%s %s allowed as it is now (%s)\n", a.out.In(show.Good, "✓"), a.out.In(show.Name, show.Line(hook)), shortHash(hash))
	})
	if err != nil && ctx.Err() == nil {
		return trustFault(err)
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
