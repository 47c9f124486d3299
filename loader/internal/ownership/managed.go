package ownership

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

// CheckManaged makes sure that nobody but root can have written the managed
// layer: every part of it, and every folder above. A part that somebody else may
// write could be anybody's policy, so then every gate is refused.
func CheckManaged(r *report.Report, dir string, layer *ManagedLayer) {
	if dir == "" {
		r.Add(report.New(report.NoManaged, "", 0, "", "there is no machine layer on Windows: hookd does not look at access lists yet", "rely on hooks of the user and the project there"))
		return
	}
	checks := &Walk{Owners: func(uid int) bool { return uid == 0 }, Strict: true, Seen: map[string]string{}}
	if m := layer; m != nil {
		checks.Owners = func(uid int) bool { return uid == m.Owner }
		checks.Top = m.Top
	}
	r.Inputs.See(dir)
	if _, err := files.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return
	}
	var problem string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		_, unsafe, err := checks.Follow(path)
		if len(checks.Links) > 0 && problem == "" { // what it leads to is not the point
			problem = checks.Links[0] + " is a symbolic link"
		}
		if problem == "" {
			problem = unsafe
		}
		if d.IsDir() {
			r.Inputs.See(path)
		}
		return err
	})
	if err != nil && problem == "" {
		problem = err.Error()
	}
	if problem != "" {
		r.Add(unsafeManaged(dir, problem))
		r.RefuseAll("the managed layer cannot be relied on: "+problem, managedRemedy)
	}
}

const managedRemedy = "every part, and every folder above, must belong to root, be writable by nobody else and be no symbolic link"

func unsafeManaged(dir, problem string) schema.Finding {
	return report.New(report.UnsafeManaged, dir, 0, "", problem, managedRemedy)
}

// ManagedLayer is a managed layer for tests.
type ManagedLayer struct {
	Dir   string // in place of the fixed folder
	Owner int    // who must own each part, in place of root
	Top   string // the folder above Dir at which the check of owners ends
}
