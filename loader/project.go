package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
)

// folderName is the folder that makes a project, and the user layer's in home.
const folderName = ".acai"

// FindProject returns the real path of the project that rules the folder cwd,
// or "" if there is none: from cwd upwards the nearest folder with .acai that
// has a trust record, else the nearest with .acai. A folder whose .acai vanished
// still counts while it has a record, so that deleting the folder does not
// switch its guards off. The search ends at home and at the root; home itself,
// and a folder that belongs to neither the user nor root, is never a project.
//
// explicit, if not "", is the project (protocol, section 6).
func FindProject(explicit, cwd, home string, recorded func(project string) bool) (string, error) {
	if home != "" {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
	}
	if explicit != "" {
		return explicitProject(explicit, cwd, home)
	}
	dir, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return "", fmt.Errorf("find the project of %s: %w", cwd, err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("find the project of %s: %w", cwd, err)
	}
	nearest := ""
	for ; dir != home && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		st, err := stat(dir)
		if err != nil {
			return "", fmt.Errorf("find the project of %s: %w", cwd, err)
		}
		if !ours(st.UID) {
			continue
		}
		if recorded != nil && recorded(dir) {
			return dir, nil
		}
		if nearest != "" {
			continue
		}
		if nearest, err = withHooks(dir); err != nil {
			return "", fmt.Errorf("find the project of %s: %w", cwd, err)
		}
	}
	return nearest, nil
}

// withHooks returns dir if it has a folder .acai, else "". One that is there and
// cannot be looked at is an error: taken for none, it would switch guards off.
func withHooks(dir string) (string, error) {
	st, err := stat(filepath.Join(dir, folderName))
	switch {
	case missing(err) || err == nil && !st.Mode.IsDir():
		return "", nil
	case err != nil:
		return "", err
	}
	return dir, nil
}

func explicitProject(explicit, cwd, home string) (string, error) {
	dir := explicit
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("project %s: no such folder", explicit)
		}
		return "", fmt.Errorf("project %s: %w", explicit, err)
	}
	st, err := stat(real)
	switch {
	case err != nil:
		return "", fmt.Errorf("project %s: %w", explicit, err)
	case !st.Mode.IsDir():
		return "", fmt.Errorf("project %s: not a folder", explicit)
	case real == home:
		return "", fmt.Errorf("project %s: the home folder is no project, its %s is the user layer", explicit, folderName)
	case !ours(st.UID):
		return "", fmt.Errorf("project %s: the folder belongs to another user (%d)", explicit, st.UID)
	}
	return real, nil
}

// ours reports whether what belongs to uid belongs to the user or root.
func ours(uid int) bool { return userWalk().owners(uid) }

// homeFolder is the user's home: $HOME, else the user database's word; "" if
// neither knows.
func homeFolder() string {
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return home
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
