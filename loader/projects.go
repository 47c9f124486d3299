package loader

import (
	"path/filepath"
	"sync"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
)

// Projects finds the projects of working directories. It remembers them as long as nothing
// that decides it has changed, for a process that is asked for every event of an agent.
type Projects struct {
	mu    sync.Mutex
	found map[string]foundProject
}

type foundProject struct {
	root    string
	grounds workspace.Grounds
}

// mostRemembered bounds what a client that invents folders can make us keep.
const mostRemembered = 1000

// Of returns the project of a working directory, "" outside of any, as [OpenTrust] finds it.
func (p *Projects) Of(cwd string) (root string, err error) {
	p.mu.Lock()
	known, ok := p.found[cwd]
	p.mu.Unlock()
	if ok && !known.grounds.Changed() {
		return known.root, nil
	}
	grounds, sure := groundsOf(cwd)
	trust, err := OpenTrust(Options{Cwd: cwd})
	if err != nil {
		return "", err
	}
	root = trust.Project()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.found, cwd)
	if sure {
		if p.found == nil || len(p.found) >= mostRemembered {
			p.found = map[string]foundProject{}
		}
		p.found[cwd] = foundProject{root, grounds}
	}
	return root, nil
}

// groundsOf notes what the search from a working directory goes by.
func groundsOf(cwd string) (workspace.Grounds, bool) {
	home, refused := workspace.UserHome()
	state, err := executor.StateDir()
	if err != nil || refused != nil || home == "" {
		return workspace.Grounds{}, false
	}
	lookedAt := []string{filepath.Join(state, "trust")}
	for _, folder := range []string{filepath.Join(home, workspace.FolderName), (&Options{}).managedDir()} {
		for _, name := range settings.Names {
			lookedAt = append(lookedAt, filepath.Join(folder, name))
		}
	}
	return workspace.GroundsOf(cwd, home, state, lookedAt)
}
