package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// ErrChanged says that a file is not as it was when the plan was made. Nothing of it was
// written.
var ErrChanged = errors.New("it changed while you decided; it was left as it is")

// Applied is what was written.
type Applied struct {
	Backups []Backup
}

// Backup is where the bytes of a file from before are kept.
type Backup struct{ File, Copy string }

// Apply carries a plan out, one file after the other. Each file is replaced in one step;
// an error leaves the files before it done and those after it as they were, and the same
// plan can be made and applied again.
func (in *Installer) Apply(p *Plan) (applied Applied, err error) {
	lock, err := in.store().lock()
	if err != nil {
		return applied, err
	}
	defer lock.Close()
	for i := range p.Files {
		c := &p.Files[i]
		fsutil.RemoveLeft(filepath.Dir(c.Real)) // before the record of its file goes
		if !c.Changes() {
			continue
		}
		kept, err := in.change(c, p.Removal)
		if kept != "" {
			applied.Backups = append(applied.Backups, Backup{c.Path, kept})
		}
		if err != nil {
			return applied, err
		}
	}
	if p.Removal {
		removeFolders(p.Files)
	}
	return applied, in.tidy(p.Agent, p.Scope)
}

// Tidy removes what was left by installations and removals in an agent that were killed.
// Apply does so, too.
func (in *Installer) Tidy(a *Agent, s Scope) error {
	lock, err := in.store().lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	return in.tidy(a, s)
}

// tidy looks at every file that an installation was begun for: one that is not there needs
// neither a record nor the folders that were made for it.
func (in *Installer) tidy(a *Agent, s Scope) error {
	known, err := in.store().records()
	if err != nil {
		return err
	}
	var gone []fileRecord
	for _, rec := range known.Files {
		if rec.Agent != a.Name || rec.Scope != s {
			continue
		}
		fsutil.RemoveLeft(filepath.Dir(rec.File))
		if _, err := os.Lstat(rec.File); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, rec)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for i := range gone {
		known.forget(gone[i].File)
		for _, folder := range slices.Backward(gone[i].Folders) {
			_ = os.Remove(folder)
		}
	}
	return in.store().writeRecords(known)
}

// change writes one file. The order lets a crash at any moment leave either the old file
// or the new one, with what is needed to go back: backup, record, file.
func (in *Installer) change(c *Change, removal bool) (backup string, err error) {
	old, err := in.asPlanned(c)
	if err != nil {
		return "", err
	}
	if backup, err = in.store().keep(c); err != nil {
		return "", err
	}
	in.step("backup")
	known, err := in.store().records()
	if err != nil {
		return backup, err
	}
	if !removal {
		for _, folder := range missingFolders(c.Real) {
			if !slices.Contains(c.record.Folders, folder) {
				c.record.Folders = append(c.record.Folders, folder)
			}
		}
		known.set(c.Real, c.record)
		if err := in.store().writeRecords(known); err != nil {
			return backup, err
		}
		in.step("record")
		if err := makeFolders(c); err != nil {
			return backup, &FileError{File: c.Path, Err: fsutil.WithoutPath(err), Remedy: remedyOf(err)}
		}
		in.step("folder")
	}
	if err := in.write(c, old); err != nil {
		return backup, err
	}
	in.step("file")
	if removal {
		known.forget(c.Real)
		return backup, in.store().writeRecords(known)
	}
	return backup, nil
}

