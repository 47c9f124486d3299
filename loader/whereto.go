package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
)

// projectAllowed reports whether a person allowed anything of this project, or
// never wants to be asked about it.
func (p *load) projectAllowed() bool {
	return p.inner != nil && (p.inner.always || p.inner.decisions.AnyAllowed())
}

// dirOf is the working directory of a hook or server. Those of a project start in
// its root. Those of user and machine start where no project can put a file: a
// program that is not given a path looks for modules, settings and scripts in its
// working directory.
func (p *load) dirOf(f *found) string {
	switch {
	case f.layer == protocol.Project:
		return f.scope.root
	case f.resolution.Hook.InProject:
		return p.Root
	}
	return p.ownFolder(f.layer)
}

const ownFolderName = "start"

// ownFolder is where the programs of user and machine start. The machine's is the
// root folder: what lies in the state folder is in the hands of the user whom the
// machine's hooks bind. The user's is an empty folder that nobody may write, seen
// to be empty with every load.
func (p *load) ownFolder(layer protocol.Layer) string {
	if layer == protocol.Managed && runtime.GOOS != "windows" {
		return "/"
	}
	if p.startsIn == "" {
		dir, err := p.emptyFolder()
		if err != nil {
			root := filepath.VolumeName(p.Root) + string(filepath.Separator)
			p.Add(report.New(report.OwnFolder, dir, 0, "", "the user's hooks start in "+root+": "+err.Error(), "empty or remove the folder"))
			dir = root
		}
		p.startsIn = dir
	}
	return p.startsIn
}

func (l *loader) emptyFolder() (string, error) {
	if l.state == "" {
		return "", fmt.Errorf("there is no state folder")
	}
	dir := filepath.Join(l.state, ownFolderName)
	if err := files.PrivateFolder(l.state); err != nil {
		return dir, err
	}
	if err := os.Mkdir(dir, 0o500); err != nil && !os.IsExist(err) {
		return dir, err
	}
	st, err := files.Lstat(dir)
	switch {
	case err != nil:
		return dir, err
	case !st.Mode.IsDir():
		return dir, fmt.Errorf("%s is not a folder", dir)
	}
	if err := files.CheckPrivate(dir, st); err != nil {
		return dir, err
	}
	if st.Mode.Perm()&0o222 != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			return dir, err
		}
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty", dir)
	}
	return dir, err
}

// relativeTo is the folder that relative paths in a scope's settings mean.
func (s *scope) relativeTo() string {
	if s.layer == protocol.Project {
		return s.root
	}
	return s.dir
}

// fromSettings returns the words of a command with those that mean a file beside
// the settings of user or machine made absolute: what starts elsewhere would not
// find it.
func (s *scope) fromSettings(words []string) []string {
	words = slices.Clone(words)
	dir := s.relativeTo()
	if s.layer == protocol.Project || dir == "" {
		return words
	}
	for i, word := range words {
		before, path := interpreter.OptionPath(word)
		if filepath.IsAbs(path) || path == "" || strings.HasPrefix(path, "-") || i == 0 && filepath.Base(path) == path {
			continue
		}
		where := filepath.Join(dir, path)
		st, err := files.Stat(where)
		written := strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")
		if written || err == nil && (st.Mode.IsRegular() || strings.ContainsRune(path, '/')) {
			words[i] = before + where
		}
	}
	return words
}

// liesInside reports whether a file of user or machine is really one of the project
// at work, so that those who change the project change it. Without a project it is
// the checkout that hookd works in.
func (p *load) liesInside(layer protocol.Layer, path string) bool {
	if layer == protocol.Project || p.inner != nil && p.inner.always {
		return false
	}
	tops := append([]string{p.Project, p.Root}, p.Outer...)
	if p.Project == "" {
		tops = []string{p.checkoutOf(p.Root)}
	}
	return slices.ContainsFunc(tops, func(top string) bool { return top != "" && inFolder(top, path) })
}

// Folders of programs that may lie in a checkout themselves: Homebrew is one.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/opt", "/nix", "/snap", "/home/linuxbrew", "/Library", "/System", "/Applications"}

// checkoutOf is the nearest folder above a path that holds a project or a checkout,
// "" if there is none below home. Hidden folders of home are where version managers
// keep programs (~/.nvm is a checkout of its own), and count as none.
func (p *load) checkoutOf(dir string) string {
	if slices.ContainsFunc(systemFolders, func(top string) bool { return files.Within(top, dir) }) {
		return ""
	}
	home := files.RealPath(p.opts.Home)
	for ; filepath.Dir(dir) != dir && dir != home; dir = filepath.Dir(dir) {
		if filepath.Dir(dir) == home && strings.HasPrefix(filepath.Base(dir), ".") {
			return ""
		}
		if p.isProjectOrCheckout(dir) {
			return dir
		}
	}
	return ""
}

func (p *load) isProjectOrCheckout(dir string) bool {
	known, ok := p.checkouts[dir]
	if !ok {
		for _, mark := range []string{workspace.GitName, workspace.FolderName} {
			if _, err := files.Lstat(filepath.Join(dir, mark)); err == nil {
				known = true
			}
		}
		if p.checkouts == nil {
			p.checkouts = map[string]bool{}
		}
		p.checkouts[dir] = known
	}
	return known
}

// outsideCheckouts says which folders of the caller's PATH hooks of project and
// user may find programs in: what lies in some project is that project's.
func (p *load) outsideCheckouts(folder string) bool {
	if p.checkoutOf(filepath.Clean(folder)) != "" {
		return false
	}
	real, err := filepath.EvalSymlinks(folder)
	return err != nil || real == folder || p.checkoutOf(real) == ""
}

// environ adds what an interpreter line sets.
func (s *start) environ(env []string) []string {
	for _, set := range s.sets {
		name, _, _ := strings.Cut(set, "=")
		env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		env = append(env, set)
	}
	return env
}

// ofPython is what a command of Python that names a module, or is code itself,
// gets besides.
func (f *found) ofPython() []string {
	if len(f.Words) == 0 || interpreter.KindOf(f.Words[0]) != interpreter.KindPython {
		return nil
	}
	for _, word := range f.Words[1:] {
		if !strings.HasPrefix(word, "-") {
			return nil
		}
		if interpreter.KindPython.TakesCode(word) {
			return []string{hookenv.SafePath}
		}
	}
	return nil
}

// startsInside settles a hook of user or machine that asks to start in a project
// which nobody allowed: it does not run there.
func (p *load) startsInside(f *found) {
	if !f.resolution.Hook.InProject || p.projectAllowed() {
		return
	}
	const why = "it asks to start in the project (dir: project), which nobody allowed"
	const remedy = "allow the project with hookd trust, or leave dir out"
	if len(f.resolution.Hook.Events) == 0 && f.resolution.Hook.Guards() {
		f.resolution.Hook.Events = everywhere()
	}
	f.fail(executor.Broken, protocol.FailSpawn, why, remedy)
	p.Add(report.New(report.DirNotAllowed, f.path, 0, f.name, why, remedy))
}
