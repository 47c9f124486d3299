package fsutil

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ReplaceSame replaces a file in one step and keeps what it is besides its contents: its
// mode, its owner and its attributes. old is the file as it is, nil if there is none: then
// the new file has the mode, less what the user masks. Between writing the new file and
// putting it in place check is called, and its error leaves the old file as it is. The
// caller has followed links.
func ReplaceSame(path string, data []byte, old fs.FileInfo, mode fs.FileMode, check func() error) (err error) {
	folder := filepath.Dir(path)
	if old != nil {
		mode = 0o600 // nobody else's to read before it has the mode of the old one
	}
	name := filepath.Join(folder, leftPrefix+rand.Text())
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(name)
		}
	}()
	held := hold(f)
	if old != nil {
		err = keep(f, path, old)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if !held {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return err
	}
	if err = check(); err != nil {
		return err
	}
	if err = os.Rename(name, path); err != nil {
		return err
	}
	syncFolder(folder)
	return nil
}

// leftPrefix begins the names of the files that ReplaceSame makes. What follows is random.
const leftPrefix = ".hookd-new-"

// RemoveLeft removes from a folder what was left by a [ReplaceSame] that was killed. A file
// whose maker is alive stays.
func RemoveLeft(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		random, ours := strings.CutPrefix(entry.Name(), leftPrefix)
		if ours && len(random) == len(rand.Text()) && entry.Type().IsRegular() {
			removeUnheld(filepath.Join(folder, entry.Name()))
		}
	}
}

// keep gives a new file the owner, mode and attributes of an old one.
func keep(f *os.File, path string, old fs.FileInfo) error {
	if !KeepOwner(f, old) {
		return errors.New("its owner and group could not be kept")
	}
	if was, err := os.Open(path); err == nil {
		KeepAttributes(f, was)
		was.Close()
	}
	return f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSticky))
}

// syncFolder makes a rename survive a power failure, where the system lets it.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
