package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// A Bundle is everything that decides what a hook does: what it says of itself,
// what starts it, and the bytes it brings along. Its hash is what a person
// allows (protocol, section 7).
type Bundle struct {
	Name        string              `json:"name"`
	Entry       protocol.RawMessage `json:"entry"`                // settings over header over side file
	Project     protocol.RawMessage `json:"project,omitzero"`     // what the project's settings say of all its hooks
	Interpreter string              `json:"interpreter,omitzero"` // in records of earlier versions only, see AsRecorded
	Program     string              `json:"program,omitzero"`     // the same
	Members     []Member            `json:"members"`              // by name

	Hash string `json:"-"`
	Base string `json:"-"` // folder that the members' names begin at
}

// Member is one file of a bundle.
type Member struct {
	Name string      `json:"name"` // relative to the bundle's base, slashes between parts
	Mode fs.FileMode `json:"mode"` // permission bits
	Sum  string      `json:"sha256"`

	Path string `json:"-"` // where the bytes are now
	Size int64  `json:"-"`
}

// HashPrefix begins every hash that a person sees or writes.
const HashPrefix = "sha256:"

// Seal sorts the members and sets the hash.
func (b *Bundle) Seal() error {
	slices.SortFunc(b.Members, func(x, y Member) int { return cmp.Compare(x.Name, y.Name) })
	b.Members = slices.CompactFunc(b.Members, func(x, y Member) bool { return x.Name == y.Name })
	raw, err := Canonical(b)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	b.Hash = HashPrefix + hex.EncodeToString(sum[:])
	return nil
}

// Canonical returns a value as canonical JSON, for hashing and comparing.
func Canonical(value any) (protocol.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return document.CanonicalJSON(raw)
}

// SameJSON reports whether two values are equal once canonical.
func SameJSON(a, b protocol.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	x, errX := document.CanonicalJSON(bytes.Clone(a))
	y, errY := document.CanonicalJSON(bytes.Clone(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// AsRecorded makes a bundle as earlier versions hashed it, if the record is one of
// theirs: what they hashed of a starter is believed for what it is, and the words
// that lead to it are among the bytes of the hook. It returns nil if there is
// nothing to say of the record in this way.
func (b *Bundle) AsRecorded(was *Bundle, hash string) *Bundle {
	if was.Interpreter == "" && was.Program == "" {
		return nil
	}
	old := *b
	old.Members = slices.Clone(b.Members)
	old.Interpreter, old.Program = was.Interpreter, was.Program
	if old.Seal() != nil || old.Hash != hash {
		return nil
	}
	return &old
}
