package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// DamageError says that no run writes such a session's file, and what is wrong on which
// line.
type DamageError struct {
	Session string
	Path    string // of the file
	Line    int    // from 1, the header; 0 if the file as a whole is meant
	Err     error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("session %s is damaged: %s: line %d: %v", e.Session, e.Path, e.Line, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// damaged returns an error about a line, unless the file could not be read at all.
func damaged(folder, id string, line int, err error) error {
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return fmt.Errorf("session %s: %w", id, err)
	}
	path := filepath.Join(folder, id+extension)
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return &DamageError{Session: id, Path: path, Line: line, Err: err}
}
