package workspace

import (
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
)

// GitName is the file or folder that makes a folder a checkout of git.
const GitName = ".git"

// isCheckout reports whether a folder is the top of a checkout: of a clone, a
// worktree or a submodule.
func isCheckout(dir string) bool {
	_, err := files.Lstat(filepath.Join(dir, GitName))
	return err == nil
}

// MainCheckout returns the checkout that a folder is a worktree of, "" if it is
// none. What a folder says of itself is not enough: the repository must name the
// worktree, which only somebody who may write in the repository can make it do.
func MainCheckout(worktree string) string {
	link, ok := readGitLine(filepath.Join(worktree, GitName), "gitdir:")
	if !ok {
		return ""
	}
	own, err := filepath.EvalSymlinks(absoluteFrom(worktree, link))
	if err != nil || filepath.Base(filepath.Dir(own)) != "worktrees" {
		return ""
	}
	repository := filepath.Dir(filepath.Dir(own))
	if filepath.Base(repository) != GitName {
		return "" // a bare repository has no checkout of its own
	}
	if _, unsafe, err := ownership.User().Follow(own); err != nil || unsafe != "" {
		return ""
	}
	named, ok := readGitLine(filepath.Join(own, "gitdir"), "")
	if !ok {
		return ""
	}
	back, err := filepath.EvalSymlinks(filepath.Dir(absoluteFrom(own, named)))
	if err != nil || back != worktree || filepath.Base(named) != GitName {
		return ""
	}
	return filepath.Dir(repository)
}

// readGitLine reads a file of git's that holds one line, and returns what follows
// prefix there.
func readGitLine(path, prefix string) (string, bool) {
	text, err := files.ReadSmall(path, 64<<10)
	if err != nil {
		return "", false
	}
	line, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	line = strings.TrimSpace(line)
	return line, ok && line != "" && !strings.ContainsAny(line, "\n\x00")
}

func absoluteFrom(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// inMain reports whether anything was allowed in the main checkout that a folder is a
// worktree of: it counts there where the worktree has no .acai. Not if that checkout
// lies above the folder: the search finds it there.
func (s *Search) inMain(folder string) bool {
	st, err := files.Lstat(filepath.Join(folder, GitName))
	if err != nil || !st.Mode.IsRegular() {
		return false
	}
	main := MainCheckout(folder)
	return main != "" && !files.Within(main, folder) && s.Recorded(main)
}
