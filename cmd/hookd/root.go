package main

import (
	"strings"

	"github.com/spf13/cobra"
)

const rootLong = `hookd gives you deterministic control over AI agents. Programs in .acai/hooks
read each event of an agent as JSON and observe, block or change it before it
takes effect.

Begin with:  hookd init
             hookd new guard.sh --lang sh
             hookd try guard.sh`

func newRoot(a *app) *cobra.Command {
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
		return usage("usage", err.Error(), "see "+c.CommandPath()+" --help")
	})
	groups := []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"hooks", "Hooks:", []*cobra.Command{
			newInit(a), newNew(a), newTry(a), newList(a), newCheck(a),
			newTrust(a), newUntrust(a), newDisable(a), newEnable(a),
		}},
		{"events", "Events and agents:", append([]*cobra.Command{newFire(a)}, append(agentCommands(a), newServe(a), newLog(a))...)},
		{"more", "More:", []*cobra.Command{newSchema(a), newVersion(a)}},
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			c.Args = asUsage(c.Args)
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := "see hookd --help"
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return usage("usage", "unknown command "+args[0], hint)
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return root
}

// asUsage makes wrong arguments a usage fault.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			message := err.Error()
			if words := strings.Fields(c.Use); len(words) > 1 && words[1][0] != '[' {
				message = c.CommandPath() + " takes one argument: " + words[1]
			}
			return usage("usage", message, "see "+c.CommandPath()+" --help")
		}
		return nil
	}
}

// jsonFlag adds --json to a command that has output for programs.
func (a *app) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.json, "json", false, "output for programs, errors too")
}
