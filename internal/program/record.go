package program

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// Record says which program file was installed.
type Record struct {
	Path string   // absolute, without links
	Hash string   // SHA-256 of the file, in hexadecimal digits
	File Identity // of the file that was hashed
}

// fileName is the record's name in the state folder.
const fileName = "program"

// header is the first line of a record. A record of another form is none.
const header = "hookd program 1"

// Path returns where the record is in a state folder.
func Path(stateDir string) string { return filepath.Join(stateDir, fileName) }

// Write records the program file at a path, in the place of an earlier record. The state
// folder must be there.
func Write(stateDir, path string) (Record, error) {
	r, err := describe(path)
	if err != nil {
		return Record{}, err
	}
	text := strings.Join([]string{header, r.Path, r.Hash, string(r.File), ""}, "\n")
	return r, fsutil.ReplaceFile(Path(stateDir), []byte(text), fsutil.Synced)
}

// describe hashes a program file.
func describe(path string) (Record, error) {
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return Record{}, err
	}
	if strings.Contains(path, "\n") {
		return Record{}, errors.New("the path of a program may not hold a line end")
	}
	before, err := IdentityOf(path)
	if err != nil {
		return Record{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return Record{}, err
	}
	if after, err := IdentityOf(path); err != nil || after != before {
		return Record{}, errors.Join(errors.New(path+" changed while it was read"), err)
	}
	return Record{Path: path, Hash: hex.EncodeToString(sum.Sum(nil)), File: before}, nil
}

// ErrNone says that no record is there, or none that this hookd can read.
var ErrNone = errors.New("no record of an installed hookd")

// Read returns the record of a state folder. The error is [ErrNone], or why the file
// cannot be read.
func Read(stateDir string) (Record, error) {
	text, err := os.ReadFile(Path(stateDir))
	if os.IsNotExist(err) {
		return Record{}, ErrNone
	}
	if err != nil {
		return Record{}, err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) != 5 || lines[0] != header || !filepath.IsAbs(lines[1]) || lines[4] != "" {
		return Record{}, ErrNone
	}
	return Record{Path: lines[1], Hash: lines[2], File: Identity(lines[3])}, nil
}

// Renew records the program file at a path anew if the record names this path and the file
// is another one now, because the person has replaced hookd. It reports whether it did.
// Without a record it does nothing: only a person installs.
func Renew(stateDir, path string) (renewed bool, err error) {
	r, err := Read(stateDir)
	if err != nil {
		return false, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil || path != r.Path {
		return false, err
	}
	if now, err := IdentityOf(path); err != nil || now == r.File {
		return false, err
	}
	_, err = Write(stateDir, path)
	return err == nil, err
}
