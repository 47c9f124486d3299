package environment

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
)

// DirOf is the working directory of a hook or server. Those of a project start in
// its root. Those of user and machine start where no project can put a file: a
// program that is not given a path looks for modules, settings and scripts in its
// working directory.
func (e *Environment) DirOf(f *candidate.Subject, inProject bool) string {
	switch {
	case f.Scope.Layer == protocol.Project:
		return f.Scope.Root
	case inProject:
		return e.Workspace.Root
	}
	return e.ownFolder(f.Scope.Layer)
}

const ownFolderName = "start"

// ownFolder is where the programs of user and machine start. The machine's is the
// root folder: what lies in the state folder is in the hands of the user whom the
// machine's hooks bind. The user's is an empty folder that nobody may write, seen
// to be empty with every load.
func (e *Environment) ownFolder(layer protocol.Layer) string {
	if layer == protocol.Managed && runtime.GOOS != "windows" {
		return "/"
	}
	if e.memo.startsIn == "" {
		dir, err := e.emptyFolder()
		if err != nil {
			root := filepath.VolumeName(e.Workspace.Root) + string(filepath.Separator)
			e.Add(report.New(report.OwnFolder, dir, 0, "", "the user's hooks start in "+root+": "+err.Error(), "empty or remove the folder"))
			dir = root
		}
		e.memo.startsIn = dir
	}
	return e.memo.startsIn
}

func (e *Environment) emptyFolder() (string, error) {
	if e.State == "" {
		return "", fmt.Errorf("there is no state folder")
	}
	dir := filepath.Join(e.State, ownFolderName)
	if err := files.PrivateFolder(e.State); err != nil {
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
