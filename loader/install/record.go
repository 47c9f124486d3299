package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/flock"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
	"github.com/hookd-dev/hookd/protocol"
)

// fileRecord is what an installation changed in one file, for taking it out again. It is
// written before the file is, so that it is never missing for what a file holds.
type fileRecord struct {
	Agent string    `json:"agent"`
	Scope Scope     `json:"scope"`
	File  string    `json:"file"` // the real path
	At    time.Time `json:"at"`

	Created bool     `json:"created,omitzero"` // there was no file
	Folders []string `json:"folders,omitzero"` // that were made for it, the outermost first
	Before  string   `json:"before,omitzero"`  // hash of the file without our entries
	After   string   `json:"after"`            // hash of the file with them

	// Made are the parts of the file that were not there, Inner what stood in those that
	// were empty.
	Blank *string     `json:"blank,omitzero"` // the whole text of a file that said nothing
	Made  [][]string  `json:"made,omitzero"`
	Inner []innerText `json:"inner,omitzero"`
}

// innerText is what stood in an empty part of a file.
type innerText struct {
	Path []string `json:"path"`
	Text string   `json:"text"`
}

func (r *fileRecord) made(path configtext.Path) bool {
	return slices.ContainsFunc(r.Made, func(names []string) bool { return slices.Equal(names, namesOf(path)) })
}

func (r *fileRecord) inner(path configtext.Path) (string, bool) {
	if r == nil {
		return "", false
	}
	for _, inner := range r.Inner {
		if slices.Equal(inner.Path, namesOf(path)) {
			return inner.Text, true
		}
	}
	return "", false
}

func namesOf(path configtext.Path) []string {
	names := make([]string, len(path))
	for i, step := range path {
		names[i] = step.Name
	}
	return names
}

// note records which of the parts that a path leads through are not there or are empty.
func (r *fileRecord) note(base *configtext.Document, path configtext.Path) {
	if base.Root == nil {
		blank := string(base.Text)
		r.Blank = &blank
	}
	for i := range len(path) + 1 {
		part := path[:i]
		inner, empty := base.Inner(part)
		switch {
		case empty:
			if _, known := r.inner(part); !known {
				r.Inner = append(r.Inner, innerText{namesOf(part), inner})
			}
		case i > 0 && base.Root.Find(part) == nil && !r.made(part):
			r.Made = append(r.Made, namesOf(part))
		}
	}
}

// records are all records of this user, in one file.
type records struct {
	V     int          `json:"v"`
	Files []fileRecord `json:"files"`
}

func (r *records) find(file string) *fileRecord {
	i := slices.IndexFunc(r.Files, func(f fileRecord) bool { return f.File == file })
	if i < 0 {
		return nil
	}
	return &r.Files[i]
}

// forget drops the record of a file. Folders that were made for it and are still there
// are remembered with another file in them.
func (r *records) forget(file string) {
	old := r.find(file)
	if old == nil {
		return
	}
	folders := old.Folders
	r.set(file, nil)
	for _, folder := range folders {
		i := slices.IndexFunc(r.Files, func(f fileRecord) bool { return strings.HasPrefix(f.File, folder+string(filepath.Separator)) })
		if i >= 0 && !slices.Contains(r.Files[i].Folders, folder) {
			r.Files[i].Folders = append(r.Files[i].Folders, folder)
		}
	}
}

func (r *records) set(file string, record *fileRecord) {
	r.Files = slices.DeleteFunc(r.Files, func(f fileRecord) bool { return f.File == file })
	if record != nil {
		r.Files = append(r.Files, *record)
	}
}

// store is where the records and the bytes from before are kept: hookd's state folder.
type store string

func (st store) folder() string { return filepath.Join(string(st), "install") }

func (st store) recordFile() string { return filepath.Join(st.folder(), "files.json") }

// maxRecords bounds the file of records.
const maxRecords = 16 << 20

// records reads the records. Without a file there are none.
func (st store) records() (*records, error) {
	text, err := fsutil.ReadRegular(st.recordFile(), maxRecords)
	if errors.Is(err, fs.ErrNotExist) {
		return &records{V: 1}, nil
	}
	var r records
	if err == nil {
		err = protocol.PlainError(json.Unmarshal(text, &r))
	}
	if err == nil && r.V != 1 {
		err = fmt.Errorf("it is of version %d, and this hookd knows version 1", r.V)
	}
	if err != nil {
		return nil, &FileError{File: st.recordFile(), Err: fmt.Errorf("what earlier installations changed cannot be read: %w", err),
			Remedy: "move the file away; hookd uninstall then takes out what it recognises"}
	}
	return &r, nil
}

func (st store) writeRecords(r *records) error {
	text, err := json.Marshal(r, jsontext.WithIndent(" "), json.Deterministic(true))
	if err != nil {
		return err
	}
	return fsutil.ReplaceFile(st.recordFile(), append(text, '\n'), fsutil.Synced)
}

// lock keeps two installations of this user apart.
func (st store) lock() (*flock.Flock, error) {
	if err := os.MkdirAll(st.folder(), 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(st.folder(), ".lock")
	lock := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	_, err := lock.TryLockContext(ctx, 10*time.Millisecond)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &FileError{File: path, Err: fmt.Errorf("another hookd install or uninstall is at work, and is not done after %s", lockLimit), Remedy: "wait for it, or end it, and run the command again"}
	case err != nil:
		return nil, &FileError{File: path, Err: fmt.Errorf("the records of installations cannot be locked: %w", err), Remedy: "make the folder writable for you, with room left"}
	}
	return lock, nil
}

// lockLimit is how long an installation waits for another one: only the writing is under the
// lock.
const lockLimit = 20 * time.Second

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// backup is where the bytes of a file from before an installation are kept. Its name
// says which bytes it holds.
func (st store) backup(real, hash string) string {
	return filepath.Join(st.folder(), "backup", hash[:16]+"-"+filepath.Base(real))
}

// before returns the bytes of a file from before an installation, nil if they are not
// kept any more.
func (st store) before(r *fileRecord) []byte {
	if r.Before == "" {
		return nil
	}
	text, err := fsutil.ReadRegular(st.backup(r.File, r.Before), maxFile)
	if err != nil || hashOf(text) != r.Before {
		return nil
	}
	return text
}
