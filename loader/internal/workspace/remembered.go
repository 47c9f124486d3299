package workspace

import (
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/files"
)

// Grounds are what the search from a working directory, from home and from the state
// folder went by: while they have not changed it would find the same.
type Grounds struct {
	inputs  files.Inputs
	folders map[string]owner
}

// owner is what the search asks of a folder; what lies in it does not count.
type owner struct {
	mode fs.FileMode
	uid  int
	ino  uint64
}

func ownerOf(dir string) owner {
	st, err := files.Lstat(dir)
	if err != nil {
		return owner{}
	}
	return owner{st.Mode, st.UID, st.Ino}
}

// GroundsOf notes what counts for the search from a working directory, before it begins.
// Home and the state folder lie where they lay when this process began. lookedAt are
// further files and folders that a search reads. ok is false where it reads more than can
// be noted here: links on the way to the working directory, and those between the
// worktrees of a repository.
func GroundsOf(cwd, home, state string, lookedAt []string) (g Grounds, ok bool) {
	if files.RealPath(cwd) != cwd {
		return Grounds{}, false
	}
	g = Grounds{inputs: files.Inputs{}, folders: map[string]owner{}}
	for _, place := range []string{cwd, files.RealPath(home), files.RealPath(state)} {
		for dir := place; ; dir = filepath.Dir(dir) {
			if _, seen := g.folders[dir]; seen {
				break
			}
			g.folders[dir] = ownerOf(dir)
			g.inputs.See(filepath.Join(dir, FolderName))
			git := filepath.Join(dir, GitName)
			g.inputs.See(git)
			if st := g.inputs[git]; st != (files.Info{}) && !st.Mode.IsDir() {
				return Grounds{}, false
			}
			if filepath.Dir(dir) == dir {
				break
			}
		}
	}
	for _, path := range lookedAt {
		g.inputs.See(path)
	}
	return g, g.inputs.Stable(time.Now())
}

// Changed reports whether a search might find something else now.
func (g *Grounds) Changed() bool {
	for dir, was := range g.folders {
		if ownerOf(dir) != was {
			return true
		}
	}
	return g.inputs.Changed()
}
