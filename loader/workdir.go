package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
)

// dirOf is the working directory of a hook or server. Those of a project start in
// its root. Those of user and machine start where no project can put a file: a
// program that is not given a path looks for modules, settings and scripts in its
// working directory.
func (e *environment) dirOf(f *subject, inProject bool) string {
	switch {
	case f.scope.layer == protocol.Project:
		return f.scope.root
	case inProject:
		return e.place.Root
	}
	return e.ownFolder(f.scope.layer)
}

const ownFolderName = "start"

// ownFolder is where the programs of user and machine start. The machine's is the
// root folder: what lies in the state folder is in the hands of the user whom the
// machine's hooks bind. The user's is an empty folder that nobody may write, seen
// to be empty with every load.
func (e *environment) ownFolder(layer protocol.Layer) string {
	if layer == protocol.Managed && runtime.GOOS != "windows" {
		return "/"
	}
	if e.memo.startsIn == "" {
		dir, err := e.emptyFolder()
		if err != nil {
			root := filepath.VolumeName(e.place.Root) + string(filepath.Separator)
			e.Add(report.New(report.OwnFolder, dir, 0, "", "the user's hooks start in "+root+": "+err.Error(), "empty or remove the folder"))
			dir = root
		}
		e.memo.startsIn = dir
	}
	return e.memo.startsIn
}

func (e *environment) emptyFolder() (string, error) {
	if e.state == "" {
		return "", fmt.Errorf("there is no state folder")
	}
	dir := filepath.Join(e.state, ownFolderName)
	if err := files.PrivateFolder(e.state); err != nil {
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
