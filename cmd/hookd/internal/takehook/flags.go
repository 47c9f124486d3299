package takehook

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/examples"
)

// Help is what the help of hookd new says about hooks to take.
const Help = `--list shows hooks that are ready to be taken, by what they are for, and --list NAME all
about one: guards against dangerous commands, for secrets, paths and pushes, tests before
the agent stops, formatting, a log, and more. --from NAME writes such a hook and its tests
into .acai/hooks, or with --user into your own folder, where it counts in every project.
A file that is there already is never replaced. hookd trust and hookd test come next.`

// AddTo adds the flags of taking hooks to hookd new. Without them the command wants the
// arguments that args checks, and does what write does.
func (cmd *Taker) AddTo(c *cobra.Command, args cobra.PositionalArgs, write func(*cobra.Command, []string) error) {
	var from []string
	var list bool
	var o Options
	c.Flags().StringSliceVar(&from, "from", nil, "take the hook `NAME` that is ready, and its tests; may be repeated, and more names may follow")
	c.Flags().BoolVar(&list, "list", false, "show the hooks that are ready to be taken; with names all about these")
	c.Flags().BoolVar(&o.User, "user", false, "with --from: into your own hooks folder, which counts in every project")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "with --from: say what would be written, and write nothing")
	cmd.Console.JSONFlag(c)
	_ = c.RegisterFlagCompletionFunc("from", completeNames)
	cli.Exclusive(c, "from", "list")
	c.Args = func(c *cobra.Command, names []string) error {
		if list || len(from) > 0 {
			return nil
		}
		return args(c, names)
	}
	c.RunE = func(c *cobra.Command, names []string) error {
		taking := list || len(from) > 0
		for _, flag := range []string{"user", "dry-run"} {
			if c.Flags().Changed(flag) && len(from) == 0 {
				return cli.Usage("usage", "--"+flag+" goes with --from", "hookd new --list shows the hooks that --from takes")
			}
		}
		switch {
		case cmd.Console.JSON && !list:
			return cli.Usage("usage", "--json goes with --list", "hookd new --list --json")
		case taking && ofTemplates(c) != "":
			return cli.Usage("usage", "--"+ofTemplates(c)+" is for a hook from a template", "leave it out")
		case list:
			return cmd.List(names)
		case taking:
			return cmd.Take(append(from, names...), o)
		}
		return write(c, names)
	}
}

// ofTemplates returns a flag that was given and is about hooks from templates, "" without.
func ofTemplates(c *cobra.Command) string {
	for _, flag := range []string{"lang", "event", "can"} {
		if c.Flags().Changed(flag) {
			return flag
		}
	}
	return ""
}

func completeNames(_ *cobra.Command, _ []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	for _, h := range examples.Hooks() {
		if strings.HasPrefix(h.Name, typed) {
			names = append(names, h.Name+"\t"+h.Why)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
