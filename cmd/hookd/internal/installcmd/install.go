package installcmd

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/program/hashed"
	"github.com/hookd-dev/hookd/loader/install"
)

func (cmd *Commands) install(ctx context.Context, f flags, names []string) error {
	chosen, err := agents(names)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := mayWrite(false); err != nil {
			return err
		}
	}
	now := time.Now()
	until, err := f.monitor.end(now)
	if err != nil {
		return err
	}
	in, err := cmd.installer(&f)
	if err != nil {
		return err
	}
	started, err := programToStart(f.warm)
	if err != nil {
		return err
	}
	runtime, err := cmd.Processes.Start(false)
	if err != nil {
		return err
	}
	scope, _ := f.scope()
	var plans []*install.Plan
	more := false
	for _, a := range chosen {
		found := in.Look(ctx, runtime, os.Environ(), a)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		plan, err := in.Plan(install.Request{Agent: a, Scope: scope, Program: started, Version: found.Version, Unknown: unknownVersion(found)})
		if err != nil {
			return fault(err)
		}
		more = cmd.showPlan(plan, versionOf(found), f.diff) || more
		plans = append(plans, plan)
	}
	cmd.showMore(more)
	if err := cmd.carryOut(ctx, in, f, plans, "install hookd there?"); err != nil || f.dryRun {
		return err
	}
	if _, err := hashed.Write(in.State, places.Program()); err != nil {
		cmd.Console.Note("which hookd was installed is not recorded, so that the messenger believes no daemon: "+err.Error(), "")
	}
	for _, a := range chosen {
		if err := cmd.setMonitor(in.State, a, now, until); err != nil {
			return err
		}
	}
	cmd.next(chosen)
	return nil
}

// unknownVersion says why the version of an agent is not known, "" if it is.
func unknownVersion(f install.Found) string {
	switch {
	case f.Version.Known():
		return ""
	case f.Program == "":
		return "its program " + f.Agent.Programs[0] + " is not on PATH"
	}
	return cmp.Or(f.Problem, "it did not say")
}

// versionOf says which version of an agent is here.
func versionOf(f install.Found) string {
	switch {
	case f.Version.Known():
		return f.Version.String()
	case f.Program == "":
		return "not found on PATH"
	case f.Problem != "":
		return f.Problem
	}
	return "version unknown"
}

// programToStart returns the program that agents start: this one, by the path that a
// person types where that leads to it, since it stays the same over updates.
func programToStart(warm bool) (string, error) {
	path := places.Program()
	if path == "" {
		return "", cli.Failed("no-program", errors.New("the system does not say where hookd is"), "")
	}
	path = stablePath(path)
	if !warm {
		return path, nil
	}
	name := "hookd-bridge"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	messenger := filepath.Join(filepath.Dir(path), name)
	if info, err := os.Stat(messenger); err != nil || !info.Mode().IsRegular() {
		return "", cli.Usage("no-messenger", "there is no "+messenger, "put hookd-bridge of the same version next to hookd, or leave --warm out")
	}
	return messenger, nil
}

// stablePath returns the link on PATH that leads to a program, else the program itself.
func stablePath(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return program
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		link := filepath.Join(dir, filepath.Base(program))
		if to, err := filepath.EvalSymlinks(link); err == nil && to == real && filepath.IsAbs(link) {
			return link
		}
	}
	return program
}

// carryOut asks, writes, and says what is left to do.
func (cmd *Commands) carryOut(ctx context.Context, in *install.Installer, f flags, plans []*install.Plan, question string) error {
	changes := false
	for _, p := range plans {
		changes = changes || p.Changes()
	}
	switch {
	case !changes:
		cmd.Console.Out.Print("nothing to change\n")
	case f.dryRun:
		cmd.Console.Out.Print("nothing was written (--dry-run)\n")
	case !f.yes:
		if err := cmd.Console.Confirm(ctx, question); err != nil {
			return err
		}
	}
	for _, p := range plans {
		if !f.dryRun {
			if err := cmd.apply(in, p); err != nil {
				return err
			}
		}
		for _, note := range p.Notes {
			cmd.Console.Note(about(p.Agent, note.Text), note.Remedy)
		}
	}
	return nil
}

// about returns a note with the name of the agent that it is about, once.
func about(a *install.Agent, note string) string {
	if first, _, _ := strings.Cut(a.Title, " "); strings.HasPrefix(note, first) {
		return note
	}
	return a.Title + ": " + note
}

// next says what a person can do after an installation.
func (cmd *Commands) next(chosen []*install.Agent) {
	names := make([]string, len(chosen))
	for i, a := range chosen {
		names[i] = a.Name
	}
	all := strings.Join(names, " ")
	cmd.Console.Out.Print("%s\n", cmd.Console.Out.In(show.Quiet, "next: hookd verify "+all+" tries it, hookd list shows the hooks that decide, hookd uninstall "+all+" takes it out again"))
}

// apply writes the files of one plan.
func (cmd *Commands) apply(in *install.Installer, p *install.Plan) error {
	out := cmd.Console.Out
	applied, err := in.Apply(p)
	for _, b := range applied.Backups {
		out.Print("  %s\n", out.In(show.Quiet, "the bytes from before are kept in "+show.Line(b.Copy)))
	}
	if err != nil {
		return fault(err)
	}
	if !p.Changes() {
		return nil
	}
	if p.Removal {
		out.Print("%s hookd is taken out of %s\n", out.In(show.Good, "✓"), show.Line(p.Agent.Title))
		return nil
	}
	out.Print("%s %s starts hookd for %s\n", out.In(show.Good, "✓"), show.Line(p.Agent.Title), strings.Join(p.Events, ", "))
	return nil
}
