package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/protocol"
)

// A builder makes the bundles of what one scope holds.
type builder struct {
	*interpreter.Finder
	hooks  string // the hooks folder
	hashes *files.HashCache
	see    func(path string) // told of each path before it is looked at
	spare  *int64            // bytes that may be hashed without need; nil: all are needed
}

// draft is a bundle that is being put together.
type draft struct {
	*builder
	*bundle
	bytes int64 // of all members
}

// build makes a bundle of an entry and of what fill puts into it.
func (in *builder) build(name string, entry any, base string, fill func(*draft) error) (*bundle, error) {
	raw, err := canonical(entry)
	if err != nil {
		return nil, err
	}
	d := &draft{builder: in, bundle: &bundle{Name: name, Entry: raw, base: base}}
	if err := fill(d); err != nil {
		return nil, err
	}
	if err := d.seal(); err != nil {
		return nil, err
	}
	return d.bundle, nil
}

// Bounds of what a hook may name as its helpers.
const (
	maxMembers     = 1000
	maxBundleBytes = 512 << 20
)

// errNotHashed says that the files of something are large and nobody asks for
// their hash.
var errNotHashed = errors.New("its files are large and not hashed: nobody allowed it")

// unasked is how many bytes of what nobody allowed one load hashes.
const unasked = 64 << 20

// add puts a file into the bundle, under its name relative to the base.
func (d *draft) add(name string) error {
	name = path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q does not lie below the hook's folder", name)
	}
	return d.put(name, filepath.Join(d.base, filepath.FromSlash(name)))
}

// put takes in a file of any name.
func (d *draft) put(name, where string) error {
	d.see(where)
	if d.spare != nil {
		st, err := files.Stat(where)
		if err != nil {
			return err
		}
		if *d.spare -= st.Size; *d.spare < 0 {
			return errNotHashed
		}
	}
	hash, err := d.hashes.Hash(where)
	if err != nil {
		return err
	}
	d.Members = append(d.Members, member{Name: name, Mode: hash.Stat.Mode.Perm(), Sum: hash.Sum, path: where, size: hash.Stat.Size})
	d.bytes += hash.Stat.Size
	switch {
	case len(d.Members) > maxMembers:
		return fmt.Errorf("the hook names more than %d files", maxMembers)
	case d.bytes > maxBundleBytes:
		return fmt.Errorf("the hook's files are larger than %d MiB together", maxBundleBytes>>20)
	}
	return nil
}

// addHelpers puts in what the patterns name below the base. It returns the
// patterns that nothing answers to.
func (d *draft) addHelpers(patterns []string) (missing []string, err error) {
	for _, pattern := range patterns {
		pattern = path.Clean(filepath.ToSlash(pattern))
		if !doublestar.ValidatePattern(pattern) || path.IsAbs(pattern) || pattern == ".." || strings.HasPrefix(pattern, "../") {
			return nil, fmt.Errorf("files: %q is no pattern below the hook's folder", pattern)
		}
		if protocol.GlobTooWide(pattern) {
			return nil, fmt.Errorf("files: the braces of %q stand for too many patterns", pattern)
		}
		root, _ := doublestar.SplitPattern(pattern)
		helpers, err := d.match(root, pattern)
		if err != nil {
			return nil, err
		}
		if len(helpers) == 0 {
			missing = append(missing, pattern)
		}
		for _, h := range helpers {
			if err := d.put(h.name, h.path); err != nil {
				return nil, err
			}
		}
	}
	return missing, nil
}

// helper is a file that a pattern names.
type helper struct {
	name, path string
}

// match lists the files below root that answer to pattern. A link to a file is
// taken for the file; a link to a folder is not followed, so that a pattern
// never leaves the hook's folder.
func (b *draft) match(root, pattern string) (helpers []helper, err error) {
	top := filepath.Join(b.base, filepath.FromSlash(root))
	visited := 0
	err = filepath.WalkDir(top, func(where string, d fs.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		if visited++; visited > 100*maxMembers {
			return fmt.Errorf("files: %q looks at more than %d files", pattern, 100*maxMembers)
		}
		if d.IsDir() {
			b.see(where) // before the folder is listed
			return nil
		}
		name, err := files.NameBelow(b.base, where)
		if err != nil {
			return err
		}
		if ok, err := doublestar.Match(pattern, name); err != nil || !ok {
			return err
		}
		if files.IsRegular(where) {
			helpers = append(helpers, helper{name, where})
		}
		return nil
	})
	return helpers, err
}
