package loader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

	hash string
	base string // folder that the members' names begin at
}

// member is one file of a bundle.
type member struct {
	Name string      `json:"name"` // relative to the bundle's base, slashes between parts
	Mode fs.FileMode `json:"mode"` // permission bits
	Sum  string      `json:"sha256"`

	path string // where the bytes are now
	size int64
}

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
