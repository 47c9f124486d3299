package environment

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
)

// checkouts knows which folders lie in a project or checkout.
type checkouts struct {
	home  string
	known map[string]bool // folders, whether they hold a project or a checkout
}

// systemFolders hold programs, and may lie in a checkout themselves: Homebrew's does.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/opt", "/nix", "/snap", "/home/linuxbrew", "/Library", "/System", "/Applications"}

// of is the nearest folder above a path that holds a project or a checkout,
// "" if there is none below home. Hidden folders of home are where version managers
// keep programs (~/.nvm is a checkout of its own), and count as none.
func (c *checkouts) of(dir string) string {
	if slices.ContainsFunc(systemFolders, func(top string) bool { return files.Within(top, dir) }) {
		return ""
	}
	home := files.RealPath(c.home)
	for ; filepath.Dir(dir) != dir && dir != home; dir = filepath.Dir(dir) {
		if filepath.Dir(dir) == home && strings.HasPrefix(filepath.Base(dir), ".") {
			return ""
		}
		if c.isProjectOrCheckout(dir) {
			return dir
		}
	}
	return ""
}

func (c *checkouts) isProjectOrCheckout(dir string) bool {
	known, ok := c.known[dir]
	if !ok {
		for _, mark := range []string{workspace.GitName, workspace.FolderName} {
			if _, err := files.Lstat(filepath.Join(dir, mark)); err == nil {
				known = true
			}
		}
		c.known[dir] = known
	}
	return known
}

// outside says which folders of the caller's PATH hooks of project and
// user may find programs in: what lies in some project is that project's.
func (c *checkouts) outside(folder string) bool {
	if c.of(filepath.Clean(folder)) != "" {
		return false
	}
	real, err := filepath.EvalSymlinks(folder)
	return err != nil || real == folder || c.of(real) == ""
}
