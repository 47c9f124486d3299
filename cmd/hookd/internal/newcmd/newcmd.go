package newcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/takehook"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// Commands are hookd new.
type Commands struct {
	Console *cli.Console
	Project *places.Project
}

// wanted is what a person says of the new hook.
type wanted struct{ name, lang, event, can string }

// New returns hookd new.
func (cmd *Commands) New() *cobra.Command {
	var w wanted
	taking := takehook.Taker{Console: cmd.Console, Project: cmd.Project}
	languages := strings.Join(languageNames(), ", ")
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a hook from a template, or take one that is ready",
		Long: `Write a hook from a template to .acai/hooks, and tests beside it, which pass as they
are written. The hook states its rules in a comment header; the lines to change come
first.

--event says what the hook is asked about, --can what it may do there: observe, block
or modify. Without them it is a guard of shell commands.

A Go hook is compiled: its source goes to .acai/hooks-src/NAME, its rules to a
side file in .acai/hooks, and the line that builds it is printed.

` + takehook.Help,
		Example: `  hookd new guard.sh
  hookd new redact.py --event tool-call-end --can modify
  hookd new done.ts --event agent-stop`,
	}
	taking.AddTo(c, cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error {
		w.name = args[0]
		return cmd.newHook(w)
	})
	cli.NameFlag(c.Flags(), &w.lang, "lang", "", "language `L` of the hook: "+languages+" (default: by the ending of NAME, else sh)")
	cli.NameFlag(c.Flags(), &w.event, "event", "", "the `EVENT` that it is asked about, by any name (default tool-call-start)")
	cli.NameFlag(c.Flags(), &w.can, "can", "", "`WHAT` it may do: observe, block or modify (default: block where that can be, else modify, else observe)")
	_ = c.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(languageNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("event", places.CompleteEvents)
	_ = c.RegisterFlagCompletionFunc("can", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		event, err := pickEvent(w.event)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return classesAt(event), cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

// pickEvent returns the event that a person named, by any of its names.
func pickEvent(name string) (*protocol.Spec, error) {
	if name == "" {
		return protocol.Lookup(protocol.ToolCallStart), nil
	}
	event, err := cli.EventName(name)
	return protocol.Lookup(event), err
}

func (cmd *Commands) newHook(w wanted) error {
	if w.name != filepath.Base(w.name) || strings.HasPrefix(w.name, ".") || strings.ContainsAny(w.name, `/\`) || show.Line(w.name) != w.name {
		return cli.Usage("usage", "a hook's name is a plain file name, not "+w.name, "hookd new guard.sh --lang sh")
	}
	l, err := pickLanguage(w.name, w.lang)
	if err != nil {
		return err
	}
	spec, err := pickEvent(w.event)
	if err != nil {
		return err
	}
	can, err := pickClass(spec, w.can)
	if err != nil {
		return err
	}
	root, err := cmd.Project.WriteFolder()
	if err != nil {
		return err
	}
	hooks := filepath.Join(root, ".acai", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		return cli.Failed("new", err, "")
	}
	p := newPage(spec, can)
	p.Name, p.Base, p.Module = w.name, w.name, strings.HasSuffix(w.name, ".mjs")
	if l.compiled {
		return cmd.writeCompiled(root, hooks, l, p)
	}
	path := filepath.Join(hooks, w.name)
	text, err := cmd.write(path, l.name, 0o755, p)
	if err != nil {
		return err
	}
	cmd.Console.Out.Print("it %s\n", show.Line(p.Does))
	if err := cmd.writeTests(path, p); err != nil {
		return err
	}
	if err := cmd.Project.InForce(); err != nil {
		return err
	}
	recorded := cmd.recordWritten(root, w.name, text)
	switch {
	case !l.here():
		cmd.missing(l)
	case recorded:
		cmd.Console.Out.Print("it runs as it is; after you edited it: hookd trust\n")
		return nil
	}
	cmd.Console.Out.Print("let it run in this project: hookd trust\n")
	return nil
}

// missing says what the hook needs and this machine does not have.
func (cmd *Commands) missing(l *language) {
	cmd.Console.Out.Print("%s %s is not on the PATH of this machine: the hook fails until it is, and so do its tests\n", cmd.Console.Out.In(show.Warn, "!"), l.needs)
}

// recordWritten records the hook that hookd has just written for a person as allowed. It
// reports false if that cannot be done: below an agent, in the home folder, or if settings
// that nobody allowed may concern the hook.
func (cmd *Commands) recordWritten(root, name, text string) bool {
	trust, err := loader.OpenTrust(loader.Options{Project: root})
	if err != nil {
		return false
	}
	trust.How = "new"
	return trust.AllowWritten(context.Background(), name, text) == nil
}

// writeCompiled writes the source of a hook that is built, and its rules.
func (cmd *Commands) writeCompiled(root, hooks string, l *language, p *page) error {
	p.Base = strings.TrimSuffix(p.Name, l.endings[0])
	// By file and not by package, so that it works inside and outside a module.
	p.Build = "go build -o .acai/hooks/" + p.Base + " .acai/hooks-src/" + p.Base + "/main.go"
	folder := filepath.Join(root, ".acai", "hooks-src", p.Base)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return cli.Failed("new", err, "")
	}
	if _, err := cmd.write(filepath.Join(folder, "main.go"), l.name, 0o644, p); err != nil {
		return err
	}
	if _, err := cmd.write(filepath.Join(hooks, p.Base+".hook.yaml"), "side.yaml", 0o644, p); err != nil {
		return err
	}
	cmd.Console.Out.Print("it %s\n", show.Line(p.Does))
	if !l.here() {
		cmd.Console.Out.Print("%s %s is not on the PATH of this machine, and builds it\n", cmd.Console.Out.In(show.Warn, "!"), l.needs)
	}
	cmd.Console.Out.Raw("build it:                   " + p.Build + "\n")
	if err := cmd.writeTests(filepath.Join(hooks, p.Base), p); err != nil {
		return err
	}
	cmd.Console.Out.Print("let it run in this project: hookd trust\n")
	return cmd.Project.InForce()
}

// writeTests writes the tests of a new hook beside it. Tests that are there already stay.
func (cmd *Commands) writeTests(hook string, p *page) error {
	text, err := fill("tests.yaml", p)
	if err != nil {
		return err
	}
	if err := places.CreateFile(hook+testfile.Suffixes[0], text, 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
		return cli.Failed("new", err, "")
	}
	cmd.Console.Out.Print("try it on a sample event:   hookd try %s\n", p.Base)
	cmd.Console.Out.Print("run the tests beside it:    hookd test %s\n", p.Base)
	return nil
}

// write writes a file from a template and returns its text.
func (cmd *Commands) write(path, name string, mode fs.FileMode, p *page) (string, error) {
	text, err := fill(name, p)
	if err != nil {
		return "", fmt.Errorf("the template %s: %w", name, err)
	}
	if err := places.CreateFile(path, text, mode); errors.Is(err, fs.ErrExist) {
		return "", cli.Usage("exists", path+" is there already", "take another name, or edit it")
	} else if err != nil {
		return "", cli.Failed("new", err, "")
	}
	cmd.Console.Out.Print("wrote %s\n", cmd.Console.Out.In(show.Name, show.Line(path)))
	return text, nil
}
