package projectfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// Read returns a regular file's bytes, at most limit of them.
func (t *Target) Read(limit int64) ([]byte, error) {
	if t.relative == "." {
		return nil, errors.New("is a folder")
	}
	dir, err := t.enter(filepath.Dir(t.relative), false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, info, err := t.open(dir, filepath.Base(t.relative), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := t.folder.checkLinks(info); err != nil {
		return nil, err
	}
	return readAll(file, info, limit)
}

// List returns the entries of a folder.
func (t *Target) List() ([]fs.DirEntry, error) {
	dir, err := t.enter(t.relative, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := fs.ReadDir(dir.FS(), ".")
	return slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return isTemporary(entry.Name()) }), fsutil.WithoutPath(err)
}

// Walk visits the regular files of a folder, or the file itself, whose slashed path in
// the project is wanted. A file that cannot be read is visited with an error; one that
// is protected, and .git, is passed over. An error of visit ends the walk, as for
// [fs.WalkDir].
func (t *Target) Walk(ctx context.Context, limit int64, wanted func(name string) bool, visit func(name string, data []byte, err error) error) error {
	root, err := t.enter(".", false)
	if err != nil {
		return err
	}
	defer root.Close()
	base := t.Relative()
	err = fs.WalkDir(root.FS(), base, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && name == base:
			return err
		case err != nil:
			return nil
		case entry.IsDir() && (entry.Name() == ".git" || t.refuses(name, entry)):
			return fs.SkipDir
		case !entry.Type().IsRegular() || isTemporary(entry.Name()) || !wanted(name) || t.refuses(name, entry):
			return nil
		}
		file := &Target{filepath.FromSlash(name), &Folder{Project: t.folder.Project}, t.places}
		data, err := file.Read(limit)
		return visit(name, data, err)
	})
	return fsutil.WithoutPath(err)
}

func (t *Target) refuses(name string, entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err != nil || t.places.Check(filepath.Join(t.places.Project, filepath.FromSlash(name)), info) != nil
}

// readTimeout bounds the wait for a file that the system makes while it is read, such
// as the kernel's log in /proc: it may have no end. Files on a disk are not waited for.
const readTimeout = time.Second

// errEndless says that a file gives no more bytes and does not end either.
var errEndless = fmt.Errorf("is no file with an end: nothing came for %s", readTimeout)

// readAll reads an open file. It may grow meanwhile.
func readAll(file *os.File, info fs.FileInfo, limit int64) ([]byte, error) {
	_ = file.SetReadDeadline(time.Now().Add(readTimeout)) // refused for files on a disk
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
		return data[:n], fsutil.WithoutPath(err)
	}
	rest, err := io.ReadAll(io.LimitReader(file, limit+1-info.Size()))
	if data = append(data, rest...); int64(len(data)) > limit {
		return nil, fmt.Errorf("has more than %d bytes", limit)
	}
	return data, fsutil.WithoutPath(err)
}
