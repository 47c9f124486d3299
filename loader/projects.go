package loader

import (
	"path/filepath"
	"slices"
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
	root     string
	recorded bool // a person allowed something of it
	grounds  workspace.Grounds
}

// mostRemembered bounds what a client that invents folders can make us keep.
const mostRemembered = 1000

// Of returns the project of a working directory, "" outside of any, as [OpenTrust] finds it.
func (p *Projects) Of(cwd string) (root string, err error) {
	found, err := p.of(cwd)
	return found.root, err
}

// Among returns the projects of several folders: the first one's, "" if none of them lies
// in a project, and the others of which a person allowed something. [Options.Project] and
// Also are about them.
func (p *Projects) Among(folders []string) (project string, also []string, err error) {
	for i, folder := range folders {
		if i > 0 {
			folder = workspace.NearestThere(folder)
		}
		found, err := p.of(folder)
		switch {
		case err != nil:
			return "", nil, err
		case found.root == "" || found.root == project || slices.Contains(also, found.root):
		case project == "":
			project = found.root
		case found.recorded:
			also = append(also, found.root)
		}
	}
	return project, also, nil
}

func (p *Projects) of(cwd string) (foundProject, error) {
	p.mu.Lock()
	known, ok := p.found[cwd]
	p.mu.Unlock()
	if ok && !known.grounds.Changed() {
		return known, nil
	}
	grounds, sure := groundsOf(cwd)
	trust, err := OpenTrust(Options{Cwd: cwd})
	if err != nil {
		return foundProject{}, err
	}
	found := foundProject{root: trust.Project(), grounds: grounds}
	found.recorded = found.root != "" && trust.loader.recorded(found.root)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.found, cwd)
	if sure {
		if p.found == nil || len(p.found) >= mostRemembered {
			p.found = map[string]foundProject{}
		}
		p.found[cwd] = found
	}
	return found, nil
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
