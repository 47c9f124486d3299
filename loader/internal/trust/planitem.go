package trust

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/environment"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
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

// PlanItem is one hook of a plan, or one of the project's resources.
type PlanItem struct {
	Hook    string // of a resource its folder and name: skills/x.md, mcpServers/git
	Kind    records.Kind
	State   State
	Hash    string // of the bundle; "" if it is gone or cannot be allowed
	Was     string // hash of the bundle that was allowed, "" if none was
	Path    string // the hook's own file, "" for a command
	Guard   bool   // could refuse an event, or must answer
	From    string // where another agent's settings name it, file:line; "" for a hook of our own settings or folders
	InPlace bool   // the original runs, so only what the hash names is watched
	In      string // the main checkout in which the very same is allowed, and which lets it count here; "" if it does not
	Damaged bool   // trusted, but its private copy is missing or was changed

	// AllowedBefore is when exactly this was allowed last, if it was changed since
	// and is back; nil if it never was. It is asked about all the same: going back
	// to a weaker guard is an attack, too.
	AllowedBefore *time.Time

	// Trouble says why the hook cannot be allowed, and Remedy what to do; both
	// are empty if it can.
	Trouble, Remedy string

	// Faults are single values of settings that do not count.
	Faults []string

	Entry, WasEntry             protocol.RawMessage // canonical JSON; nil if there is none
	Interpreter, WasInterpreter string
	Program, WasProgram         string
	Unwatched                   []string // code of the project that runs and that the hash does not cover, in words
	Files                       []PlanFile

	bundle *bundle.Bundle
	record *records.Record
	pins   interpreter.Pins
	inMain bool // allowed in the main checkout: to be forgotten here it must be denied
}

// Waits reports whether a person has something to decide about it.
func (item PlanItem) Waits() bool {
	return item.State != StateDenied && (item.State != StateTrusted || item.Damaged) && item.In == ""
}

// Survey is what a project would run, found without running any of it.
type Survey struct {
	*report.Report
	Env       *environment.Environment
	Store     Store
	TrustedIn string           // the main checkout of which the project is a worktree
	Inner     *candidate.Scope // nil without a project
	Hooks     []*candidate.Hook
	Resources []*candidate.Resource
}

// SettingsItem is the project's settings file as something to decide about; nil
// if there is none and none was allowed.
func (p *Survey) SettingsItem() *PlanItem {
	if p.Inner == nil || p.Inner.Dir == "" {
		return nil
	}
	s := p.Inner
	r := s.Decided.RecordOf(candidate.SettingsRecord)
	if r == nil && s.File.Now.Bad == nil && (s.File.Now.Path == "" || s.File.Now.SaysNothing()) {
		return nil
	}
	item := &PlanItem{Hook: candidate.SettingsRecord, Kind: records.KindSettings, Path: s.File.Now.Path, State: StateNew, bundle: s.File.Bundle, record: r, inMain: s.Decided.Inherited(candidate.SettingsRecord) != nil || s.Decided.DeniedHere(candidate.SettingsRecord)}
	if s.File.Bundle != nil {
		item.Hash, item.Entry = s.File.Bundle.Hash, s.File.Bundle.Entry
	}
	if r != nil {
		item.Was, item.WasEntry, item.AllowedBefore = r.Hash, r.Bundle.Entry, r.AllowedBefore(s.File.Bundle)
	}
	switch {
	case s.File.Now.Bad != nil:
		item.Trouble, item.Remedy = s.File.Now.Bad.Error(), s.File.Now.Bad.Remedy
	case len(s.File.Now.Faults()) > 0:
		item.Faults = s.File.Now.Faults()
	}
	switch {
	case r == nil:
		if s.Decided.InMain != nil && s.Decided.InMain.Allows(candidate.SettingsRecord, s.File.Bundle) {
			item.In = p.TrustedIn
		}
	case r.Decision == records.Denied:
		item.State = StateDenied
	case s.File.Bundle != nil && s.File.Bundle.Hash == r.Hash:
		item.State = StateTrusted
		if item.inMain {
			item.In = p.TrustedIn
		}
	case s.File.Now.Path == "" && s.File.Now.Bad == nil:
		item.State = StateGone
	default:
		item.State = StateChanged
	}
	return item
}

func (p *Survey) hookItem(f *candidate.Hook) (PlanItem, error) {
	h := &f.Resolution.Hook
	item := PlanItem{Kind: records.KindHook, Guard: couldBlock(h), InPlace: h.InPlace, State: StateOf(&f.Subject, f.IsThere())}
	if item.State == StateGone {
		item.Guard = true
	}
	if file, line := f.Place(); f.Import != nil && line > 0 {
		item.From = fmt.Sprintf("%s:%d", file, line)
	}
	item.Trouble, item.Remedy = hookCannotBeAllowed(f)
	p.Env.NoteUnwatched(&f.Subject, h.InPlace, h.InProject)
	if item.State == StateNew && f.AllowedInMain() && !f.Faulty() && !f.RunsUnwatched() {
		item.In = p.TrustedIn
	}
	err := p.fill(&item, &f.Subject)
	return item, err
}

func (p *Survey) resourceItem(f *candidate.Resource) (PlanItem, error) {
	item := PlanItem{Kind: f.Kind, State: StateOf(&f.Subject, f.IsThere())}
	item.Trouble, item.Remedy = cannotBeAllowed(&f.Subject, f.IsThere())
	p.Env.NoteUnwatched(&f.Subject, false, false)
	if item.State == StateNew && f.AllowedInMain() && len(f.Unwatched) == 0 {
		item.In = p.TrustedIn
	}
	err := p.fill(&item, &f.Subject)
	return item, err
}

