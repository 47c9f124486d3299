package loader

import (
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
)

// madeOf lists what a process of the hook is made of when it starts, beside its
// program: what starts that, the files it brings along where they are used, and
// those that its command line names. The last are nobody's to hash where a person
// owns the settings, and a program that runs once reads them anew each time.
func (p *assembly) madeOf(f *hook, c *exechook.Config) []string {
	var list []string
	add := func(path string) {
		if path != c.Path && !slices.Contains(list, path) && files.IsRegular(path) {
			list = append(list, path)
		}
	}
	add(c.Script)
	if program, bad := interpreter.ReadProgram(interpreter.FirstBytes(c.Path)); bad == nil {
		if starter, bad := program.Interpreter(p.env.SearchPath(f.Scope)); bad == nil {
			add(starter)
		}
	}
	if f.Bundle != nil {
		for _, m := range f.Bundle.Members {
			if f.Folder == "" {
				add(m.Path)
			} else {
				add(filepath.Join(f.Folder, filepath.FromSlash(m.Name)))
			}
		}
	}
	for _, arg := range c.Args {
		if _, path := interpreter.OptionPath(arg); filepath.IsAbs(path) {
			add(path)
		} else if path != "" {
			add(filepath.Join(c.Dir, path))
		}
	}
	return list
}
