package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	OpenFlags = os.O_RDONLY
	NoFollow  = 0
)

// Lstat returns the Info of a path, of a link itself.
func Lstat(path string) (Info, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	return fromInfo(fi), nil
}

// Stat returns the Info of what a path leads to.
func Stat(path string) (Info, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return fromInfo(fi), nil
}

// Fstat returns the Info of an open file.
func Fstat(f *os.File) (Info, error) {
	fi, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return fromInfo(fi), nil
}

// fromInfo leaves owner, inode and change time at zero: Windows answers none of
// them here, and the checks that need them hold on Unix only.
func fromInfo(fi os.FileInfo) Info {
	return Info{
		Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Ctime: fi.ModTime().UnixNano(),
		Mode: fi.Mode() &^ 0o022,
	}
}

// BarredByMount reports false: Windows has no such mounts.
func BarredByMount(string, Info) bool { return false }

// MayExecute goes by the name's extension, as the system does.
func MayExecute(path string, _ Info) bool {
	list := os.Getenv("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	return slices.Contains(strings.Split(strings.ToUpper(list), ";"), strings.ToUpper(filepath.Ext(path)))
}