// fill fills in what hooks and resources have in common.
func (p *Survey) fill(item *PlanItem, f *candidate.Subject) error {
	item.Hook, item.Path, item.record = f.Base, f.Path, f.Record
	item.inMain = f.Scope.Decided.Inherited(f.Base) != nil || f.Scope.Decided.DeniedHere(f.Base)
	was := bundle.Bundle{}
	if f.Record != nil {
		was = f.Record.Bundle
		item.Was = f.Record.Hash
		item.WasEntry, item.AllowedBefore = was.Entry, f.Record.AllowedBefore(f.Bundle)
		item.WasInterpreter, item.WasProgram = f.ShownPins(f.Record.RecordedPins())
	}
	item.Damaged = item.State == StateTrusted && !item.InPlace && p.Store.verify(f.Bundle) != nil
	var now bundle.Bundle
	if f.Bundle != nil {
		now = *f.Bundle
		item.Hash, item.Entry = now.Hash, now.Entry
		item.pins = p.Env.StartersNow(f, item.InPlace)
		item.Interpreter, item.Program = f.ShownPins(item.pins)
		item.bundle = f.Bundle
		item.Unwatched = f.Unwatched
	}
	for _, m := range now.Members {
		file := PlanFile{Name: m.Name, Path: m.Path, Mode: m.Mode, Sum: m.Sum, Size: m.Size}
		var err error
		if file.Text, file.Left, err = readShown(m); err != nil {
			return err
		}
		item.Files = append(item.Files, file)
	}
	for _, m := range was.Members {
		old := m
		old.Path = p.Store.path(item.Was, m.Name)
		i := slices.IndexFunc(item.Files, func(file PlanFile) bool { return file.Name == m.Name })
		if i < 0 {
			item.Files = append(item.Files, PlanFile{Name: m.Name})
			i = len(item.Files) - 1
		}
		file := &item.Files[i]
		file.WasMode, file.WasSum = m.Mode, m.Sum
		if st, err := files.Stat(old.Path); err == nil {
			old.Size = st.Size
			// A copy that cannot be shown any more is only a missing diff.
			file.WasText, file.WasLeft, _ = readShown(old)
		}
	}
	return nil
}

// StateOf compares what is there with the records.
func StateOf(f *candidate.Subject, there bool) State {
	r := f.Record
	switch {
	case r == nil:
		return StateNew
	case r.Decision == records.Denied:
		return StateDenied
	case f.Bundle != nil && f.Bundle.Hash == r.Hash:
		return StateTrusted
	case !there:
		return StateGone
	}
	return StateChanged
}

// hookCannotBeAllowed says why a hook that is there cannot be allowed as it is.
func hookCannotBeAllowed(f *candidate.Hook) (trouble, remedy string) {
	switch {
	case f.Faulty():
		return "its description is faulty", "correct what hookd check says about it"
	case f.Problem != nil && f.File != nil && len(f.Resolution.Hook.Events) == 0:
		return f.Problem.Why, f.Problem.Remedy + "; if it is no hook but a helper, begin its name with _"
	case f.Problem == nil && f.File != nil && f.File.Unsafe != "":
		return f.File.Unsafe, "make it yours and writable by you only: chown, chmod go-w"
	}
	return cannotBeAllowed(&f.Subject, f.IsThere())
}

// cannotBeAllowed says why something that is there cannot be allowed as it is.
func cannotBeAllowed(f *candidate.Subject, there bool) (trouble, remedy string) {
	switch {
	case f.Problem != nil:
		return f.Problem.Why, f.Problem.Remedy
	case f.Bundle == nil && there:
		return "it cannot be read", "make it a readable regular file"
	}
	return "", ""
}

// PlanFile is one file of a hook, as it is and as it was allowed.
type PlanFile struct {
	Name          string
	Path          string
	Mode, WasMode fs.FileMode // 0 where there is none
	Sum, WasSum   string      // SHA-256, hex; "" where there is none
	Size          int64

	// Text and WasText are the contents, nil where there are none. Of a long file
	// they are its beginning and its end, with Left, WasLeft bytes left out between
	// the two, after the first ShownHead.
	Text, WasText []byte
	Left, WasLeft int64
}

// Changed reports whether the file differs from what was allowed.
func (f *PlanFile) Changed() bool { return f.Sum != f.WasSum || f.Mode != f.WasMode }

// How much of a file a plan holds for showing: of one that is longer, what stands at
// its beginning and at its end.
const (
	ShownHead = 192 << 10
	shownTail = 64 << 10
)

// readShown reads a file for showing, whatever it holds. What is shown must be what
// is hashed. left is how many bytes in the middle of a long one are left out.
func readShown(m bundle.Member) (text []byte, left int64, err error) {
	ends := &bothEnds{}
	h, err := files.ReadWhole(context.Background(), m.Path, ends)
	if err != nil {
		return nil, 0, err
	}
	if h.Sum != m.Sum {
		return nil, 0, fmt.Errorf("%s: %w", m.Path, ErrChangedSince)
	}
	return append(append([]byte{}, ends.head...), ends.tail...), ends.left, nil
}

// bothEnds keeps the beginning and the end of what is written to it.
type bothEnds struct {
	head, tail []byte
	left       int64
}

func (b *bothEnds) Write(p []byte) (int, error) {
	n := min(len(p), ShownHead-len(b.head))
	b.head = append(b.head, p[:n]...)
	b.tail = append(b.tail, p[n:]...)
	if over := len(b.tail) - shownTail; over > 0 {
		b.left += int64(over)
		b.tail = append(b.tail[:0], b.tail[over:]...)
	}
	return len(p), nil
}
