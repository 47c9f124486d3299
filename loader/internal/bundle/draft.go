package bundle

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
	"github.com/hookd-dev/hookd/protocol/patterns"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// A Builder makes the bundles of what one scope holds.
type Builder struct {
	*interpreter.Finder
	HooksDir   string // the hooks folder
	Hashes     *files.HashCache
	See        func(path string) // called with each path before it is read
	HashBudget *int64            // bytes that may still be hashed although nobody needs the hash; nil: no bound
}

// Draft is a bundle that is being put together.
type Draft struct {
	*Builder
	*Bundle
	bytes int64 // of all members

	leaveTests bool // tests beside hooks are no helpers; see isTest
}

// Build makes a bundle of an entry and of what fill puts into it.
func (in *Builder) Build(name string, entry any, base string, fill func(*Draft) error) (*Bundle, error) {
	raw, err := Canonical(entry)
	if err != nil {
		return nil, err
	}
	d := &Draft{Builder: in, Bundle: &Bundle{Name: name, Entry: raw, Base: base}}
	if err := fill(d); err != nil {
		return nil, err
	}
	if err := d.Seal(); err != nil {
		return nil, err
	}
	return d.Bundle, nil
}

// Bounds of what a hook may name as its helpers.
const (
	maxMembers     = 1000
	maxBundleBytes = 512 << 20
)

// ErrNotHashed says that the files of something are large and nobody asks for
// their hash.
var ErrNotHashed = errors.New("its files are large and not hashed: nobody allowed it")

// UnallowedHashLimit bounds how many bytes of files nobody allowed one load hashes.
const UnallowedHashLimit = 64 << 20

// Add puts a file into the bundle, under its name relative to the base.
func (d *Draft) Add(name string) error {
	name = path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q does not lie below the hook's folder", name)
	}
	return d.put(name, filepath.Join(d.Base, filepath.FromSlash(name)))
}

// AddFrom puts a file that lies elsewhere into the bundle, under a name.
func (d *Draft) AddFrom(name, where string) error { return d.put(name, where) }

// put adds a file under a name.
func (d *Draft) put(name, where string) error {
	d.See(where)
	st, err := files.Stat(where)
	if err != nil {
		return err
	}
	if d.HashBudget != nil {
		if *d.HashBudget -= st.Size; *d.HashBudget < 0 {
			return ErrNotHashed
		}
	}
	hash, err := d.Hashes.Hash(where, st)
	if err != nil {
		return err
	}
	d.Members = append(d.Members, Member{Name: name, Mode: hash.Stat.Mode.Perm(), Sum: hash.Sum, Path: where, Size: hash.Stat.Size})
	d.bytes += hash.Stat.Size
	switch {
	case len(d.Members) > maxMembers:
		return fmt.Errorf("the hook names more than %d files", maxMembers)
	case d.bytes > maxBundleBytes:
		return fmt.Errorf("the hook's files are larger than %d MiB together", maxBundleBytes>>20)
	}
	return nil
}

// AddHelpers puts in what the patterns name below the base. It returns the
// patterns that nothing answers to.
func (d *Draft) AddHelpers(globs []string) (missing []string, err error) {
	for _, pattern := range globs {
		pattern = path.Clean(filepath.ToSlash(pattern))
		if !doublestar.ValidatePattern(pattern) || path.IsAbs(pattern) || pattern == ".." || strings.HasPrefix(pattern, "../") {
			return nil, fmt.Errorf("files: %q is no pattern below the hook's folder", pattern)
		}
		if patterns.TooWide(pattern) {
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
			if err := d.put(h.Name, h.Path); err != nil {
				return nil, err
			}
		}
	}
	return missing, nil
}

// Helper is a file that a pattern names.
type Helper struct {
	Name, Path string
}

// match lists the files below root that answer to pattern. A link to a file is
// taken for the file; a link to a folder is not followed, so that a pattern
// never leaves the hook's folder.
func (b *Draft) match(root, pattern string) (helpers []Helper, err error) {
	top := filepath.Join(b.Base, filepath.FromSlash(root))
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
			b.See(where) // before the folder is listed
			return nil
		}
		name, err := files.NameBelow(b.Base, where)
		if err != nil {
			return err
		}
		if ok, err := doublestar.Match(pattern, name); err != nil || !ok {
			return err
		}
		if name != pattern && b.isTest(name) {
			return nil
		}
		if files.IsRegular(where) {
			helpers = append(helpers, Helper{name, where})
		}
		return nil
	})
	return helpers, err
}

// isTest reports whether a file that a glob fits is the tests of a hook beside it. Such
// tests are not part of what is allowed: no event runs them, and who adds one need not allow
// the hook again. A hook that runs from its copy does not find them there; one that runs in
// place could read them, and so they count for it, as a file does that is named in full.
func (d *Draft) isTest(name string) bool {
	if !d.leaveTests || strings.Contains(name, "/") {
		return false
	}
	for _, suffix := range testfile.Suffixes {
		if hook, is := strings.CutSuffix(name, suffix); is && hook != "" {
			return files.IsRegular(filepath.Join(d.Base, hook))
		}
	}
	return false
}
