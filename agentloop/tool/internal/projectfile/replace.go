package projectfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol/realpath"
)

// staleAfter is the age of a temporary file that nobody writes any more, where the
// lock does not tell.
const staleAfter = time.Hour

// errRaced says that a program which knows no lock changed the file meanwhile.
var errRaced = errors.New("another program changed it just now; nothing was written: read it again")

// sweep removes what killed runs left in the folder. Its lock is held, so nobody
// writes a temporary file there now.
func (h *LockedFile) sweep() {
	entries, err := fs.ReadDir(h.dir.FS(), ".")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !isTemporary(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err != nil || h.lock.onFile && time.Since(info.ModTime()) < staleAfter {
			continue
		}
		_ = h.dir.Remove(entry.Name())
	}
}

// Replace gives the file a new content. lost says what of the old file could not be kept.
//
// A new file of the same name takes its place: a reader, and what is left after a crash or
// on a full disk, is the old content or the new, never a part. Mode, owner and extended
// attributes are kept as far as this user may. A file with several names (hard links)
// becomes a file of its own, since to write into the old one would change it under its
// other names, too, and could tear it.
func (h *LockedFile) Replace(content []byte) (lost []string, err error) {
	name := newTemporary()
	file, err := h.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.firstMode())
	if err != nil {
		return nil, h.notWhole(err)
	}
	defer func() {
		if err != nil {
			_ = h.dir.Remove(name)
		}
	}()
	if h.Info != nil {
		lost = h.keepMetadata(file)
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync() // else a power cut could leave the new name with nothing in it
	}
	written, statErr := file.Stat()
	if err = errors.Join(err, statErr, file.Close()); err != nil {
		return nil, fsutil.WithoutPath(err)
	}
	if err := h.unchanged(name, written); err != nil {
		return nil, err
	}
	if err := h.dir.Rename(name, h.name); err != nil {
		return nil, h.notWhole(err)
	}
	h.Info = written
	return lost, nil
}

// firstMode is the mode with which the new file is made. What replaces another is
// nobody else's to read before it has that one's mode.
func (h *LockedFile) firstMode() fs.FileMode {
	if h.Info == nil {
		return 0o644 // less what the user masks
	}
	return 0o600
}

// unchanged looks once more at the file and its successor, as late as can be.
func (h *LockedFile) unchanged(successor string, written fs.FileInfo) error {
	if now, err := h.dir.Lstat(successor); err != nil || !os.SameFile(now, written) {
		return errRaced
	}
	now, err := h.dir.Lstat(h.name)
	switch {
	case h.Info == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || h.Info == nil,
		!os.SameFile(now, h.Info), now.Size() != h.Info.Size(), !now.ModTime().Equal(h.Info.ModTime()):
		return errRaced
	}
	return nil
}

// notWhole explains an error of making or renaming a file where the file itself could
// be written.
func (h *LockedFile) notWhole(err error) error {
	if h.Info == nil {
		return fsutil.WithoutPath(err)
	}
	return fmt.Errorf("cannot be replaced as a whole, and so was left as it is: %w (its folder must be writable, and the file not mounted by itself)", fsutil.WithoutPath(err))
}

// keepMetadata gives the new file the owner, mode and attributes of the old one.
func (h *LockedFile) keepMetadata(file *os.File) (lost []string) {
	if _, names, known := realpath.Identify(h.Info); known && names > 1 {
		lost = append(lost, fmt.Sprintf("the file had %d names (hard links); the others keep the old content", names))
	}
	if !fsutil.KeepOwner(file, h.Info) {
		lost = append(lost, "the file had another owner or group, who could not be kept")
	}
	mode := h.Info.Mode() & (fs.ModePerm | fs.ModeSticky)
	if h.Info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		lost = append(lost, "the set-user-id and set-group-id bits were dropped")
	}
	if old, err := h.dir.OpenFile(h.name, os.O_RDONLY|nonblock, 0); err == nil {
		fsutil.KeepAttributes(file, old)
		old.Close()
	}
	if file.Chmod(mode) != nil {
		lost = append(lost, fmt.Sprintf("the file's mode %v could not be kept", mode))
	}
	return lost
}
