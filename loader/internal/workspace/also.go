package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/hookd-dev/hookd/loader/internal/files"
)

// Also adds to a workspace the projects that rule another folder, as [Search.From] finds
// them, of which a person allowed something. Where the workspace has no project it becomes
// that of the folder. A folder that is not there stands for the one it would lie in.
func (s *Search) Also(p *Workspace, folder string) error {
	other, err := s.From(NearestThere(folder))
	if err != nil {
		return err
	}
	if p.Project == "" {
		root := p.Root
		ignored := p.Ignored
		*p = other
		if p.Root == "" {
			p.Root = root
		}
		p.ignore(ignored)
		return nil
	}
	projects := other.Outer
	if other.Project != "" && (s.Recorded(other.Project) || s.inMain(other.Project)) {
		projects = append([]string{other.Project}, projects...)
	}
	for _, project := range projects {
		if project != p.Project && !slices.Contains(p.Outer, project) {
			p.Outer = append(p.Outer, project)
		}
	}
	p.ignore(other.Ignored)
	return nil
}

// ignore adds folders that do not count.
func (p *Workspace) ignore(folders []IgnoredFolder) {
	for _, o := range folders {
		if !slices.Contains(p.Ignored, o) {
			p.Ignored = append(p.Ignored, o)
		}
	}
}

// NearestThere returns a folder, or the nearest one above it that is there.
func NearestThere(folder string) string {
	for dir := filepath.Clean(folder); ; dir = filepath.Dir(dir) {
		st, err := files.Stat(dir)
		switch {
		case err == nil && st.Mode.IsDir() || filepath.Dir(dir) == dir:
			return dir
		case err != nil && !isMissing(err):
			return dir // who searches from it says what is wrong
		}
	}
}

// isMissing reports whether an error says that nothing can be at a path.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) ||
		errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EINVAL)
}
