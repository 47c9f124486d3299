package hookcmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// List returns hookd list.
func (cmd *Commands) List() *cobra.Command {
	var event string
	var withBuiltin bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the hooks in the order in which they run, and those that cannot run",
		Long: `List the hooks in the order in which they run, and those that cannot run.
With --builtin the hooks of the features that hookd run comes with are among
them, as the settings switch them; elsewhere they are not asked.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			snapshot, err := cmd.Opener.Look(c.Context())
			if err != nil {
				return err
			}
			cmd.Opener.NoteNoProject(snapshot.Project)
			var hooks []protocol.GoHook
			if cmd.Builtin != nil {
				if hooks, err = cmd.Builtin(snapshot); err != nil {
					return err
				}
			} else if withBuiltin {
				return cli.NoAgent("list --builtin")
			}
			described := engine.Describe(snapshot)
			if withBuiltin {
				if described, err = describeWith(snapshot, hooks); err != nil {
					return err
				}
			}
			listing := fullListing{described, append([]loader.Resource{}, snapshot.Resources...)}
			if event != "" {
				name, err := cli.EventName(event)
				if err != nil {
					return err
				}
				listing.Hooks = slices.DeleteFunc(listing.Hooks, func(h daemon.Listed) bool { return !slices.Contains(h.Events, name) })
			}
			if cmd.Console.JSON {
				return cmd.Console.PrintJSON(listing)
			}
			report.Listing(cmd.Console.Out, listing.Listing)
			if len(snapshot.Hooks) == 0 && snapshot.Project != "" {
				cmd.noteImportables(snapshot.Project)
			}
			cmd.noteMonitors()
			if event == "" {
				report.Resources(cmd.Console.Out, listing.Resources)
				if !withBuiltin {
					showBuiltinNames(cmd.Console.Out, hooks)
				}
			}
			return nil
		},
	}
	cli.NameFlag(c.Flags(), &event, "event", "", "list only the hooks of the event `E`, by its name or an alias")
	c.Flags().BoolVar(&withBuiltin, "builtin", false, "list also the hooks of the built-in features of hookd run")
	_ = c.RegisterFlagCompletionFunc("event", places.CompleteEvents)
	cmd.Console.JSONFlag(c)
	return c
}

// fullListing is what hookd list --json prints: the hooks, and the skills, recipes and
// servers for the agent loop.
type fullListing struct {
	daemon.Listing
	Resources []loader.Resource `json:"materials"`
}
