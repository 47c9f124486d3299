package loader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/protocol"
)

// A bundle is everything that decides what a hook does: what it says of itself,
// what starts it, and the bytes it brings along. Its hash is what a person
// allows (protocol, section 7).
type bundle struct {
	Name        string         `json:"name"`
	Entry       jsontext.Value `json:"entry"`                // settings over header over side file
	Project     jsontext.Value `json:"project,omitzero"`     // what the project's settings say of all its hooks
	Interpreter string         `json:"interpreter,omitzero"` // in records of earlier versions only, see asRecorded
	Program     string         `json:"program,omitzero"`     // the same
	Members     []member       `json:"members"`              // by name

	hash  string
	spare *int64            // bytes that may be hashed without need; nil: all are needed
	bytes int64             // of all members as they were put
	base  string            // folder that the members' names begin at
	see   func(path string) // told of everything before it is looked at
}

// member is one file of a bundle.
type member struct {
	Name string      `json:"name"` // relative to the bundle's base, slashes between parts
	Mode fs.FileMode `json:"mode"` // permission bits
	Sum  string      `json:"sha256"`

	path string // where the bytes are now
	size int64
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

const hashPrefix = "sha256:"

// seal sorts the members and sets the hash.
func (b *bundle) seal() error {
	slices.SortFunc(b.Members, func(x, y member) int { return cmp.Compare(x.Name, y.Name) })
	b.Members = slices.CompactFunc(b.Members, func(x, y member) bool { return x.Name == y.Name })
	raw, err := canonical(b)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	b.hash = hashPrefix + hex.EncodeToString(sum[:])
	return nil
}

// add puts a file into the bundle, under its name relative to the base.
func (b *bundle) add(hashes *files.HashCache, name string) error {
	name = path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q does not lie below the hook's folder", name)
	}
	return b.put(hashes, name, filepath.Join(b.base, filepath.FromSlash(name)))
}

// put takes in a file of any name.
func (b *bundle) put(hashes *files.HashCache, name, where string) error {
	b.see(where)
	if b.spare != nil {
		st, err := files.Stat(where)
		if err != nil {
			return err
		}
		if *b.spare -= st.Size; *b.spare < 0 {
			return errNotHashed
		}
	}
	h, err := hashes.Hash(where)
	if err != nil {
		return err
	}
	b.Members = append(b.Members, member{Name: name, Mode: h.Stat.Mode.Perm(), Sum: h.Sum, path: where, size: h.Stat.Size})
	b.bytes += h.Stat.Size
	switch {
	case len(b.Members) > maxMembers:
		return fmt.Errorf("the hook names more than %d files", maxMembers)
	case b.bytes > maxBundleBytes:
		return fmt.Errorf("the hook's files are larger than %d MiB together", maxBundleBytes>>20)
	}
	return nil
}

// addHelpers puts in what the patterns name below the base. It returns the
// patterns that nothing answers to.
func (b *bundle) addHelpers(hashes *files.HashCache, patterns []string) (missing []string, err error) {
	for _, pattern := range patterns {
		pattern = path.Clean(filepath.ToSlash(pattern))
		if !doublestar.ValidatePattern(pattern) || path.IsAbs(pattern) || pattern == ".." || strings.HasPrefix(pattern, "../") {
			return nil, fmt.Errorf("files: %q is no pattern below the hook's folder", pattern)
		}
		if protocol.GlobTooWide(pattern) {
			return nil, fmt.Errorf("files: the braces of %q stand for too many patterns", pattern)
		}
		root, _ := doublestar.SplitPattern(pattern)
		helpers, err := b.match(root, pattern)
		if err != nil {
			return nil, err
		}
		if len(helpers) == 0 {
			missing = append(missing, pattern)
		}
		for _, h := range helpers {
			if err := b.put(hashes, h.name, h.path); err != nil {
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
func (b *bundle) match(root, pattern string) (helpers []helper, err error) {
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

// canonical returns a value as canonical JSON, for hashing and comparing.
func canonical(value any) (jsontext.Value, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(raw)
	return v, v.Canonicalize()
}

// sameJSON reports whether two values are equal once canonical.
func sameJSON(a, b jsontext.Value) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	a, b = bytes.Clone(a), bytes.Clone(b)
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}
