package sessionscmd

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/text"
)

func (cmd *Commands) remove() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rm ID…",
		Short: "Remove sessions, and what hooks remember of them",
		Long: `Remove sessions, and what hooks remember of them (their state and metadata).
Records stay: they are evidence, and have limits of their own (hooks.records).
A session that a process has open is not removed.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := places.StateDir()
			if err != nil {
				return err
			}
			var ids []string
			for _, prefix := range args {
				id, err := Find(places.Conversations(dir), prefix)
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			if !yes {
				for _, id := range ids {
					cmd.showRemoved(places.Conversations(dir), id)
				}
				if err := cmd.Console.Confirm(c.Context(), "remove "+text.Count(len(ids), "session")+"?"); err != nil {
					return err
				}
			}
			for _, id := range ids {
				if err := removeSession(dir, id); err != nil {
					return err
				}
				if !cmd.Console.JSON {
					cmd.Console.Out.Print("%s %s\n", cmd.Console.Out.In(show.Good, "removed"), id)
				}
			}
			return nil
		},
		ValidArgsFunction: Complete,
	}
	c.Flags().BoolVar(&yes, "yes", false, "remove without asking")
	cmd.Console.JSONFlag(c)
	return c
}

// showRemoved prints the session that the person is asked about.
func (cmd *Commands) showRemoved(folder, id string) {
	prompt := "cannot be read"
	if transcript, err := store.Read(folder, id); err == nil {
		prompt = "without a prompt"
		if first := transcript.First(); first != "" {
			prompt = show.Line(show.Shorten(show.FirstLine(first), 80))
		}
	}
	cmd.Console.Err.Print("  %s  %s\n", cmd.Console.Err.In(show.Name, id), prompt)
}

// removeSession removes the conversation first and then what its hooks remember, so that
// a crash between the two leaves no session whose hooks have forgotten it.
func removeSession(stateDir, id string) error {
	if err := store.Remove(places.Conversations(stateDir), id); err != nil {
		return Fault(err)
	}
	if err := state.Remove(filepath.Join(stateDir, "sessions"), id); err != nil {
		return cli.Failed("session", err, "")
	}
	return nil
}

// Complete offers the IDs of sessions to the shell.
func Complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	dir, err := places.StateDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ids, err := store.IDs(places.Conversations(dir))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
