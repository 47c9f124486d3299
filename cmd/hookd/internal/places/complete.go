package places

import (
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// CompleteEvents offers the names of events to the shell.
func CompleteEvents(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := make([]string, len(protocol.Table))
	for i := range protocol.Table {
		names[i] = string(protocol.Table[i].Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteHooks offers the names of hooks to the shell, and files. It runs no hook.
func (p *Project) CompleteHooks(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	snapshot, err := loader.Load(c.Context(), loader.Options{Project: p.Folder})
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, h := range snapshot.Set.Hooks {
		if show.Line(h.Name) == h.Name {
			names = append(names, h.Name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
