package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockedFile is a file of the project under the lock of its folder: what is read of it
// and what it is replaced with are one change, which other calls, agents and runs see
// whole or not at all.
type lockedFile struct {
	path   string // real, absolute
	name   string // in dir
	target *target
	dir    *os.Root
	lock   *folderLock
	info   fs.FileInfo // nil: there is no such file yet
}

// mostRaces is how often a change is begun again because a program that knows no lock
// was faster.
const mostRaces = 10

// hold takes the lock of a file's folder, and looks at what the file is. Missing
// folders are made if asked for, a missing file is then no error. The caller releases
// the file.
func (f Folder) hold(ctx context.Context, path string, creates bool) (*lockedFile, error) {
	for range mostRaces {
		h, err := f.tryHold(ctx, path, creates)
		if h != nil || err != nil {
			return h, err
		}
	}
	return nil, errMoved
}

// tryHold is nil without an error if the file's folder became another one while its
// lock was waited for.
func (f Folder) tryHold(ctx context.Context, path string, creates bool) (*lockedFile, error) {
	t, err := f.resolve(ctx, path, true)
	if err != nil {
		return nil, err
	}
	if t.relative == "." {
		return nil, errors.New("is not a regular file")
	}
	dir, err := t.enter(f, filepath.Dir(t.relative), creates)
	if err != nil {
		return nil, err
	}
	h := &lockedFile{path: t.path(), name: filepath.Base(t.relative), target: t, dir: dir}
	var waited bool
	if h.lock, waited, err = f.lock(ctx, dir, filepath.Dir(h.path)); err != nil {
		dir.Close()
		return nil, err
	}
	same := true
	if waited {
		same, err = h.lookAgain(ctx, f, path)
	}
	if err == nil && same {
		h.sweep()
		err = h.look(ctx, creates)
	}
	if err != nil || !same {
		h.release()
		return nil, err
	}
	return h, nil
}

// lookAgain looks anew at what was looked at before the wait for the lock, and
// reports whether the path still leads to the locked folder.
func (h *lockedFile) lookAgain(ctx context.Context, f Folder, path string) (same bool, err error) {
	t, err := f.resolve(ctx, path, true)
	if err != nil {
		return false, err
	}
	now, err := os.Stat(filepath.Dir(t.path()))
	if err != nil {
		return false, plain(err)
	}
	locked, err := h.dir.Stat(".")
	if err != nil {
		return false, plain(err)
	}
	h.target = t
	return t.path() == h.path && os.SameFile(now, locked), nil
}

// look finds out what the file is, and whether it may be written.
func (h *lockedFile) look(ctx context.Context, creates bool) error {
	file, info, err := h.target.open(h.dir, h.name, os.O_WRONLY)
	if creates && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	h.info = info
	return errors.Join(asManyNames(ctx, info), plain(file.Close()))
}

// read returns the file's content, at most limit bytes of it.
func (h *lockedFile) read(limit int64) ([]byte, error) {
	file, info, err := h.target.open(h.dir, h.name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !os.SameFile(info, h.info) {
		return nil, errRaced
	}
	h.info = info
	return readAll(file, info, limit)
}

// readPatience bounds the wait for a file that the system makes while it is read, such
// as the kernel's log in /proc: it may have no end. Files on a disk are not waited for.
const readPatience = time.Second

// errEndless says that a file gives no more bytes and does not end either.
var errEndless = fmt.Errorf("is no file with an end: nothing came for %s", readPatience)

// readAll reads an open file. It may grow meanwhile.
func readAll(file *os.File, info fs.FileInfo, limit int64) ([]byte, error) {
	_ = file.SetReadDeadline(time.Now().Add(readPatience)) // refused for files on a disk
	data, err := readUpTo(file, info, limit)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, errEndless
	}
	return data, err
}

func readUpTo(file *os.File, info fs.FileInfo, limit int64) ([]byte, error) {
	if info.Size() > limit {
		return nil, fmt.Errorf("has %d bytes, more than %d", info.Size(), limit)
	}
	data := make([]byte, info.Size(), info.Size()+1)
	n, err := io.ReadFull(file, data)
	if err != nil { // it shrank
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return data[:n], plain(err)
	}
	rest, err := io.ReadAll(io.LimitReader(file, limit+1-info.Size()))
	if data = append(data, rest...); int64(len(data)) > limit {
		return nil, fmt.Errorf("has more than %d bytes", limit)
	}
	return data, plain(err)
}

func (h *lockedFile) release() {
	h.lock.release()
	h.dir.Close()
}
