package realpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// Identity is what a file is whatever it is called: its device and number there.
type Identity struct{ device, number uint64 }

// Path is a path as a model wrote it, looked up.
type Path struct {
	Project  string // real path of the project
	Absolute string // the path as written
	Real     string // links followed; of what does not exist yet, those of its nearest existing parent
}

// Look looks up a path, which is relative to a project or absolute.
func Look(project, path string) (Path, error) {
	if strings.ContainsRune(path, 0) {
		return Path{}, errors.New("a path cannot hold a NUL character")
	}
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return Path{}, fmt.Errorf("project folder: %w", err)
	}
	absolute := path
	if !filepath.IsAbs(path) {
		absolute = filepath.Join(root, path)
	} else if relative, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(relative) {
		absolute = filepath.Join(root, relative)
	}
	absolute = filepath.Clean(absolute)
	real, err := Of(absolute)
	return Path{root, absolute, real}, err
}

// Of follows the links of a path; what does not exist keeps its name.
func Of(path string) (string, error) { return follow(path, 0) }

func follow(path string, depth int) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	// A dangling link would be followed when the file is created.
	if target, err := os.Readlink(path); err == nil {
		if depth > 40 {
			return "", errors.New("too many links")
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return follow(filepath.Clean(target), depth+1)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	parent, err = follow(parent, depth)
	return filepath.Join(parent, filepath.Base(path)), err
}

// mostSearched bounds the search for other names of a file.
const mostSearched = 50_000

// Touched says what a call on a path would read or change as things are now. It is the
// zero value where the path leads nowhere. A path outside the project is told, too.
func Touched(project, path string) protocol.Touched {
	at, err := Look(project, path)
	if err != nil {
		return protocol.Touched{}
	}
	touched := protocol.Touched{RealPath: at.Real}
	info, err := os.Lstat(at.Real)
	if err != nil || !info.Mode().IsRegular() {
		return touched
	}
	if id, names, known := Identify(info); known && names > 1 {
		touched.Links = int(names)
		touched.OtherPaths = otherNames(at, id, touched.Links)
	}
	return touched
}

// otherNames are the names in the project of a file that has several, as far as a
// bounded search finds them.
func otherNames(at Path, id Identity, names int) (found []string) {
	count := 0
	_ = filepath.WalkDir(at.Project, func(name string, entry fs.DirEntry, err error) error {
		if count++; count > mostSearched || len(found)+1 == names {
			return fs.SkipAll
		}
		if err != nil || name == at.Real || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			if other, _, known := Identify(info); known && other == id {
				found = append(found, name)
			}
		}
		return nil
	})
	return found
}
