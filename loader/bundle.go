package loader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// A bundle is everything that decides what a hook does: what it says of itself,
// what starts it, and the bytes it brings along. Its hash is what a person
// allows (protocol, section 7).
type bundle struct {
	Name        string              `json:"name"`
	Entry       protocol.RawMessage `json:"entry"`                // settings over header over side file
	Project     protocol.RawMessage `json:"project,omitzero"`     // what the project's settings say of all its hooks
	Interpreter string              `json:"interpreter,omitzero"` // in records of earlier versions only, see asRecorded
	Program     string              `json:"program,omitzero"`     // the same
	Members     []member            `json:"members"`              // by name

	hash  string
	exact bool                            // Entry and Project are canonical already
	spare *int64                          // bytes that may be hashed without need; nil: all are needed
	bytes int64                           // of all members as they were put
	base  string                          // folder that the members' names begin at
	see   func(path string, st *fileStat) // told of everything that was looked at; st is nil if the path is not read yet
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

const hashPrefix = "sha256:"

// A load of many hooks seals one bundle after the other.
var sealBuffers = sync.Pool{New: func() any { return new([]byte) }}

// seal sorts the members and sets the hash.
func (b *bundle) seal() error {
	slices.SortFunc(b.Members, func(x, y member) int { return cmp.Compare(x.Name, y.Name) })
	b.Members = slices.CompactFunc(b.Members, func(x, y member) bool { return x.Name == y.Name })
	buffer := sealBuffers.Get().(*[]byte)
	defer sealBuffers.Put(buffer)
	raw, err := b.appendCanonical((*buffer)[:0])
	if err != nil {
		return err
	}
	*buffer = raw
	sum := sha256.Sum256(raw)
	b.hash = hashPrefix + hex.EncodeToString(sum[:])
	return nil
}

// appendCanonical appends what canonical returns of a bundle. A load seals every
// bundle there is, so it is written straight down.
func (b *bundle) appendCanonical(out []byte) (_ []byte, err error) {
	text := func(before, value string) {
		if err == nil {
			out, err = jsontext.AppendQuote(append(out, before...), value)
		}
	}
	value := func(before string, v protocol.RawMessage) {
		if v == nil {
			v = protocol.RawMessage("null")
		}
		if err == nil && !b.exact {
			v = bytes.Clone(v)
			err = (*jsontext.Value)(&v).Canonicalize()
		}
		out = append(append(out, before...), v...)
	}
	value(`{"entry":`, b.Entry)
	if b.Interpreter != "" {
		text(`,"interpreter":`, b.Interpreter)
	}
	out = append(out, `,"members":[`...)
	for i, m := range b.Members {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendUint(append(out, `{"mode":`...), uint64(m.Mode), 10)
		text(`,"name":`, m.Name)
		text(`,"sha256":`, m.Sum)
		out = append(out, '}')
	}
	out = append(out, ']')
	text(`,"name":`, b.Name)
	if b.Program != "" {
		text(`,"program":`, b.Program)
	}
	if b.Project != nil {
		value(`,"project":`, b.Project)
	}
	return append(out, '}'), err
}

// add puts a file into the bundle, under its name relative to the base.
func (b *bundle) add(files *contentCache, name string) (*content, error) {
	name = path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("%q does not lie below the hook's folder", name)
	}
	where := filepath.Join(b.base, filepath.FromSlash(name))
	c, err := files.read(where)
	if err != nil {
		return nil, err
	}
	return c, b.put(name, where, c)
}

// put takes in a file that was read.
func (b *bundle) put(name, where string, c *content) error {
	b.see(where, &c.stat)
	if b.spare != nil {
		if *b.spare -= c.stat.Size; *b.spare < 0 {
			return errNotHashed
		}
	}
	c, err := c.hashed(where)
	if err != nil {
		return err
	}
	b.Members = append(b.Members, member{
		Name: name, Mode: c.stat.Mode.Perm(), Sum: c.sum, path: where, size: c.stat.Size,
	})
	b.bytes += c.stat.Size
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
func (b *bundle) addHelpers(files *contentCache, patterns []string) (missing []string, err error) {
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
			c, err := files.readAs(h.path, h.stat)
			if err == nil {
				err = b.put(h.name, h.path, c)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return missing, nil
}

// helper is a file that a pattern names.
type helper struct {
	name, path string
	stat       fileStat
}

// match lists the files below root that answer to pattern. A link to a file is
// taken for the file; a link to a folder is not followed, so that a pattern
// never leaves the hook's folder.
func (b *bundle) match(root, pattern string) (helpers []helper, err error) {
	top := filepath.Join(b.base, filepath.FromSlash(root))
	visited := 0
	var folder lookedIn
	defer folder.close()
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
			b.see(where, nil) // before the folder is listed
			return nil
		}
		name, err := nameBelow(b.base, where)
		if err != nil {
			return err
		}
		if ok, err := doublestar.Match(pattern, name); err != nil || !ok {
			return err
		}
		dir, file := filepath.Split(where)
		folder.enter(dir)
		if st, err := folder.stat(file); err == nil && st.Mode.IsRegular() {
			helpers = append(helpers, helper{name, where, st})
		}
		return nil
	})
	return helpers, err
}

// nameBelow is where a file lies relative to a folder, with slashes.
func nameBelow(folder, where string) (string, error) {
	if name, ok := strings.CutPrefix(where, folder+string(filepath.Separator)); ok { // as almost always
		return filepath.ToSlash(name), nil
	}
	rel, err := filepath.Rel(folder, where)
	return filepath.ToSlash(rel), err
}

// canonical returns a value as canonical JSON, for hashing and comparing.
func canonical(value any) (protocol.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	v := protocol.RawMessage(raw)
	return v, (*jsontext.Value)(&v).Canonicalize()
}

// sameJSON reports whether two values are equal once canonical.
func sameJSON(a, b protocol.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	a, b = bytes.Clone(a), bytes.Clone(b)
	return (*jsontext.Value)(&a).Canonicalize() == nil && (*jsontext.Value)(&b).Canonicalize() == nil && bytes.Equal(a, b)
}
