package projectfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// LockedFile is a file of the project under the lock of its folder: what is read of it
// and what it is replaced with are one change, which other calls, agents and runs see
// whole or not at all.
type LockedFile struct {
	Path string      // real, absolute
	Info fs.FileInfo // nil: there is no such file yet

	name   string // in dir
	target *Target
	dir    *os.Root
	lock   *folderLock
}

// Change changes a file under the lock of its folder. Missing folders are made if
// creates is true, and a missing file is then no error. If a program that knows no lock
// came first, work begins again, since what it made of the old content is no longer
// right.
func (f *Folder) Change(ctx context.Context, path string, creates bool, work func(*LockedFile) error) (err error) {
	for range maxRaces {
		var file *LockedFile
		if file, err = f.Lock(ctx, path, creates); err != nil {
			return err
		}
		err = work(file)
		file.Release()
		if !errors.Is(err, errRaced) {
			break
		}
	}
	return err
}

// Lock takes the lock of a file's folder, and looks at what the file is. The caller
// must release the file.
func (f *Folder) Lock(ctx context.Context, path string, creates bool) (*LockedFile, error) {
	for range maxRaces {
		h, err := f.tryLock(ctx, path, creates)
		if h != nil || err != nil {
			return h, err
		}
	}
	return nil, errMoved
}

// tryLock returns nil without an error if the file's folder became another one while its
// lock was waited for.
func (f *Folder) tryLock(ctx context.Context, path string, creates bool) (*LockedFile, error) {
	t, err := f.Resolve(path, true)
	if err != nil {
		return nil, err
	}
	if t.relative == "." {
		return nil, errors.New("is not a regular file")
	}
	dir, err := t.enter(filepath.Dir(t.relative), creates)
	if err != nil {
		return nil, err
	}
	h := &LockedFile{Path: t.Path(), name: filepath.Base(t.relative), target: t, dir: dir}
	var waited bool
	if h.lock, waited, err = f.lock(ctx, dir, filepath.Dir(h.Path)); err != nil {
		dir.Close()
		return nil, err
	}
	same := true
	if waited {
		same, err = h.lookAgain(f, path)
	}
	if err == nil && same {
		h.sweep()
		err = h.look(creates)
	}
	if err != nil || !same {
		h.Release()
		return nil, err
	}
	return h, nil
}

// lookAgain looks anew at what was looked at before the wait for the lock, and
// reports whether the path still leads to the locked folder.
func (h *LockedFile) lookAgain(f *Folder, path string) (same bool, err error) {
	t, err := f.Resolve(path, true)
	if err != nil {
		return false, err
	}
	now, err := os.Stat(filepath.Dir(t.Path()))
	if err != nil {
		return false, fsutil.WithoutPath(err)
	}
	locked, err := h.dir.Stat(".")
	if err != nil {
		return false, fsutil.WithoutPath(err)
	}
	h.target = t
	return t.Path() == h.Path && os.SameFile(now, locked), nil
}

// look finds out what the file is, and whether it may be written.
func (h *LockedFile) look(creates bool) error {
	file, info, err := h.target.open(h.dir, h.name, os.O_WRONLY)
	if creates && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	h.Info = info
	return errors.Join(h.target.folder.checkLinks(info), fsutil.WithoutPath(file.Close()))
}

// Read returns the file's content, at most limit bytes of it.
func (h *LockedFile) Read(limit int64) ([]byte, error) {
	file, info, err := h.target.open(h.dir, h.name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !os.SameFile(info, h.Info) {
		return nil, errRaced
	}
	h.Info = info
	return readAll(file, info, limit)
}

// Release gives the lock of the folder back.
func (h *LockedFile) Release() {
	h.lock.release()
	h.dir.Close()
}