// makeFolders makes the folders for a file. Those of the machine's settings, and the file,
// are there for every user, whatever the administrator's mask is.
func makeFolders(c *Change) error {
	missing := missingFolders(c.Real)
	if err := os.MkdirAll(filepath.Dir(c.Real), 0o755); err != nil {
		return err
	}
	if c.record.Scope != Managed {
		return nil
	}
	for _, folder := range missing {
		if err := os.Chmod(folder, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// remedyOf says what helps against an error of the system.
func remedyOf(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC) || isQuota(err):
		return "make room on that disk, and run the command again"
	case errors.Is(err, syscall.EROFS):
		return "that disk is mounted read-only: mount it writable, and run the command again"
	}
	return "make its folder writable for you"
}

// step tells a test how far the writing is.
func (in *Installer) step(name string) {
	if in.reached != nil {
		in.reached(name)
	}
}

// asPlanned returns the file as it is now, nil if there is none, and an error if it is
// not as it was when the plan was made, or not this user's to replace.
func (in *Installer) asPlanned(c *Change) (fs.FileInfo, error) {
	now, err := open(c.Path)
	if err != nil {
		return nil, err
	}
	if now.Real != c.Real || now.Exists != c.Exists || !bytes.Equal(now.Before, c.Before) {
		return nil, &FileError{File: c.Path, Err: ErrChanged, Remedy: "run the command again"}
	}
	if !c.Exists {
		return nil, nil
	}
	info, err := os.Stat(c.Real)
	switch {
	case err != nil:
		return nil, &FileError{File: c.Path, Err: fsutil.WithoutPath(err), Remedy: "run the command again"}
	case info.Mode()&0o200 == 0:
		return nil, &FileError{File: c.Path, Err: errors.New("the file is read-only"), Remedy: "if it is yours to change: chmod u+w " + c.Real}
	case !fsutil.MayKeepOwner(info):
		return nil, &FileError{File: c.Path, Err: errors.New("the file belongs to another user, who would lose it"), Remedy: "let its owner install hookd"}
	}
	return info, nil
}

// keep writes the bytes of a file as they are, and those without our entries, to the
// state of the user.
func (st store) keep(c *Change) (copied string, err error) {
	if !c.Exists {
		return "", nil
	}
	folder := filepath.Join(st.folder(), "backup")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for _, text := range [][]byte{c.base, c.Before} {
		if text == nil {
			continue
		}
		copied = st.backup(c.Real, hashOf(text))
		if kept, err := fsutil.ReadRegular(copied, maxFile); err == nil && bytes.Equal(kept, text) {
			continue
		}
		if err := fsutil.ReplaceFile(copied, text, fsutil.Synced); err != nil {
			return "", &FileError{File: c.Path, Err: fmt.Errorf("no copy of it can be kept in %s: %w", folder, fsutil.WithoutPath(err)), Remedy: remedyOf(err) + "; the file was left as it is"}
		}
	}
	return copied, nil
}

// write replaces or removes the file.
func (in *Installer) write(c *Change, old fs.FileInfo) error {
	unchanged := func() error {
		in.step("temporary")
		_, err := in.asPlanned(c)
		return err
	}
	if !c.Delete {
		err := fsutil.ReplaceSame(c.Real, c.After, old, c.Mode, unchanged)
		if err == nil && old == nil && c.record != nil && c.record.Scope == Managed {
			err = os.Chmod(c.Real, c.Mode)
		}
		return wrote(c, err)
	}
	if err := unchanged(); err != nil {
		return err
	}
	if err := os.Remove(c.Real); err != nil {
		return wrote(c, err)
	}
	return nil
}

// removeFolders removes the folders that were made for files that are gone, where nothing
// is left in them.
func removeFolders(files []Change) {
	var folders []string
	for i := range files {
		if files[i].Delete && files[i].record != nil {
			folders = append(folders, files[i].record.Folders...)
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return len(b) - len(a) })
	for _, folder := range folders {
		_ = os.Remove(folder)
	}
}

func wrote(c *Change, err error) error {
	var file *FileError
	if err == nil || errors.As(err, &file) {
		return err
	}
	return &FileError{File: c.Path, Err: fsutil.WithoutPath(err), Remedy: remedyOf(err) + "; the file was left as it is"}
}

// missingFolders returns the folders that must be made for a file, the outermost first.
func missingFolders(path string) (folders []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		folders = append(folders, dir)
	}
	slices.Reverse(folders)
	return folders
}
