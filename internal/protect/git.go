package protect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// gitPlaces returns the places of a repository by its .git: a folder, a link, or a file
// that says where the folder is, as worktrees and submodules have it.
func gitPlaces(path string) []string {
	places := []string{path}
	info, err := os.Stat(path)
	if err != nil {
		return places
	}
	folder := path
	if info.Mode().IsRegular() {
		if folder = pathIn(path, "gitdir:"); folder == "" {
			return places
		}
		places = append(places, folder)
	}
	if common := pathIn(filepath.Join(folder, "commondir"), ""); common != "" {
		places = append(places, common)
	}
	return places
}

// pathIn returns the path that a file of git holds after a word, made absolute, "" if
// it holds none.
func pathIn(file, word string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<10 {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	rest, is := bytes.CutPrefix(bytes.TrimSpace(text), []byte(word))
	target := string(bytes.TrimSpace(rest))
	if !is || target == "" {
		return ""
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return filepath.Clean(target)
}

// repository are the parts by which git takes any folder for a repository, and
// reads its config: HEAD, and objects and refs, its own or of another folder.
var repository = []string{"head", "objects", "refs"}

// becomesGit reports whether a path is in a folder that is a repository without the
// name .git, or that would be one if the path were written.
func becomesGit(project, slashed string) bool {
	parts := strings.Split(slashed, "/")
	for i, part := range parts {
		folder := filepath.Join(project, filepath.FromSlash(strings.Join(parts[:i], "/")))
		entries, err := os.ReadDir(folder)
		if err != nil && i > 0 {
			return false // it does not exist, so one write makes it no repository
		}
		there := []string{Fold(part)}
		for _, entry := range entries {
			there = append(there, Fold(entry.Name()))
		}
		shared := slices.Contains(there, "commondir")
		if !slices.ContainsFunc(repository, func(name string) bool {
			return !slices.Contains(there, name) && (name == "head" || !shared)
		}) {
			return true
		}
	}
	return false
}
