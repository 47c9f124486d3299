package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
)

// A view is what a hook with inPlace runs from: the private copies of what was
// allowed, in a folder in which all else that lies beside the originals is a link
// to it. So the hook finds its helpers beside $0, and what runs of the hook itself
// are the bytes that were hashed: a file that is swapped while it starts is not
// read at all. What is linked is not watched.

const viewsFolder = "views"

// maxLinked bounds the files beside a hook that are linked.
const maxLinked = 10_000

// view makes the view of a bundle, or finds the one there is.
func (s Store) view(b *bundle.Bundle, see func(path string)) (string, error) {
	links, err := filesBeside(b, see)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, l := range links {
		fmt.Fprintf(sum, "%s\x00%s\x00", l.Name, l.Path)
	}
	all := filepath.Join(filepath.Dir(s.Dir), viewsFolder, filepath.Base(s.Folder(b.Hash)))
	final := filepath.Join(all, hex.EncodeToString(sum.Sum(nil)[:16]))
	if s.viewWhole(b, final) == nil {
		return final, nil
	}
	if err := files.PrivateFolder(filepath.Dir(all)); err != nil {
		return "", err
	}
	if err := files.PrivateFolder(all); err != nil {
		return "", err
	}
	removeOld(all)
	temp, err := os.MkdirTemp(all, ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := s.fillView(b, temp, links); err != nil {
		return "", err
	}
	if err := os.RemoveAll(final); err != nil { // it did not pass the check above
		return "", err
	}
	if err := os.Rename(temp, final); err != nil && s.viewWhole(b, final) != nil {
		return "", err
	}
	return final, s.viewWhole(b, final)
}

func (s Store) fillView(b *bundle.Bundle, folder string, links []bundle.Helper) error {
	for _, m := range b.Members {
		target := filepath.Join(folder, filepath.FromSlash(m.Name))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := os.Link(s.path(b.Hash, m.Name), target); err != nil {
			return err
		}
	}
	for _, l := range links {
		target := filepath.Join(folder, filepath.FromSlash(l.Name))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := os.Symlink(l.Path, target); err != nil {
			return err
		}
	}
	return nil
}

// viewWhole makes sure that every member of a view is the private copy itself.
func (s Store) viewWhole(b *bundle.Bundle, folder string) error {
	for _, m := range b.Members {
		kept, err := files.Lstat(s.path(b.Hash, m.Name))
		if err != nil {
			return err
		}
		seen, err := files.Lstat(filepath.Join(folder, filepath.FromSlash(m.Name)))
		if err != nil {
			return err
		}
		if kept.Dev != seen.Dev || kept.Ino != seen.Ino {
			return fmt.Errorf("%s is not the private copy", seen.Mode)
		}
	}
	return nil
}

// filesBeside lists what lies in the same folders as the originals of a bundle, in their folders and in
// those above up to the bundle's own.
func filesBeside(b *bundle.Bundle, see func(path string)) (links []bundle.Helper, err error) {
	folders := []string{"."}
	for _, m := range b.Members {
		if strings.HasPrefix(m.Name, bundle.ProjectPrefix) {
			continue
		}
		for dir := path.Dir(m.Name); dir != "."; dir = path.Dir(dir) {
			if !slices.Contains(folders, dir) {
				folders = append(folders, dir)
			}
		}
	}
	isMember := func(name string) bool {
		return slices.ContainsFunc(b.Members, func(m bundle.Member) bool { return m.Name == name })
	}
	for _, dir := range folders {
		where := filepath.Join(b.Base, filepath.FromSlash(dir))
		see(where)
		entries, err := os.ReadDir(where)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			name := path.Join(dir, entry.Name())
			if isMember(name) || slices.Contains(folders, name) {
				continue
			}
			links = append(links, bundle.Helper{Name: name, Path: filepath.Join(where, entry.Name())})
		}
		if len(links) > maxLinked {
			return nil, fmt.Errorf("more than %d files lie beside it", maxLinked)
		}
	}
	return links, nil
}

// removeOld removes the views of a bundle that no run can be using any more.
func removeOld(all string) {
	entries, _ := os.ReadDir(all)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(all, entry.Name()))
		}
	}
}
