package fsutil

import (
	"errors"
	"os"
	"path/filepath"
)

// Durability says what a replaced file survives.
type Durability int

const (
	// Synced waits for the disk: the file survives a power failure.
	Synced Durability = iota
	// Unsynced does not wait: a power failure may leave an empty file or the old one.
	// A crash of the process loses nothing.
	Unsynced
)

// ReplaceFile replaces a file in one step, mode 0600, so that a reader sees the old
// contents or the new ones. The new file is made in the same folder and removed if
// anything fails. A link is replaced, not followed.
func ReplaceFile(path string, data []byte, durability Durability) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil && durability == Synced {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
