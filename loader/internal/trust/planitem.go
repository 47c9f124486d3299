package trust

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/environment"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/imports"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// PlanItem is one hook of a plan, or one of the project's resources.
type PlanItem struct {
	Hook string // of a resource its kind and name: skills/x.md, mcpServers/git, instructions/AGENTS.md
	Kind records.Kind
	Path string // the hook's own file, "" for a command

	PlanState
	PlanRisks
	Now, Was PlanVersion     // what would run, and what was allowed
	Files    []PlanFile      // of both versions
	Problem  *report.Problem // why it cannot be allowed, nil if it can
	Faults   []string        // single values of settings, and lines of a hook's header, that do not count
	Nested   bool            // instructions of a folder below the root: the hash of the project does not cover them

	sealed sealed
}

// PlanState is what the trust records say of an item.
type PlanState struct {
	State   State
	In      string // the main checkout in which the very same is allowed, and which lets it count here; "" if it does not
	Damaged bool   // trusted, but its private copy is missing or was changed

	// AllowedBefore is when exactly this was allowed last, if it was changed since
	// and is back; nil if it never was. It is asked about all the same: going back
	// to a weaker guard is an attack, too.
	AllowedBefore *time.Time
}

// PlanRisks are what a person should know of an item besides its text.
type PlanRisks struct {
	Guard     bool     // could refuse an event, or must answer
	InPlace   bool     // the original runs, so only what the hash names is watched
	Unwatched []string // code of the project that runs and that the hash does not cover, in words
}

// PlanVersion is an item as it is, or as it was allowed.
type PlanVersion struct {
	Hash        string              // of the bundle; "" if there is none
	Entry       protocol.RawMessage // canonical JSON; nil if there is none
	From        string              // where another agent's settings name it now, or the file of rules in which it stands, file:line; of a hook without a file of its own that is gone: what named it; else ""
	Interpreter string
	Program     string
}

// sealed is what a decision about an item records.
type sealed struct {
	bundle *bundle.Bundle // nil if it is gone or cannot be read
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
	now, r := s.File.Now, s.Decided.RecordOf(candidate.SettingsRecord)
	if r == nil && now.Bad == nil && (now.Path == "" || now.SaysNothing()) {
		return nil
	}
	item := &PlanItem{Hook: candidate.SettingsRecord, Kind: records.KindSettings, Path: now.Path}
	item.sealed = sealed{bundle: s.File.Bundle, inMain: inMain(s, candidate.SettingsRecord)}
	if s.File.Bundle != nil {
		item.Now = PlanVersion{Hash: s.File.Bundle.Hash, Entry: s.File.Bundle.Entry}
	}
	if r != nil {
		item.Was, item.AllowedBefore = PlanVersion{Hash: r.Hash, Entry: r.Bundle.Entry}, r.AllowedBefore(s.File.Bundle)
	}
	if now.Bad != nil {
		item.Problem = &report.Problem{Why: now.Bad.Error(), Remedy: now.Bad.Remedy}
	} else if faults := now.Faults(); len(faults) > 0 {
		item.Faults = faults
	}
	found := foundSettings(s)
	item.State = Decide(found, Recorded{Here: r}).State
	item.In = p.in(found, recordedBy(&s.Decided, candidate.SettingsRecord))
	return item
}

// in returns the main checkout if it lets something count here, else "".
func (p *Survey) in(found Found, recorded Recorded) string {
	if Decide(found, recorded).Source != FromMain {
		return ""
	}
	return p.TrustedIn
}

// inMain reports whether something was allowed in the main checkout, so that what the
// worktree decides is recorded beside that.
func inMain(s *candidate.Scope, name string) bool {
	return s.Decided.Inherited(name) != nil || s.Decided.DeniedHere(name)
}

func (p *Survey) hookItem(f *candidate.Hook) (PlanItem, error) {
	h := &f.Resolution.Hook
	p.Env.NoteUnwatched(&f.Subject, h.InPlace, h.InProject)
	item := PlanItem{Kind: records.KindHook, Problem: p.hookCannotBeAllowed(f)}
	item.State = StateOf(&f.Subject, f.IsThere())
	item.PlanRisks = PlanRisks{Guard: couldBlock(h) || item.State == StateGone, InPlace: h.InPlace}
	err := p.fill(&item, &f.Subject, foundHook(f))
	if file, line := f.Place(); f.Import != nil && line > 0 {
		item.Now.From = fmt.Sprintf("%s:%d", file, line)
	}
	if f.Pack != "" && len(f.Described) > 0 {
		item.Now.From = fmt.Sprintf("%s:%d", f.Pack, f.Described[0].Pos.Line)
	}
	for _, finding := range p.Findings {
		if f.File != nil && finding.File == f.File.Path && finding.Code == string(schema.CodeUnknownKey) && finding.Severity == schema.SeverityWarning && finding.Line != nil {
			item.Faults = append(item.Faults, fmt.Sprintf("%s (line %d): %s", finding.Message, *finding.Line, finding.Remedy))
		}
	}
	if item.State == StateGone && item.Path == "" {
		item.Was.From = p.namedBy(f)
	}
	return item, err
}

