package meet

import (
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Path is where the daemon of a project listens unless it is told otherwise:
// $XDG_RUNTIME_DIR/hookd/HASH.sock, or without such a folder of our own the
// same in stateDir. HASH stands for the project's absolute path. It only keeps projects
// apart; a daemon that a client finds by mistake serves that client's project all the same.
// The messenger would feel a stronger hash at its start.
func Path(project, stateDir string) (string, error) {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(project))
	name := strconv.FormatUint(sum.Sum64(), 16) + ".sock"
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && CheckOwn(dir) == nil {
		return filepath.Join(dir, "hookd", name), nil
	}
	if !filepath.IsAbs(stateDir) {
		return "", errors.New("neither XDG_RUNTIME_DIR nor a state folder is there for the socket")
	}
	return filepath.Join(stateDir, "run", name), nil
}

// maxPath is the longest socket path that every system takes.
const maxPath = 103

// CheckPath fails unless a socket can have a path.
func CheckPath(path string) error {
	switch {
	case !filepath.IsAbs(path):
		return errors.New("the path must be absolute")
	case len(path) > maxPath:
		return errors.New("the path has " + strconv.Itoa(len(path)) + " bytes, and a socket's may have " + strconv.Itoa(maxPath))
	}
	return nil
}

// Project guesses the project of a working directory, to find the socket of its daemon: the
// nearest folder upwards that holds .acai and is not home, "" if there is none. The rules
// of package loader go further (owners, trust records, worktrees). What differs costs time,
// never a verdict: a daemon finds the project of each event by those rules.
func Project(cwd, home string) string {
	for dir := cwd; filepath.Dir(dir) != dir && dir != home; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir + "/.acai"); err == nil && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0) {
			return dir
		}
	}
	return ""
}
