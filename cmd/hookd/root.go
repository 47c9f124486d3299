package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const rootLong = `hookd gives you deterministic control over AI agents. Programs in .acai/hooks
read each event of an agent as JSON and observe, block or change it before it
takes effect.

Begin with:  hookd init
             hookd new guard.sh --lang sh
             hookd try guard.sh`

// command is one command and the group in which the help shows it.
type command struct {
	name, group string
	new         func(*app) *cobra.Command
}

var commandGroups = []struct{ id, title string }{
	{"hooks", "Hooks:"}, {"events", "Events and agents:"}, {"more", "More:"},
}

var commands = slices.Concat([]command{
	{"init", "hooks", newInit}, {"new", "hooks", newNew}, {"examples", "hooks", newExamples}, {"try", "hooks", newTry},
	{"list", "hooks", newList}, {"check", "hooks", newCheck}, {"trust", "hooks", newTrust},
	{"untrust", "hooks", newUntrust}, {"disable", "hooks", newDisable}, {"enable", "hooks", newEnable},
	{"fire", "events", newFire}, {"get", "hooks", newGet}, {"reply", "hooks", newReply},
}, agentCommands, []command{
	{"serve", "events", newServe}, {"log", "events", newLog},
	{"schema", "more", newSchema}, {"version", "more", newVersion},
})

// commandsFor is the command that the first argument names, else all of them.
// Building twenty that are not run takes a tenth of the start of one that is.
func commandsFor(first string) []command {
	if i := indexOf(first); i >= 0 {
		return commands[i : i+1]
	}
	return commands
}

// indexOf is the place of a command, -1 if there is none of that name.
func indexOf(name string) int {
	return slices.IndexFunc(commands, func(row command) bool { return row.name == name })
}

func (row *command) build(a *app) *cobra.Command {
	c := row.new(a)
	c.GroupID = row.group
	c.Args = asUsage(c.Args)
	return c
}

// newRoot is the command line.
func newRoot(a *app, args []string) *cobra.Command {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	root := &cobra.Command{
		Use:           "hookd",
		Short:         "deterministic control over AI agents, by programs that answer their events",
		Long:          rootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.stdin)
	root.SetOut(a.out.W)
	root.SetErr(a.err.W)
	root.PersistentFlags().VarP(named{&a.project}, "project", "", "project folder `DIR` (default: found from the working directory upwards)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if word := commandWord(args); c == root && word != "" {
			return unknownCommand(root, word) // whose flags these are meant to be
		}
		if c == root && slices.Contains(args, "--version") {
			return usage("usage", err.Error(), "did you mean hookd version?")
		}
		return usage("usage", err.Error(), "see "+c.CommandPath()+" --help")
	})
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	for _, row := range commandsFor(first) {
		root.AddCommand(row.build(a))
	}
	// Nothing of it is seen beside a command that was named, and its texts cost a
	// twentieth of the pages that the start of that command touches.
	root.CompletionOptions.DisableDefaultCmd = indexOf(first) >= 0
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.SetArgs(args)
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(c, args[0])
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	wrapHelp(root)
	return root
}

func unknownCommand(root *cobra.Command, word string) error {
	hint := "see hookd --help"
	if near := root.SuggestionsFor(word); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage("usage", "unknown command "+word, hint)
}

// commandWord is the first argument that is no flag and no flag's value, if it is not
// the name of a command.
func commandWord(args []string) string {
	for i := 0; i < len(args); i++ {
		switch word := args[i]; {
		case word == "--project":
			i++
		case word == "--":
			return ""
		case !strings.HasPrefix(word, "-"):
			if indexOf(word) >= 0 || word == "help" || word == "completion" {
				return ""
			}
			return word
		}
	}
	return ""
}

// asUsage makes wrong arguments a usage fault.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			message, hint := err.Error(), "see "+c.CommandPath()+" --help"
			switch _, names, _ := strings.Cut(c.Use, " "); {
			case c.HasSubCommands() || names == "" && len(args) == 0:
			case names == "":
				message = c.CommandPath() + " takes no argument, not " + args[0]
				if c.Flags().Changed("socket") {
					hint = "write --socket=" + args[0]
				}
			case strings.Contains(names, "..."), strings.Contains(names, "…"):
				message = c.CommandPath() + " takes one argument or more: " + names
			case strings.HasSuffix(names, "]") && !strings.Contains(names, "--"):
				message = c.CommandPath() + " takes " + names + "; a text of several words is one argument in quotes"
			default:
				message = c.CommandPath() + " takes one argument: " + strings.Fields(names)[0]
			}
			return usage("usage", message, hint)
		}
		return nil
	}
}

// jsonFlag adds --json to a command that has output for programs.
func (a *app) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.json, "json", false, "output for programs, errors too")
}
