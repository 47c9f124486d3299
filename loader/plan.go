package loader

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
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
	Kind    records.Kind
	State   State
	Hash    string // of the bundle; "" if it is gone or cannot be allowed
	Was     string // hash of the bundle that was allowed, "" if none was
	Path    string // the hook's own file, "" for a command
	Guard   bool   // could refuse an event, or must answer
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

// Settings is the name under which the plan has the project's settings, "" if there
// is nothing to decide about them.
func (p *Plan) Settings() string {
	if i := slices.IndexFunc(p.Items, func(item PlanItem) bool { return item.Kind == records.KindSettings }); i >= 0 {
		return p.Items[i].Hook
	}
	return ""
}

// waits reports whether a person has something to decide about it.
func (item PlanItem) waits() bool {
	return item.State != StateDenied && (item.State != StateTrusted || item.Damaged) && item.In == ""
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

// survey is what a project would run, found without running any of it.
type survey struct {
	*report.Report
	env       *environment
	store     store
	trustedIn string // the main checkout of which the project is a worktree
	inner     *scope // nil without a project
	hooks     []*hookCandidate
	resources []*resource
}

// survey finds and describes every hook of the project without running any.
func (l *loader) survey(ctx context.Context) (*survey, error) {
	defer l.files.Until(ctx)()
	r := report.NewReport()
	scopes := l.scopes()
	l.readDecisions(r, scopes)
	if r.Refuse != nil {
		return nil, r.Refuse
	}
	l.readSettings(r, scopes, true)
	env := l.newEnvironment(r, scopes)
	p := &survey{Report: r, env: env, store: l.store, trustedIn: l.TrustedIn, inner: env.inner}
	if p.inner != nil {
		scan := &scanner{Report: r, env: env, hashAll: true}
		p.hooks, p.resources = scan.hooks(p.inner), scan.resources(p.inner)
	}
	return p, ctx.Err()
}

// hashIfAllowed is the hash of the whole project as it would be once it is allowed
// with these settings, which is what hookd trust --print shows. Settings that were
// swapped meanwhile have none.
func (l *loader) hashIfAllowed(b *bundle.Bundle) string {
	p, err := l.survey(context.Background())
	if err != nil || p.inner == nil || p.inner.bundle == nil || p.inner.bundle.Hash != b.Hash {
		return ""
	}
	return projectHash(p.inner, p.hooks, p.resources)
}

// projectHash is one hash for all of a project that could be allowed.
func projectHash(inner *scope, hooks []*hookCandidate, resources []*resource) string {
	type item struct {
		Name string `json:"name"`
		Hash string `json:"hash"`
	}
	items := []item{}
	add := func(f *subject) {
		if f.scope == inner && f.Bundle != nil && (f.Problem == nil || f.Unstarted) {
			items = append(items, item{f.base, f.FreshHash()})
		}
	}
	for _, f := range hooks {
		if !f.faulty() {
			add(&f.subject)
		}
	}
	for _, f := range resources {
		add(&f.subject)
	}
	if inner != nil && inner.bundle != nil && !inner.now.SaysNothing() {
		items = append(items, item{settingsRecord, inner.bundle.Hash})
	}
	slices.SortFunc(items, func(a, b item) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	raw, err := bundle.Canonical(items)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte("project\n"), raw...))
	return bundle.HashPrefix + hex.EncodeToString(sum[:])
}

