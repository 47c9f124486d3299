package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol/realpath"
)

// Folder is the part of the file system that the file tools may touch: the
// project folder without what rules the hooks, see [Protected].
type Folder struct {
	Project   string   // absolute path
	Refused   []string // absolute paths, refused with all below: .acai of user and machine, the state folder
	Unwritten []string // absolute paths that are only read, with all below: git's own settings
	Locks     string   // absolute path of a folder for lock files, where folders cannot be locked; default: in the user's cache
}

// target is a path that a tool may open, and what it may not be.
type target struct {
	relative  string // real, to the project
	protected *Protected
}

// resolve turns a path as a model wrote it into the real path relative to the
// project, links followed, and refuses what leads out or to a protected place, as
// it is written or as it is. What does not exist yet resolves through its nearest
// existing parent. What is then opened is held against the places once more: a
// link put there in between is not followed. Where hooks were told of another path,
// because links changed since, it is refused.
func (f Folder) resolve(ctx context.Context, path string, writing bool) (*target, error) {
	at, err := realpath.Look(f.Project, path)
	if err != nil {
		return nil, err
	}
	project, real := at.Project, at.Real
	if err := asJudged(ctx, real); err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(project, real)
	if err != nil || !filepath.IsLocal(relative) {
		return nil, errors.New("outside the project folder")
	}
	protected := f.protected(project, real, writing)
	for _, name := range []string{at.Absolute, real} {
		if err := refusedFor(protected.Refuses(name, nil)); err != nil {
			return nil, err
		}
	}
	if isTemporary(filepath.Base(real)) {
		return nil, errTemporary
	}
	return &target{relative, protected}, nil
}

// path is the real path, absolute.
func (t *target) path() string { return filepath.Join(t.protected.project, t.relative) }

// errMoved says that what was looked at is not what was opened.
var errMoved = errors.New("it was replaced while it was opened")

// errTemporary is why a file with the name of a temporary one is not opened.
var errTemporary = errors.New("refused: a file of this name is hookd's own, half written; it will be removed")

// enter opens a folder of the project one step at a time, each from the one before,
// so that what was opened is known for what it is. No link is followed: the path is
// real, and what has become one since is refused. Missing folders are made if asked
// for. The caller closes the folder.
func (t *target) enter(f Folder, relative string, make bool) (*os.Root, error) {
	dir, err := os.OpenRoot(f.Project)
	if err != nil {
		return nil, fmt.Errorf("project folder: %w", err)
	}
	at := t.protected.project
	if err := t.judge(dir, at); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if relative == "." {
		return dir, nil
	}
	for part := range strings.SplitSeq(filepath.ToSlash(relative), "/") {
		at = filepath.Join(at, part)
		next, err := t.step(dir, part, at, make)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// step opens the folder of a name in another one.
func (t *target) step(dir *os.Root, name, path string, make bool) (*os.Root, error) {
	before, err := dir.Lstat(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err = dir.Mkdir(name, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
			before, err = dir.Lstat(name)
		}
	}
	switch {
	case err != nil:
		return nil, plain(err)
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errMoved
	case !before.IsDir():
		return nil, errors.New("not a directory")
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, plain(err)
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errMoved
	}
	if err == nil {
		err = refusedFor(t.protected.Refuses(path, after))
	}
	if err != nil {
		next.Close()
		return nil, plain(err)
	}
	return next, nil
}

// judge holds an open folder against the places.
func (t *target) judge(dir *os.Root, path string) error {
	info, err := dir.Stat(".")
	if err != nil {
		return plain(err)
	}
	return refusedFor(t.protected.Refuses(path, info))
}

// open opens a regular file of a folder that was entered, and returns what it is. It
// follows no link. A file that another call replaces just now is the new one.
func (t *target) open(dir *os.Root, name string, flags int) (file *os.File, info fs.FileInfo, err error) {
	for range mostRaces {
		if file, info, err = t.openOnce(dir, name, flags); !errors.Is(err, errMoved) {
			break
		}
	}
	return file, info, err
}

func (t *target) openOnce(dir *os.Root, name string, flags int) (*os.File, fs.FileInfo, error) {
	before, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, nil, plain(err)
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, nil, errMoved
	case before.IsDir() && flags == os.O_RDONLY:
		return nil, nil, errors.New("is a folder")
	case !before.Mode().IsRegular():
		return nil, nil, errors.New("is not a regular file")
	}
	file, err := dir.OpenFile(name, flags|nonblock, 0) // a FIFO would block for ever
	if err != nil {
		return nil, nil, plain(err)
	}
	after, err := file.Stat()
	if err == nil && (!os.SameFile(before, after) || !after.Mode().IsRegular()) {
		err = errMoved
	}
	if err == nil {
		err = refusedFor(t.protected.Refuses(filepath.Join(t.protected.project, t.relative), after))
	}
	if err != nil {
		file.Close()
		return nil, nil, plain(err)
	}
	return file, after, nil
}

// read returns a regular file's bytes, at most limit of them.
func (t *target) read(ctx context.Context, f Folder, limit int64) ([]byte, error) {
	if t.relative == "." {
		return nil, errors.New("is a folder")
	}
	dir, err := t.enter(f, filepath.Dir(t.relative), false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, info, err := t.open(dir, filepath.Base(t.relative), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := asManyNames(ctx, info); err != nil {
		return nil, err
	}
	return readAll(file, info, limit)
}

// list returns the entries of a folder.
func (t *target) list(f Folder) ([]fs.DirEntry, error) {
	dir, err := t.enter(f, t.relative, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := fs.ReadDir(dir.FS(), ".")
	return slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return isTemporary(entry.Name()) }), plain(err)
}

// plain drops the operation and path of a file error: the tool names the path
// as the model wrote it.
func plain(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
