package files

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// Within reports whether path is folder or lies below it, by whole components.
func Within(folder, path string) bool {
	if folder == path {
		return true
	}
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// RealPath is a path without links, or the path itself where that is not to be
// found.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// ExpandHome turns ~/x into an absolute path.
func ExpandHome(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(home, strings.TrimPrefix(path, "~"))
	}
	return filepath.Clean(path)
}

// NameBelow is where a file lies relative to a folder, with slashes.
func NameBelow(folder, where string) (string, error) {
	if name, ok := strings.CutPrefix(where, folder+string(filepath.Separator)); ok { // as almost always
		return filepath.ToSlash(name), nil
	}
	rel, err := filepath.Rel(folder, where)
	return filepath.ToSlash(rel), err
}

// Missing reports errors that mean there is no such file. ENOTDIR is one: the
// layer's folder may be a file.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Cause returns what an error says, without the path.
func Cause(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}