func (p *survey) plan() (*Plan, error) {
	if p.inner != nil && p.inner.passed != nil {
		return nil, &PassedOverError{p.inner.passed.Why, p.inner.passed.Remedy}
	}
	plan := &Plan{Project: p.env.place.Project, Hash: projectHash(p.inner, p.hooks, p.resources)}
	if item := p.settingsItem(); item != nil {
		plan.Items = append(plan.Items, *item)
	}
	add := func(item PlanItem, err error) error {
		plan.Items = append(plan.Items, item)
		return err
	}
	for _, f := range p.hooks {
		if f.listed || f.record != nil {
			if err := add(p.hookItem(f)); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range p.resources {
		if f.listed || f.record != nil {
			if err := add(p.resourceItem(f)); err != nil {
				return nil, err
			}
		}
	}
	return plan, nil
}

// WithSettings adds to the names of hooks those settings that wait for a decision: a
// hook is what they make of it, so both are shown and decided about together.
// Settings that were denied do not wait.
func (plan *Plan) WithSettings(names []string) []string {
	waits := func(item PlanItem) bool {
		return item.Kind == records.KindSettings && item.State != StateTrusted && item.State != StateDenied
	}
	if len(names) == 0 || slices.Contains(names, settingsRecord) || !slices.ContainsFunc(plan.Items, waits) {
		return names
	}
	return append(slices.Clone(names), settingsRecord)
}

// settingsItem is the project's settings file as something to decide about; nil
// if there is none and none was allowed.
func (p *survey) settingsItem() *PlanItem {
	if p.inner == nil || p.inner.dir == "" {
		return nil
	}
	s := p.inner
	r := s.recordOf(settingsRecord)
	if r == nil && s.now.Bad == nil && (s.now.Path == "" || s.now.SaysNothing()) {
		return nil
	}
	item := &PlanItem{Hook: settingsRecord, Kind: records.KindSettings, Path: s.now.Path, State: StateNew, bundle: s.bundle, record: r, inMain: s.inherited(settingsRecord) != nil || s.deniedHere(settingsRecord)}
	if s.bundle != nil {
		item.Hash, item.Entry = s.bundle.Hash, s.bundle.Entry
	}
	if r != nil {
		item.Was, item.WasEntry, item.AllowedBefore = r.Hash, r.Bundle.Entry, r.AllowedBefore(s.bundle)
	}
	switch {
	case s.now.Bad != nil:
		item.Trouble, item.Remedy = s.now.Bad.Error(), s.now.Bad.Remedy
	case len(s.now.Faults()) > 0:
		item.Faults = s.now.Faults()
	}
	switch {
	case r == nil:
		if s.elsewhere != nil && s.elsewhere.Allows(settingsRecord, s.bundle) {
			item.In = p.trustedIn
		}
	case r.Decision == records.Denied:
		item.State = StateDenied
	case s.bundle != nil && s.bundle.Hash == r.Hash:
		item.State = StateTrusted
		if item.inMain {
			item.In = p.trustedIn
		}
	case s.now.Path == "" && s.now.Bad == nil:
		item.State = StateGone
	default:
		item.State = StateChanged
	}
	return item
}

func (p *survey) hookItem(f *hookCandidate) (PlanItem, error) {
	h := &f.resolution.Hook
	item := PlanItem{Kind: records.KindHook, Guard: couldBlock(h), InPlace: h.InPlace, State: f.state(f.isThere())}
	if item.State == StateGone {
		item.Guard = true
	}
	item.Trouble, item.Remedy = f.cannotBeAllowed()
	p.env.seeUnwatched(&f.subject, h.InPlace, h.InProject)
	if item.State == StateNew && f.allowedInMain() && !f.faulty() && !f.runsUnwatched() {
		item.In = p.trustedIn
	}
	err := p.fill(&item, &f.subject)
	return item, err
}

func (p *survey) resourceItem(f *resource) (PlanItem, error) {
	item := PlanItem{Kind: f.kind, State: f.state(f.isThere())}
	item.Trouble, item.Remedy = f.cannotBeAllowed()
	p.env.seeUnwatched(&f.subject, false, false)
	if item.State == StateNew && f.allowedInMain() && len(f.Unwatched) == 0 {
		item.In = p.trustedIn
	}
	err := p.fill(&item, &f.subject)
	return item, err
}

// fill fills in what hooks and resources have in common.
func (p *survey) fill(item *PlanItem, f *subject) error {
	item.Hook, item.Path, item.record = f.base, f.path, f.record
	item.inMain = f.scope.inherited(f.base) != nil || f.scope.deniedHere(f.base)
	was := bundle.Bundle{}
	if f.record != nil {
		was = f.record.Bundle
		item.Was = f.record.Hash
		item.WasEntry, item.AllowedBefore = was.Entry, f.record.AllowedBefore(f.Bundle)
		item.WasInterpreter, item.WasProgram = f.ShownPins(f.record.RecordedPins())
	}
	item.Damaged = item.State == StateTrusted && !item.InPlace && p.store.verify(f.Bundle) != nil
	var now bundle.Bundle
	if f.Bundle != nil {
		now = *f.Bundle
		item.Hash, item.Entry = now.Hash, now.Entry
		item.pins = p.env.startersNow(f, item.InPlace)
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
		old.Path = p.store.path(item.Was, m.Name)
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

// state compares what is there with the records.
func (f *subject) state(there bool) State {
	r := f.record
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

// cannotBeAllowed says why a hook that is there cannot be allowed as it is.
func (f *hookCandidate) cannotBeAllowed() (trouble, remedy string) {
	switch {
	case f.faulty():
		return "its description is faulty", "correct what hookd check says about it"
	case f.Problem != nil && f.file != nil && len(f.resolution.Hook.Events) == 0:
		return f.Problem.Why, f.Problem.Remedy + "; if it is no hook but a helper, begin its name with _"
	case f.Problem == nil && f.file != nil && f.file.unsafe != "":
		return f.file.unsafe, "make it yours and writable by you only: chown, chmod go-w"
	}
	return f.subject.cannotBeAllowed(f.isThere())
}

// cannotBeAllowed says why a resource that is there cannot be allowed as it is.
func (f *resource) cannotBeAllowed() (trouble, remedy string) {
	return f.subject.cannotBeAllowed(f.isThere())
}

func (f *subject) cannotBeAllowed(there bool) (trouble, remedy string) {
	switch {
	case f.Problem != nil:
		return f.Problem.Why, f.Problem.Remedy
	case f.Bundle == nil && there:
		return "it cannot be read", "make it a readable regular file"
	}
	return "", ""
}

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
