package records

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
	"github.com/hookd-dev/hookd/protocol"

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

// Record is one decision, with everything that was decided about. The
// recorded entry tells what a guard was, once it is changed or gone.
type Record struct {
	Hook     string           `json:"hook"`          // of what is no hook its kind and name: skills/x.md, mcpServers/git, instructions/AGENTS.md
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

// AllowedBefore is when a bundle was allowed last, nil if it never was or is now.
func (t *Record) AllowedBefore(b *bundle.Bundle) *time.Time {
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
func (t *Record) replaces(old *Record) {
	t.Past = old.Past
	if old.Decision != Allowed || old.Hash == "" || old.Hash == t.Hash {
		return
	}
	t.Past = append(slices.DeleteFunc(slices.Clone(t.Past), func(p pastHash) bool { return p.Hash == old.Hash || p.Hash == t.Hash }), pastHash{old.Hash, old.At})
	t.Past = t.Past[max(0, len(t.Past)-maxPast):]
}

// DisabledRecord switches a hook off for a while.
type DisabledRecord struct {
	Layer string     `json:"layer"`
	Hook  string     `json:"hook"`
	At    time.Time  `json:"at"`
	Until *time.Time `json:"until"` // null: until enabled again
}

// Decisions are everything a person decided about one project.
type Decisions struct {
	V        int              `json:"v"`
	Project  string           `json:"project"` // real path
	Hooks    []Record         `json:"hooks"`
	Disabled []DisabledRecord `json:"disabled"`
}

// Find returns the record of a hook or resource, nil if there is none.
func (d *Decisions) Find(hook string) *Record {
	for i := range d.Hooks {
		if d.Hooks[i].Hook == hook {
			return &d.Hooks[i]
		}
	}
	return nil
}

// Set records a decision in the place of an earlier one about the same.
func (d *Decisions) Set(r Record) {
	if old := d.Find(r.Hook); old != nil {
		r.replaces(old)
		*old = r
		return
	}
	d.Hooks = append(d.Hooks, r)
}

// Remove forgets the decision about a hook or resource.
func (d *Decisions) Remove(hook string) {
	d.Hooks = slices.DeleteFunc(d.Hooks, func(r Record) bool { return r.Hook == hook })
}

// SwitchedOff returns the record by which a hook is switched off at a moment, nil if it
// is not.
func (d *Decisions) SwitchedOff(layer, hook string, now time.Time) *DisabledRecord {
	for i := range d.Disabled {
		r := &d.Disabled[i]
		if r.Layer == layer && r.Hook == hook && (r.Until == nil || now.Before(*r.Until)) {
			return r
		}
	}
	return nil
}

// A Folder holds the decisions, one file per project.
type Folder struct{ Dir string }

// maxRecordFile bounds what is read of one project's decisions.
const maxRecordFile = 64 << 20

// File returns the path of the file about a project.
func (r Folder) File(project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(r.Dir, hex.EncodeToString(sum[:16])+".json")
}

// Load returns the decisions about a project; none is not an error.
func (r Folder) Load(project string) (*Decisions, error) {
	name := r.File(project)
	raw, err := r.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Decisions{V: 1, Project: project}, nil
	case err != nil:
		return nil, fmt.Errorf("read the trust records: %w", err)
	}
	var d Decisions
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("read the trust records: %s: %w", name, protocol.PlainError(err))
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

// read returns the text of a file of decisions that is this user's alone.
func (r Folder) read(name string) ([]byte, error) {
	f, err := os.OpenFile(name, files.OpenFlags|files.NoFollow, 0)
	if err != nil {
		return nil, err
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
		return nil, err
	}
	return files.ReadSized(f, min(st.Size, maxRecordFile))
}

// check recomputes the recorded bundle's hash, so that a record never vouches
// for anything but what it lists.
func (t *Record) check() error {
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

// Change updates the decisions about a project, one process at a time.
func (r Folder) Change(project string, update func(*Decisions) error) error {
	if !utf8.ValidString(project) {
		return fmt.Errorf("%q is not valid UTF-8, so no record can name it: rename the folder", project)
	}
	if err := files.PrivateFolder(r.Dir); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(r.Dir, ".lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock the trust records: %w", err)
	}
	defer lock.Close()
	d, err := r.Load(project)
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
	return fsutil.ReplaceFile(r.File(project), append(raw, '\n'), fsutil.Synced)
}

// Recorded reports whether anything of a project was allowed. Records that cannot be
// read count: the load that follows says so.
func (r Folder) Recorded(project string) bool {
	d, err := r.Load(project)
	return err != nil || d.AnyAllowed()
}

// All returns the decisions about every project; a file that cannot be read is
// among the errors.
func (r Folder) All() (list []*Decisions, err error) {
	entries, err := os.ReadDir(r.Dir)
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
		raw, err := os.ReadFile(filepath.Join(r.Dir, entry.Name()))
		if err == nil {
			err = protocol.PlainError(json.Unmarshal(raw, &head))
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", entry.Name(), err))
			continue
		}
		d, err := r.Load(head.Project)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		list = append(list, d)
	}
	return list, errors.Join(problems...)
}

// Kind is what a person decides about: a hook, or what a project brings along
// for the agent loop.
type Kind string

const (
	KindHook   Kind = "hook"
	KindSkill  Kind = "skill"  // .acai/skills/NAME.md or .acai/skills/NAME/SKILL.md
	KindRecipe Kind = "recipe" // .acai/recipes/NAME.md
	KindServer Kind = "server" // an entry of agent.mcpServers

	KindInstructions Kind = "instructions" // AGENTS.md, or CLAUDE.md where there is none

	KindSettings Kind = "settings" // the project's settings file
)

// IsResource reports whether a decision is not about a hook.
func (t *Record) IsResource() bool { return t.Kind != "" && t.Kind != KindHook }

// RecordedPins are what started the hook when it was allowed. Records of earlier
// versions have real paths among what was hashed.
func (t *Record) RecordedPins() interpreter.Pins {
	found := t.Pins
	legacy := func(real string) *interpreter.Pin {
		if !filepath.IsAbs(real) {
			return nil
		}
		return &interpreter.Pin{Path: real, Real: real}
	}
	if found.Interpreter == nil {
		found.Interpreter = legacy(t.Bundle.Interpreter)
	}
	if found.Program == nil {
		found.Program = legacy(t.Bundle.Program)
	}
	return found
}

// Allows reports whether exactly this bundle was allowed under a name.
func (d *Decisions) Allows(name string, b *bundle.Bundle) bool {
	r := d.Find(name)
	return r != nil && b != nil && r.Decision == Allowed && r.Hash == b.Hash
}

// AnyAllowed reports whether anything was allowed.
func (d *Decisions) AnyAllowed() bool {
	return slices.ContainsFunc(d.Hooks, func(r Record) bool { return r.Decision == Allowed })
}

// Enable removes what switches a hook off.
func (d *Decisions) Enable(layer, name string) {
	d.Disabled = slices.DeleteFunc(d.Disabled, func(r DisabledRecord) bool { return r.Layer == layer && r.Hook == name })
}
