package loader

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// State is what the trust records say about a hook of a project.
type State string

const (
	StateTrusted State = "trusted"
	StateNew     State = "new"
	StateChanged State = "changed"
	StateGone    State = "gone"
	StateDenied  State = "denied"
)

// Plan is everything that would run in a project if it were allowed, beside what
// was allowed before. Its texts come from the project: whoever shows them makes
// control characters visible.
type Plan struct {
	Project string // real path
	Hash    string // of the whole project: what trust --print prints and --expect compares
	Items   []PlanItem
}

// PlanItem is one hook of a plan, or one of the project's materials.
type PlanItem struct {
	Hook    string // of a material its folder and name: skills/x.md, mcpServers/git
	Kind    Kind
	State   State
	Hash    string // of the bundle; "" if it is gone or cannot be allowed
	Was     string // hash of the bundle that was allowed, "" if none was
	Path    string // the hook's own file, "" for a command
	Guard   bool   // could refuse an event, or must answer
	InPlace bool   // the original runs, so only what the hash names is watched
	Damaged bool   // trusted, but its private copy is missing or was changed

	// Trouble says why the hook cannot be allowed, and Remedy what to do; both
	// are empty if it can.
	Trouble, Remedy string

	Entry, WasEntry             jsontext.Value // canonical JSON; nil if there is none
	Project, WasProject         jsontext.Value // settings for all hooks of the project
	Interpreter, WasInterpreter string
	Program, WasProgram         string
	Unwatched                   []string // code of the project that runs and that the hash does not cover, in words
	Files                       []PlanFile

	bundle *bundle
	record *trustRecord
	pins   pins
}

// PlanFile is one file of a hook, as it is and as it was allowed.
type PlanFile struct {
	Name          string
	Path          string
	Mode, WasMode fs.FileMode // 0 where there is none
	Sum, WasSum   string      // SHA-256, hex; "" where there is none
	Size          int64

	// Text and WasText are the contents, nil where there are none, where they
	// are no text, or where they are longer than shownBytes.
	Text, WasText []byte
}

// Changed reports whether the file differs from what was allowed.
func (f *PlanFile) Changed() bool { return f.Sum != f.WasSum || f.Mode != f.WasMode }

// shownBytes is how much of a file a plan holds for showing.
const shownBytes = 256 << 10

// survey finds and describes every hook of the project without running any.
func (l *loader) survey(ctx context.Context) (*load, error) {
	p := l.newLoad()
	p.readDecisions()
	if p.refuse != nil {
		return nil, p.refuse
	}
	p.readSettings()
	p.gather(protocol.Project)
	p.gatherMaterials(protocol.Project)
	for _, f := range p.hooks {
		p.describeForTrust(f)
	}
	return p, ctx.Err()
}

// projectHash is one hash for all hooks of the project that could be allowed.
func (p *load) projectHash() string {
	type item struct {
		Name string `json:"name"`
		Hash string `json:"hash"`
	}
	items := []item{}
	for _, f := range p.hooks {
		if f.layer == protocol.Project && f.bundle != nil && !f.faulty() && (f.trouble == nil || f.unstarted) {
			items = append(items, item{f.name, f.freshHash()})
		}
	}
	for _, f := range p.projectMaterials() {
		if f.bundle != nil && (f.trouble == nil || f.unstarted) {
			items = append(items, item{f.name, f.freshHash()})
		}
	}
	slices.SortFunc(items, func(a, b item) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	raw, err := canonical(items)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte("project\n"), raw...))
	return hashPrefix + hex.EncodeToString(sum[:])
}

func (p *load) plan() (*Plan, error) {
	plan := &Plan{Project: p.project, Hash: p.projectHash()}
	for _, f := range slices.Concat(p.hooks, p.materials) {
		if f.layer != protocol.Project || !f.listed && f.record == nil {
			continue
		}
		item, err := p.planItem(f)
		if err != nil {
			return nil, err
		}
		plan.Items = append(plan.Items, item)
	}
	return plan, nil
}

