package hashed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/program"
)

// Write records the program file at a path, in the place of an earlier record. The state
// folder must be there.
func Write(stateDir, path string) (program.Record, error) {
	r, err := describe(path)
	if err != nil {
		return program.Record{}, err
	}
	return r, fsutil.ReplaceFile(program.Path(stateDir), []byte(r.String()), fsutil.Synced)
}

// describe hashes a program file.
func describe(path string) (program.Record, error) {
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return program.Record{}, err
	}
	if strings.Contains(path, "\n") {
		return program.Record{}, errors.New("the path of a program may not hold a line end")
	}
	before, err := program.IdentityOf(path)
	if err != nil {
		return program.Record{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return program.Record{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return program.Record{}, err
	}
	if after, err := program.IdentityOf(path); err != nil || after != before {
		return program.Record{}, errors.Join(errors.New(path+" changed while it was read"), err)
	}
	return program.Record{Path: path, Hash: hex.EncodeToString(sum.Sum(nil)), File: before}, nil
}

// Renew records the program file at a path anew if the record names this path and the file
// is another one now, because the person has replaced hookd. It reports whether it did.
// Without a record it does nothing: only a person installs.
func Renew(stateDir, path string) (renewed bool, err error) {
	r, err := program.Read(stateDir)
	if err != nil {
		return false, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil || path != r.Path {
		return false, err
	}
	if now, err := program.IdentityOf(path); err != nil || now == r.File {
		return false, err
	}
	_, err = Write(stateDir, path)
	return err == nil, err
}
