package fsutil

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
)

// Folder returns an absolute path to a folder without its dots, and the real path of the folder, the
// same where it is not there. A path that leads to one folder or another, by who reads it, is an
// error: the system follows a link that stands before .., and most programs take both away.
func Folder(path string) (clean, real string, err error) {
	if !filepath.IsAbs(path) {
		return "", "", errors.New("it must be an absolute path")
	}
	clean = filepath.Clean(path)
	real, missing := filepath.EvalSymlinks(clean)
	if other, err := filepath.EvalSymlinks(path); other != real || (err == nil) != (missing == nil) {
		return "", "", errors.New("a link stands before .. in it, and it leads to one folder if the link is followed and to another one if not")
	}
	if missing != nil { // who opens it says what is wrong with it
		real = clean
	}
	return clean, real, nil
}

// Followed returns where the system goes by an absolute path: links are followed step by step, so that
// .. leads out of what a link leads to. What is not there is taken as it is written. Windows takes ..
// away before it follows links.
func Followed(path string) string {
	if runtime.GOOS == "windows" || !filepath.IsAbs(path) || !strings.Contains(path, "..") {
		return filepath.Clean(path)
	}
	at := string(filepath.Separator)
	for part := range strings.SplitSeq(path, string(filepath.Separator)) {
		switch part {
		case "", ".":
		case "..":
			at = filepath.Dir(at)
		default:
			at = filepath.Join(at, part)
			if real, err := filepath.EvalSymlinks(at); err == nil {
				at = real
			}
		}
	}
	return at
}