func (p *load) planItem(f *found) (PlanItem, error) {
	h := &f.resolution.Hook
	item := PlanItem{Hook: f.name, Kind: KindHook, Path: f.path, Guard: couldBlock(h), InPlace: h.InPlace, record: f.record}
	if f.kind != "" {
		item.Kind, item.Guard = f.kind, false
	}
	was := bundle{}
	if f.record != nil {
		was = f.record.Bundle
		item.Was = f.record.Hash
		item.WasEntry, item.WasProject = was.Entry, was.Project
		item.WasInterpreter, item.WasProgram = f.shownPins(f.record.recordedPins())
	}
	item.State = f.state()
	if item.State == StateGone && f.kind == "" {
		item.Guard = true
	}
	item.Trouble, item.Remedy = f.cannotBeAllowed()
	item.Damaged = item.State == StateTrusted && !item.InPlace && p.store.verify(f.bundle) != nil
	var now bundle
	if f.bundle != nil {
		now = *f.bundle
		item.Hash, item.Entry, item.Project = now.hash, now.Entry, now.Project
		item.pins = p.startersNow(f)
		item.Interpreter, item.Program = f.shownPins(item.pins)
		item.bundle = f.bundle
		p.seeUnwatched(f)
		item.Unwatched = f.unwatched
	}
	for _, m := range now.Members {
		file := PlanFile{Name: m.Name, Path: m.path, Mode: m.Mode, Sum: m.Sum, Size: m.size}
		var err error
		if file.Text, err = readShown(m); err != nil {
			return item, err
		}
		item.Files = append(item.Files, file)
	}
	for _, m := range was.Members {
		old := m
		old.path = p.store.path(item.Was, m.Name)
		i := slices.IndexFunc(item.Files, func(file PlanFile) bool { return file.Name == m.Name })
		if i < 0 {
			item.Files = append(item.Files, PlanFile{Name: m.Name})
			i = len(item.Files) - 1
		}
		file := &item.Files[i]
		file.WasMode, file.WasSum = m.Mode, m.Sum
		if st, err := stat(old.path); err == nil {
			old.size = st.Size
			// A copy that cannot be shown any more is only a missing diff.
			file.WasText, _ = readShown(old)
		}
	}
	return item, nil
}

// state compares what is there with the records.
func (f *found) state() State {
	r := f.record
	switch {
	case r == nil:
		return StateNew
	case r.Decision == Denied:
		return StateDenied
	case f.bundle != nil && f.bundle.hash == r.Hash:
		return StateTrusted
	case !f.isThere():
		return StateGone
	}
	return StateChanged
}

// cannotBeAllowed says why a hook that is there cannot be allowed as it is.
func (f *found) cannotBeAllowed() (trouble, remedy string) {
	switch {
	case f.faulty():
		return "its description is faulty", "correct what hookd check says about it"
	case f.trouble != nil:
		return f.trouble.why, f.trouble.remedy
	case f.file != nil && f.file.unsafe != "":
		return f.file.unsafe, "make it yours and writable by you only: chown, chmod go-w"
	case f.bundle == nil && f.isThere():
		return "it cannot be read", "make it a readable regular file"
	}
	return "", ""
}

// readShown reads a file for showing. What is shown must be what is hashed.
func readShown(m member) ([]byte, error) {
	if m.size > shownBytes {
		return nil, nil
	}
	var text bytes.Buffer
	c, err := readContent(m.path, &text)
	if err != nil {
		return nil, err
	}
	if c.sum != m.Sum {
		return nil, fmt.Errorf("%s: %w", m.path, ErrChangedSince)
	}
	if !utf8.Valid(text.Bytes()) || bytes.IndexByte(text.Bytes(), 0) >= 0 {
		return nil, nil
	}
	return text.Bytes(), nil
}
