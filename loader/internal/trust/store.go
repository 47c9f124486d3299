package trust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
)

// A Store keeps the private copies of what was allowed, one folder per bundle
// hash, names kept. The copies are what runs.
type Store struct {
	Dir   string
	Files *files.HashCache
}

// Folder is where the copy of a bundle lies.
func (s Store) Folder(hash string) string {
	return filepath.Join(s.Dir, strings.TrimPrefix(hash, bundle.HashPrefix))
}

// path is where the copy of one member lies.
func (s Store) path(hash, name string) string {
	return filepath.Join(s.Folder(hash), filepath.FromSlash(name))
}

// Put copies a bundle. Each file is hashed while it is copied and must be what
// the bundle says: a file that was swapped since it was looked at is not kept.
func (s Store) Put(b *bundle.Bundle) error {
	if s.verify(b) == nil {
		return nil
	}
	if err := files.PrivateFolder(s.Dir); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for _, m := range b.Members {
		if err := copyMember(temp, m); err != nil {
			return err
		}
	}
	final := s.Folder(b.Hash)
	// Whatever is in the way did not pass the check above.
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	if err := os.Rename(temp, final); err != nil && s.verify(b) != nil {
		return err
	}
	return s.verify(b)
}

func copyMember(folder string, m bundle.Member) error {
	target := filepath.Join(folder, filepath.FromSlash(m.Name))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	h, err := files.ReadWhole(context.Background(), m.Path, out)
	if err == nil && (h.Sum != m.Sum || h.Stat.Mode.Perm() != m.Mode) {
		err = fmt.Errorf("%s: %w", m.Path, ErrChangedSince)
	}
	if err == nil {
		err = out.Chmod(m.Mode)
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// ErrChangedSince says that a file is no longer what was looked at, so nothing
// was allowed.
var ErrChangedSince = errors.New("the file changed since it was shown")

// verify checks that the copy of a bundle is exactly what was allowed.
func (s Store) verify(b *bundle.Bundle) error {
	want := map[string]int{} // index of the member
	folders := map[string]bool{".": true}
	for i, m := range b.Members {
		want[m.Name] = i
		for dir := path.Dir(m.Name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	root := s.Folder(b.Hash)
	walker := ownership.User()
	err := filepath.WalkDir(root, func(where string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := files.NameBelow(root, where)
		if err != nil {
			return err
		}
		st, err := files.Lstat(where)
		if err != nil {
			return err
		}
		if problem := walker.Part(where, st); problem != "" {
			return errors.New(problem)
		}
		i, isMember := want[name]
		switch {
		case st.Mode.IsDir() && folders[name]:
			return nil
		case st.Mode.IsDir() && d.Name() == "__pycache__": // left there by Python, of helpers it loaded
			return fs.SkipDir
		case !isMember:
			return fmt.Errorf("%s is not part of what was allowed", where)
		case !st.Mode.IsRegular() || st.Mode.Perm() != b.Members[i].Mode:
			return fmt.Errorf("%s is not what was allowed", where)
		}
		h, err := s.Files.Hash(where, st)
		if err != nil {
			return err
		}
		if h.Sum != b.Members[i].Sum {
			return fmt.Errorf("%s is not what was allowed", where)
		}
		delete(want, name)
		return nil
	})
	if err != nil {
		return err
	}
	for name := range want {
		return fmt.Errorf("%s is missing", s.path(b.Hash, name))
	}
	return nil
}

// WriteInPrivateFolder replaces a file in a folder that it makes private first.
func WriteInPrivateFolder(path string, data []byte) error {
	if err := files.PrivateFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return fsutil.ReplaceFile(path, data, fsutil.Synced)
}
