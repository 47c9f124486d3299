package projectfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/realpath"
)

// Folder is the part of the file system that the file tools may touch: a project
// without the places of package protect.
type Folder struct {
	Project   string   // absolute path
	Refused   []string // absolute paths, refused with all below
	State     string   // hookd's own folder, absolute, refused with all below
	Unwritten []string // absolute paths that may be read, with all below
	Locks     string   // absolute path of a folder for lock files, where folders cannot be locked; default: in the user's cache

	// Judged, if it is not nil, is the file that hooks were told of: nothing else is
	// opened, although links may have changed since.
	Judged *protocol.Touched
}

// Target is a path of the project that may be opened.
type Target struct {
	relative string // real, to the project
	folder   *Folder
	places   *protect.Places
}

// Resolve turns a path as a model wrote it into the real path relative to the
// project, links followed, and refuses what leads out or to a protected place, as
// it is written or as it is. What does not exist yet resolves through its nearest
// existing parent. What is then opened is compared with the places once more: a
// link put there in between is not followed.
func (f *Folder) Resolve(path string, writing bool) (*Target, error) {
	at, err := realpath.Look(f.Project, path)
	if err != nil {
		return nil, err
	}
	project, real := at.Project, at.Real
	if err := f.checkPath(real); err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(project, real)
	if err != nil || !filepath.IsLocal(relative) {
		return nil, errors.New("outside the project folder")
	}
	places := f.places(project, real, writing)
	for _, name := range []string{at.Absolute, real} {
		if err := places.Check(name, nil); err != nil {
			return nil, err
		}
	}
	if isTemporary(filepath.Base(real)) {
		return nil, errTemporary
	}
	return &Target{relative, f, places}, nil
}

func (f *Folder) places(project, path string, writing bool) *protect.Places {
	return protect.Find(protect.Options{Refused: f.Refused, State: f.State, Unwritten: f.Unwritten, Writing: writing}, project, path)
}

// Mentions returns the protected place that the words of a command name, "" if none
// does.
func (f *Folder) Mentions(words []string) string {
	project, err := filepath.EvalSymlinks(f.Project)
	if err != nil || len(words) == 0 {
		return ""
	}
	return f.places(project, project, true).Mentioned(words)
}

// checkPath is an error if a call leads elsewhere than when hooks judged it: a link was
// changed meanwhile, perhaps by a call at the same time.
func (f *Folder) checkPath(real string) error {
	if f.Judged == nil || f.Judged.RealPath == real {
		return nil
	}
	return fmt.Errorf("refused: it leads to another file than a moment ago, when hooks judged this call (%s, now %s): call the tool again", f.Judged.RealPath, real)
}

// checkLinks does the same for the names (hard links) of a file.
func (f *Folder) checkLinks(info fs.FileInfo) error {
	if f.Judged == nil {
		return nil
	}
	if _, names, known := realpath.Identify(info); !known || info.IsDir() || names <= uint64(max(f.Judged.Links, 1)) {
		return nil
	}
	return errors.New("refused: the file has more names (hard links) than a moment ago, when hooks judged this call: call the tool again")
}

// Path returns the real path, absolute.
func (t *Target) Path() string { return filepath.Join(t.places.Project, t.relative) }

// Root returns the real path of the project.
func (t *Target) Root() string { return t.places.Project }

// Relative returns the real path in the project, with slashes.
func (t *Target) Relative() string { return filepath.ToSlash(t.relative) }

// errMoved says that what was looked at is not what was opened.
var errMoved = errors.New("it was replaced while it was opened")

// errTemporary is why a file with the name of a temporary one is not opened.
var errTemporary = errors.New("refused: a file of this name is hookd's own, half written; it will be removed")

// enter opens a folder of the project one step at a time, each from the one before,
// so that what was opened is known for what it is. No link is followed: the path is
// real, and what has become one since is refused. Missing folders are made if asked
// for. The caller closes the folder.
func (t *Target) enter(relative string, make bool) (*os.Root, error) {
	dir, err := os.OpenRoot(t.folder.Project)
	if err != nil {
		return nil, fmt.Errorf("project folder: %w", err)
	}
	at := t.places.Project
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
func (t *Target) step(dir *os.Root, name, path string, make bool) (*os.Root, error) {
	before, err := dir.Lstat(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err = dir.Mkdir(name, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
			before, err = dir.Lstat(name)
		}
	}
	switch {
	case err != nil:
		return nil, fsutil.WithoutPath(err)
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errMoved
	case !before.IsDir():
		return nil, errors.New("not a directory")
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, fsutil.WithoutPath(err)
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errMoved
	}
	if err == nil {
		err = t.places.Check(path, after)
	}
	if err != nil {
		next.Close()
		return nil, fsutil.WithoutPath(err)
	}
	return next, nil
}

// judge compares an open folder with the places.
func (t *Target) judge(dir *os.Root, path string) error {
	info, err := dir.Stat(".")
	if err != nil {
		return fsutil.WithoutPath(err)
	}
	return t.places.Check(path, info)
}

// open opens a regular file of a folder that was entered, and returns what it is. It
// follows no link. A file that another call replaces just now is the new one.
func (t *Target) open(dir *os.Root, name string, flags int) (file *os.File, info fs.FileInfo, err error) {
	for range maxRaces {
		if file, info, err = t.openOnce(dir, name, flags); !errors.Is(err, errMoved) {
			break
		}
	}
	return file, info, err
}

func (t *Target) openOnce(dir *os.Root, name string, flags int) (*os.File, fs.FileInfo, error) {
	before, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, nil, fsutil.WithoutPath(err)
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, nil, errMoved
	case before.IsDir() && flags == os.O_RDONLY:
		return nil, nil, errors.New("is a folder")
	case !before.Mode().IsRegular():
		return nil, nil, errors.New("is not a regular file")
	}
	file, err := dir.OpenFile(name, flags|nonblock, 0) // a FIFO would block for ever
	if err != nil {
		return nil, nil, fsutil.WithoutPath(err)
	}
	after, err := file.Stat()
	if err == nil && (!os.SameFile(before, after) || !after.Mode().IsRegular()) {
		err = errMoved
	}
	if err == nil {
		err = t.places.Check(t.Path(), after)
	}
	if err != nil {
		file.Close()
		return nil, nil, fsutil.WithoutPath(err)
	}
	return file, after, nil
}

// maxRaces is how often a change is begun again because a program that knows no lock
// was faster.
const maxRaces = 10

// A file that is being written has a name that nobody else chooses: [rand.Text] between
// these. The file tools do not show such files, and remove those that a killed run left.
const temporaryBegin, temporaryEnd = ".hookd-", ".tmp"

func newTemporary() string { return temporaryBegin + rand.Text() + temporaryEnd }

// isTemporary reports whether a name is one of [newTemporary], in whatever case a
// file system keeps it. A person's .hookd-notes.tmp is none.
func isTemporary(name string) bool {
	random, begins := strings.CutPrefix(protect.Fold(name), temporaryBegin)
	random, ends := strings.CutSuffix(random, temporaryEnd)
	return begins && ends && len(random) == randomLength && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// randomLength is that of [rand.Text]: 128 bits, 5 in each letter (base32).
const randomLength = 26
