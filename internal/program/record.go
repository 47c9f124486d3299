package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// ErrNone says that no record is there, or none that this hookd can read.
var ErrNone = errors.New("no record of an installed hookd")

// Read returns the record of a state folder. The error is [ErrNone], or why the file
// cannot be read.
func Read(stateDir string) (Record, error) {
	text, err := readSmall(Path(stateDir))
	if os.IsNotExist(err) {
		return Record{}, ErrNone
	}
	if err != nil {
		return Record{}, err
	}
	return parse(string(text))
}

// String returns the record as the file has it.
func (r Record) String() string {
	return strings.Join([]string{header, r.Path, r.Hash, string(r.File), ""}, "\n")
}

// parse reads what [Record.String] wrote.
func parse(text string) (Record, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || lines[0] != header || !filepath.IsAbs(lines[1]) || lines[4] != "" {
		return Record{}, ErrNone
	}
	return Record{Path: lines[1], Hash: lines[2], File: Identity(lines[3])}, nil
}
