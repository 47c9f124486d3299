package loader

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/loader/internal/files"
)

// madeOf lists what a process of the hook is made of when it starts, beside its
// program: what starts that, the files it brings along where they are used, and
// those that its command line names. The last are nobody's to hash where a person
// owns the settings, and a program that runs once reads them anew each time.
func (p *load) madeOf(f *found, c *exechook.Config) []string {
	var list []string
	add := func(path string) {
		if path != c.Path && !slices.Contains(list, path) && files.IsRegular(path) {
			list = append(list, path)
		}
	}
	add(c.Script)
	if program, bad := readProgram(firstBytes(c.Path)); bad == nil {
		if starter, bad := program.interpreter(p.searchPath(f.scope)); bad == nil {
			add(starter)
		}
	}
	if f.bundle != nil {
		for _, m := range f.bundle.Members {
			if f.folder == "" {
				add(filepath.Join(f.bundle.base, filepath.FromSlash(m.Name)))
			} else {
				add(filepath.Join(f.folder, filepath.FromSlash(m.Name)))
			}
		}
	}
	for _, arg := range c.Args {
		if _, path := optionPath(arg); filepath.IsAbs(path) {
			add(path)
		} else if path != "" {
			add(filepath.Join(c.Dir, path))
		}
	}
	return list
}

// firstBytes are enough of a file to tell what starts it.
func firstBytes(path string) []byte {
	f, _, err := files.OpenRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, maxInterpreterLine+1))
	return head
}
