package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/flock"
	"github.com/hookd-dev/hookd/loader/internal/bundle"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
)

// Decision is what a person decided about a hook.
type Decision string

const (
	Allowed Decision = "allowed"
	Denied  Decision = "denied"
)

// trustRecord is one decision, with everything that was decided about. The
// recorded entry tells what a guard was, once it is changed or gone.
type trustRecord struct {
	Hook     string           `json:"hook"`          // of what is no hook its folder and name: skills/x.md, mcpServers/git
	Kind     Kind             `json:"kind,omitzero"` // "": a hook
	Decision Decision         `json:"decision"`
	Hash     string           `json:"hash"`
	At       time.Time        `json:"at"`
	Bundle   bundle.Bundle    `json:"bundle"`
	Pins     interpreter.Pins `json:"starts,omitzero"` // what started it when it was allowed
	InPlace  bool             `json:"inPlace,omitzero"`
	Command  bool             `json:"command,omitzero"`

	// Past are the hashes that were allowed before, the newest last.
	Past []pastHash `json:"past,omitzero"`
}

// pastHash is something that was allowed before something else was.
type pastHash struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

// maxPast is how many earlier hashes a record keeps: enough for going back and
// forth between branches.
const maxPast = 20

// allowedBefore is when a bundle was allowed last, nil if it never was or is now.
func (t *trustRecord) allowedBefore(b *bundle.Bundle) *time.Time {
	if b == nil || b.Hash == t.Hash {
		return nil
	}
	for _, past := range slices.Backward(t.Past) {
		if past.Hash == b.Hash {
			return &past.At
		}
	}
	return nil
}

// replaces keeps what was allowed before in the record that takes its place.
func (t *trustRecord) replaces(old *trustRecord) {
	t.Past = old.Past
	if old.Decision != Allowed || old.Hash == "" || old.Hash == t.Hash {
		return
	}
	t.Past = append(slices.DeleteFunc(slices.Clone(t.Past), func(p pastHash) bool { return p.Hash == old.Hash || p.Hash == t.Hash }), pastHash{old.Hash, old.At})
	t.Past = t.Past[max(0, len(t.Past)-maxPast):]
}

// disabledRecord switches a hook off for a while.
type disabledRecord struct {
	Layer string     `json:"layer"`
	Hook  string     `json:"hook"`
	At    time.Time  `json:"at"`
	Until *time.Time `json:"until"` // null: until enabled again
}

// decisions are everything a person decided about one project.
type decisions struct {
	V        int              `json:"v"`
	Project  string           `json:"project"` // real path
	Hooks    []trustRecord    `json:"hooks"`
	Disabled []disabledRecord `json:"disabled"`
}

func (d *decisions) find(hook string) *trustRecord {
	for i := range d.Hooks {
		if d.Hooks[i].Hook == hook {
			return &d.Hooks[i]
		}
	}
	return nil
}

func (d *decisions) set(r trustRecord) {
	if old := d.find(r.Hook); old != nil {
		r.replaces(old)
		*old = r
		return
	}
	d.Hooks = append(d.Hooks, r)
}

func (d *decisions) remove(hook string) {
	d.Hooks = slices.DeleteFunc(d.Hooks, func(r trustRecord) bool { return r.Hook == hook })
}

func (d *decisions) disabled(layer, hook string, now time.Time) *disabledRecord {
	for i := range d.Disabled {
		r := &d.Disabled[i]
		if r.Layer == layer && r.Hook == hook && (r.Until == nil || now.Before(*r.Until)) {
			return r
		}
	}
	return nil
}

// records is the folder of decisions, one file per project.
type records struct{ dir string }

// maxRecordFile bounds what is read of one project's decisions.
const maxRecordFile = 64 << 20

func (r records) file(project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(r.dir, hex.EncodeToString(sum[:16])+".json")
}

// load returns the decisions about a project; none is not an error.
func (r records) load(project string) (*decisions, error) {
	none := &decisions{V: 1, Project: project}
	name := r.file(project)
	f, err := os.OpenFile(name, files.OpenFlags|files.NoFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the trust records: %w", err)
	}
	defer f.Close()
	st, err := files.Fstat(f)
	if err == nil && !st.Mode.IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err == nil {
		err = files.CheckPrivate(name, st)
	}
	if err != nil {
		return nil, fmt.Errorf("read the trust records: %w", err)
	}
	raw, err := files.ReadSized(f, min(st.Size, maxRecordFile))
	if err != nil {
		return nil, fmt.Errorf("read the trust records: %w", err)
	}
	var d decisions
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("read the trust records: %s: %w", name, err)
	}
	if d.V != 1 || d.Project != project {
		return nil, fmt.Errorf("read the trust records: %s is not about %s", name, project)
	}
	for i := range d.Hooks {
		if err := d.Hooks[i].check(); err != nil {
			return nil, fmt.Errorf("read the trust records: %s: %w", name, err)
		}
	}
	return &d, nil
}

// check recomputes the recorded bundle's hash, so that a record never vouches
// for anything but what it lists.
func (t *trustRecord) check() error {
	if t.Decision == Denied {
		return nil // vouches for nothing
	}
	if err := t.Bundle.Seal(); err != nil {
		return err
	}
	if t.Bundle.Hash != t.Hash {
		return fmt.Errorf("the record of %s does not fit its hash", t.Hook)
	}
	return nil
}

// change updates the decisions about a project, one process at a time.
func (r records) change(project string, update func(*decisions) error) error {
	if !utf8.ValidString(project) {
		return fmt.Errorf("%q is not valid UTF-8, so no record can name it: rename the folder", project)
	}
	if err := files.PrivateFolder(r.dir); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(r.dir, ".lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock the trust records: %w", err)
	}
	defer lock.Close()
	d, err := r.load(project)
	if err != nil {
		return err
	}
	if err := update(d); err != nil {
		return err
	}
	raw, err := json.Marshal(d, jsontext.WithIndent(" "))
	if err != nil {
		return err
	}
	return fsutil.ReplaceFile(r.file(project), append(raw, '\n'), fsutil.Synced)
}

// recorded reports whether anything of a project was allowed.
func (r records) recorded(project string) bool {
	// Most folders have none, and the look that says so costs least.
	if _, err := files.Lstat(r.file(project)); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	d, err := r.load(project)
	// Records that cannot be read count: the load that follows says so.
	return err != nil || slices.ContainsFunc(d.Hooks, func(t trustRecord) bool { return t.Decision == Allowed })
}

// all returns the decisions about every project; a file that cannot be read is
// among the errors.
func (r records) all() (list []*decisions, err error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		var head struct {
			Project string `json:"project"`
		}
		raw, err := os.ReadFile(filepath.Join(r.dir, entry.Name()))
		if err == nil {
			err = json.Unmarshal(raw, &head)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", entry.Name(), err))
			continue
		}
		d, err := r.load(head.Project)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		list = append(list, d)
	}
	return list, errors.Join(problems...)
}