// namedBy says what named a hook without a file of its own that is gone.
func (p *Survey) namedBy(f *candidate.Hook) string {
	if owner := imports.Owner(f.Base); owner != "" {
		return "the settings of " + owner
	}
	s := f.Scope
	if r := s.Decided.RecordOf(candidate.SettingsRecord); r != nil {
		for _, entry := range jsonspan.Elements(jsonspan.Find(r.Bundle.Entry, "/hooks/use")) {
			if jsonspan.Text(jsonspan.Get(entry, "name")) == f.Base {
				return filepath.Base(cmp.Or(s.File.Now.Path, settings.Names[0]))
			}
		}
	}
	return "the file that held it"
}

func (p *Survey) resourceItem(f *candidate.Resource) (PlanItem, error) {
	p.Env.NoteUnwatched(&f.Subject, false, false)
	item := PlanItem{Kind: f.Kind, Nested: f.IsNested(), Problem: cannotBeAllowed(&f.Subject, f.IsThere())}
	item.State = StateOf(&f.Subject, f.IsThere())
	err := p.fill(&item, &f.Subject, foundResource(f))
	return item, err
}

// fill fills in what hooks and resources have in common.
func (p *Survey) fill(item *PlanItem, f *candidate.Subject, found Found) error {
	item.Hook, item.Path = f.Base, f.Path
	item.sealed = sealed{bundle: f.Bundle, inMain: inMain(f.Scope, f.Base)}
	recorded := recordedBy(&f.Scope.Decided, f.Base)
	recorded.Here = f.Record
	item.In = p.in(found, recorded)
	var was, now bundle.Bundle
	if f.Record != nil {
		was = f.Record.Bundle
		item.Was, item.AllowedBefore = PlanVersion{Hash: f.Record.Hash, Entry: was.Entry}, f.Record.AllowedBefore(f.Bundle)
		item.Was.Interpreter, item.Was.Program = f.ShownPins(f.Record.RecordedPins())
	}
	item.Damaged = item.State == StateTrusted && !item.InPlace && p.Store.verify(f.Bundle) != nil
	if f.Bundle != nil {
		now = *f.Bundle
		item.Unwatched = f.Unwatched
		item.sealed.pins = p.Env.StartersNow(f, item.InPlace)
		item.Now = PlanVersion{Hash: now.Hash, Entry: now.Entry}
		item.Now.Interpreter, item.Now.Program = f.ShownPins(item.sealed.pins)
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
		old.Path = p.Store.path(item.Was.Hash, m.Name)
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

// StateOf compares what is there with the record of its own project.
func StateOf(f *candidate.Subject, there bool) State {
	return Decide(Found{Hash: f.Hash(), There: there}, Recorded{Here: f.Record}).State
}

// hookCannotBeAllowed returns why a hook that is there cannot be allowed as it is, nil if
// it can.
func (p *Survey) hookCannotBeAllowed(f *candidate.Hook) *report.Problem {
	switch {
	case f.Faulty():
		return p.faultOf(f)
	case f.Problem != nil && f.File != nil && len(f.Resolution.Hook.Events) == 0:
		return &report.Problem{Why: f.Problem.Why, Remedy: f.Problem.Remedy + "; if it is no hook but a helper, begin its name with _"}
	case f.Problem == nil && f.File != nil && f.File.Unsafe != "":
		return &report.Problem{Why: f.File.Unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
	return cannotBeAllowed(&f.Subject, f.IsThere())
}

// faultOf returns what hookd check says about a faulty description: the first error, and how
// many others there are.
func (p *Survey) faultOf(f *candidate.Hook) *report.Problem {
	problem := &report.Problem{Why: "its description is faulty", Remedy: "correct what hookd check says about it"}
	others := -1
	for _, finding := range p.Findings {
		if finding.Hook == nil || *finding.Hook != f.Name && *finding.Hook != f.Base || finding.Severity != schema.SeverityError {
			continue
		}
		if others++; others > 0 {
			continue
		}
		problem.Why, problem.Remedy = "its description is faulty: "+finding.Message, finding.Remedy
		if finding.Line != nil {
			problem.Why += fmt.Sprintf(" (%s:%d)", filepath.Base(finding.File), *finding.Line)
		}
	}
	if others > 0 {
		problem.Why += fmt.Sprintf("; %s more: hookd check", text.Count(others, "error"))
	}
	return problem
}

// cannotBeAllowed returns why something that is there cannot be allowed as it is, nil if
// it can.
func cannotBeAllowed(f *candidate.Subject, there bool) *report.Problem {
	if f.Problem == nil && f.Bundle == nil && there {
		return &report.Problem{Why: "it cannot be read", Remedy: "make it a readable regular file"}
	}
	return f.Problem
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
