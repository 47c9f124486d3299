package workspace

import (
	"fmt"
	"path/filepath"

	"github.com/hookd-dev/hookd/loader/internal/files"
)

// CheckStateFolder makes sure that the state folder lies in no project or checkout, that
// of the working directory or another: it could bring trust along, of any project.
func (p *Workspace) CheckStateFolder(state, userHome string) error {
	grounds := append([]string{p.Project, p.Root}, p.Outer...)
	home := files.RealPath(userHome)
	for _, from := range []string{files.RealPath(p.Root), files.RealPath(state)} {
		for dir := from; dir != home && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			if _, err := files.Lstat(filepath.Join(dir, FolderName)); err == nil || isCheckout(dir) {
				grounds = append(grounds, dir)
			}
		}
	}
	for _, ground := range grounds {
		if ground == "" || ground == p.Root && p.Project == "" && !isCheckout(ground) {
			continue
		}
		if err := StateOutside(ground, state); err != nil {
			return err
		}
	}
	return nil
}

// StateOutside makes sure that the state folder does not lie inside the project: a
// project must not bring along its own trust.
func StateOutside(project, state string) error {
	real := state
	for {
		resolved, err := filepath.EvalSymlinks(real)
		if err == nil {
			real = resolved
			break
		}
		if parent := filepath.Dir(real); parent != real {
			real = parent
			continue
		}
		break
	}
	if files.Within(project, real) || files.Within(project, filepath.Clean(state)) {
		return fmt.Errorf("the state folder %s lies inside the project %s", state, project)
	}
	return nil
}
