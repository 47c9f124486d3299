package loader

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	openFlags = os.O_RDONLY
	noFollow  = 0
)

func lstat(path string) (fileStat, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return fileStat{}, err
	}
	return fromInfo(fi), nil
}

func stat(path string) (fileStat, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return fileStat{}, err
	}
	return fromInfo(fi), nil
}

func fstat(f *os.File) (fileStat, error) {
	fi, err := f.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return fromInfo(fi), nil
}

// fromInfo leaves owner, inode and change time at zero: Windows answers none of
// them here, and the checks that need them hold on Unix only.
func fromInfo(fi os.FileInfo) fileStat {
	return fileStat{
		Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Ctime: fi.ModTime().UnixNano(),
		Mode: fi.Mode() &^ 0o022,
	}
}

func barredByMount(string, fileStat) bool { return false }

// mayExecute goes by the name's extension, as the system does.
func mayExecute(path string, _ fileStat) bool {
	list := os.Getenv("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	return slices.Contains(strings.Split(strings.ToUpper(list), ";"), strings.ToUpper(filepath.Ext(path)))
}
