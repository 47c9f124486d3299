package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
)

const rootLong = `hookd gives people deterministic control over AI agents. Programs in .acai/hooks
read each event of an agent as JSON and observe, block or change it before it
takes effect.

Begin with:  hookd init
             hookd new guard.sh --lang sh
             hookd try guard.sh`

var commandGroups = []struct{ id, title string }{
	{"write", "Write hooks:"}, {"allow", "See and allow them:"}, {"agents", "Under other agents:"},
	{"ask", "Ask them:"}, {"inside", "Inside a hook:"}, {"more", "More:"},
}

// The order of commands says where to begin; that of the alphabet does not.
func init() { cobra.EnableCommandSorting = false }

// newRoot returns the command line. Where the first argument names a command it has only that
// one: to make them all takes as long as reading the settings.
func newRoot(p *parts, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "hookd",
		Short:         "Deterministic control over AI agents, by programs that answer their events",
		Long:          rootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(p.console.In)
	root.SetOut(p.console.Out.W)
	root.SetErr(p.console.Err.W)
	cli.NameFlag(root.PersistentFlags(), &p.project.Folder, "project", "", "project folder `DIR` (default: found from the working directory upwards)")
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	names := addCommands(root, commands(p), args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if word := commandWord(args, names); c == root && word != "" {
			return unknownCommand(root, word) // whose flags these are meant to be
		}
		if c == root && slices.Contains(args, "--version") {
			return cli.Usage("usage", err.Error(), "did you mean hookd version?")
		}
		return cli.Usage("usage", err.Error(), "see "+c.CommandPath()+" --help")
	})
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.SetArgs(args)
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(c, args[0])
	}
	root.RunE = func(*cobra.Command, []string) error {
		p.console.Out.Raw(firstScreen(p.console.Out))
		return nil
	}
	fitHelp(root, p.console.Out.Width)
	return root
}

// addCommands adds the commands that arguments may be about, and returns the names of all.
func addCommands(root *cobra.Command, all []command, args []string) []string {
	names := []string{"help", "completion"}
	for _, c := range all {
		names = append(names, c.name)
	}
	named := len(args) > 0 && slices.ContainsFunc(all, func(c command) bool { return c.name == args[0] })
	root.CompletionOptions.DisableDefaultCmd = named
	for _, c := range all {
		if named && c.name != args[0] {
			continue
		}
		made := c.make()
		made.GroupID, made.Args = c.group, cli.AsUsage(made.Args)
		root.AddCommand(made)
	}
	return names
}

func unknownCommand(root *cobra.Command, word string) error {
	hint := "see hookd --help"
	if near := root.SuggestionsFor(word); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return cli.Usage("usage", "unknown command "+word, hint)
}

// commandWord returns the first argument that is no flag and no flag's value, unless it is
// the name of a command.
func commandWord(args, names []string) string {
	for i := 0; i < len(args); i++ {
		switch word := args[i]; {
		case word == "--project":
			i++
		case word == "--":
			return ""
		case !strings.HasPrefix(word, "-"):
			if slices.Contains(names, word) {
				return ""
			}
			return word
		}
	}
	return ""
}
