package hookcmd

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// describeWith lists the hooks of a snapshot and others that join them in a run,
// in one running order. Each has the layer that it ranks as, which is what the
// record and hookd run --json say of it, too: the approval memory speaks for the
// person. The layer column also says that it is built in.
func describeWith(s *loader.Snapshot, hooks []protocol.GoHook) (daemon.Listing, error) {
	joined, err := executor.Join(s.Set, hooks...)
	if err != nil {
		return daemon.Listing{}, cli.Failed("builtin", err, "")
	}
	set := joined.Current()
	listing := daemon.Describe(set, s.Findings)
	for i, h := range set.Hooks {
		own := slices.IndexFunc(s.Set.Hooks, func(o *executor.Hook) bool { // a set copies its hooks
			return o.Layer == h.Layer && o.Name == h.Name && o.Path == h.Path && o.Hash == h.Hash
		})
		if own >= 0 {
			listing.Hooks[i].DescribedBy = string(s.Hooks[own].DescribedBy)
		} else {
			listing.Hooks[i].DescribedBy = string(protocol.Builtin)
		}
	}
	return listing, nil
}

// showBuiltinNames says which built-in hooks a run has besides those listed.
func showBuiltinNames(p *show.Printer, hooks []protocol.GoHook) {
	var names []string
	for i := range hooks {
		names = append(names, hooks[i].Name)
	}
	if len(names) > 0 {
		p.Print("%s\n", p.In(show.Quiet, "hookd run adds "+strings.Join(names, ", ")+"; hookd list --builtin shows them in their places"))
	}
}
