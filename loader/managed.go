package loader

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/hookd-dev/hookd/schema"
)

func (p *load) managedDir() string {
	switch {
	case p.opts.Managed != nil:
		return p.opts.Managed.Dir
	case runtime.GOOS == "windows":
		return "" // who may write there stands in access lists, which are not looked at yet
	}
	return ManagedDir
}

// checkManaged makes sure that nobody but root can have written the managed
// layer: every part of it, and every folder above. A part that somebody else may
// write could be anybody's policy, so then nothing passes (section 6.2).
func (p *load) checkManaged() {
	dir := p.managedDir()
	if dir == "" {
		p.add(newFinding(CodeNoManaged, "", 0, "", "there is no machine layer on Windows: hookd does not look at access lists yet", "rely on hooks of the user and the project there"))
		return
	}
	checks := &walk{owners: func(uid int) bool { return uid == 0 }, strict: true, seen: map[string]string{}}
	if m := p.opts.Managed; m != nil {
		checks.owners = func(uid int) bool { return uid == m.Owner }
		checks.top = m.Top
	}
	p.inputs.see(dir)
	if _, err := lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return
	}
	var problem string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		_, unsafe, err := checks.follow(path)
		if len(checks.links) > 0 && problem == "" { // what it leads to is not the point
			problem = checks.links[0] + " is a symbolic link"
		}
		if problem == "" {
			problem = unsafe
		}
		if d.IsDir() {
			p.inputs.see(path)
		}
		return err
	})
	if err != nil && problem == "" {
		problem = err.Error()
	}
	if problem != "" {
		p.add(schemaUnsafe(dir, problem))
		p.refuseAll("the managed layer cannot be relied on: "+problem, managedRemedy)
	}
}

const managedRemedy = "every part, and every folder above, must belong to root, be writable by nobody else and be no symbolic link"

func schemaUnsafe(dir, problem string) schema.Finding {
	return newFinding(CodeUnsafeManaged, dir, 0, "", problem, managedRemedy)
}
