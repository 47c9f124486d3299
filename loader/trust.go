package loader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/instructions"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
)

// Trust is the person's side of the trust records: looking at what would run,
// and deciding about it. It never runs anything of the project.
type Trust struct {
	// How is the way in which the person decides, for the record: terminal,
	// --yes.
	How string

	loader *loader
}

// OpenTrust finds the project and its records. With [Options.Instructions] a checkout, or the
// working directory itself, that has AGENTS.md or its like is one to decide about where there
// is no other: once something of it is allowed, its record makes it a project.
func OpenTrust(opts Options) (*Trust, error) {
	l, err := newLoader(opts)
	if err != nil {
		return nil, err
	}
	if opts.Instructions && opts.Project == "" && l.Project == "" {
		if opts.Project = l.instructedFolder(); opts.Project != "" {
			if named, err := newLoader(opts); err == nil { // else it may not be one, as the home folder
				l = named
			}
		}
	}
	if l.stateErr != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, l.stateErr)
	}
	return &Trust{loader: l}, nil
}

// instructedFolder returns the checkout that the working directory is in, or that directory,
// if instructions are there; else "".
func (l *loader) instructedFolder() string {
	cwd := files.RealPath(l.opts.Cwd)
	folder := l.search().Checkout(cwd)
	if folder == "" {
		folder = cwd
	}
	for _, at := range instructions.Folders(folder, cwd, "") {
		if instructions.Find(folder, at, instructions.OfProject, false, func(string) {}) != nil {
			return folder
		}
	}
	return ""
}

// Project is the real path of the project that is decided about, "" without one.
func (t *Trust) Project() string { return t.loader.Project }

// ErrState says that the state folder, where the trust records are, cannot be used.
var ErrState = errors.New("trust records")

// ErrNoSuchHook says that no hook has the name that was given.
var ErrNoSuchHook = errors.New("there is no such hook")

// noProject says why there is no project: nothing is there, or what is there does
// not count.
func (l *loader) noProject() error {
	for _, o := range l.Ignored {
		if !o.Outer {
			return &trust.IgnoredProjectError{Why: o.Why, Remedy: o.Remedy}
		}
	}
	return trust.ErrNoProject
}

// Plan shows what would run in the project.
func (t *Trust) Plan(ctx context.Context) (*trust.Plan, error) {
	if t.loader.Project == "" {
		return nil, t.loader.noProject()
	}
	p, err := t.loader.survey(ctx)
	if err != nil {
		return nil, err
	}
	return p.Plan()
}

// Above are the projects further up that hold here, too, and of which something
// waits for a decision: it is made there.
func (t *Trust) Above(ctx context.Context) (waiting []string) {
	for _, outer := range t.loader.Outer {
		opts := t.loader.opts
		opts.Project = outer
		above, err := OpenTrust(opts)
		if err != nil {
			continue // fire and check say what is wrong there
		}
		plan, err := above.Plan(ctx)
		if err == nil && slices.ContainsFunc(plan.Items, trust.PlanItem.Waits) {
			waiting = append(waiting, outer)
		}
	}
	return waiting
}

// ErrUnexpected says that a project is not what was expected.
var ErrUnexpected = errors.New("the project's hooks are not the expected ones")

// Allow allows exactly what a plan shows: the hooks named, or all of them
// without a name. Hooks that are gone are forgotten. A file that changed since
// the plan was made allows nothing of its hook. The error names every hook that
// could not be allowed; the others are.
//
// Nothing that is not named is allowed with it: see [Plan.WithSettings].
func (t *Trust) Allow(plan *trust.Plan, names ...string) error {
	if err := trust.MayDecide(); err != nil {
		return err
	}
	var problems []error
	err := t.change(plan.Project, func(d *records.Decisions) error {
		for i := range plan.Items {
			item := &plan.Items[i]
			if len(names) > 0 && !slices.Contains(names, item.Hook) || item.State == trust.StateTrusted && !item.Damaged {
				continue
			}
			if err := item.Allow(d, t.loader.store); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", item.Hook, err))
			}
		}
		return nil
	})
	return errors.Join(append(problems, err)...)
}

// AllowWritten allows one hook that a person had written from a template a moment
// ago, if its file holds that text and nothing else belongs to it. Nothing else is allowed with it: where settings wait for a decision that
// may be about the hook, it fails.
func (t *Trust) AllowWritten(ctx context.Context, name, text string) error {
	if err := trust.MayDecide(); err != nil {
		return err
	}
	plan, err := t.Plan(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(plan.Items, func(item trust.PlanItem) bool { return item.Hook == name && item.State == trust.StateNew })
	waiting := slices.ContainsFunc(plan.Items, func(item trust.PlanItem) bool {
		return item.Kind == records.KindSettings && item.State != trust.StateTrusted
	})
	sum := sha256.Sum256([]byte(text))
	if i < 0 || waiting || len(plan.Items[i].Files) != 1 || plan.Items[i].Files[0].Sum != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("%s: it is not only what was written", name)
	}
	return t.change(plan.Project, func(d *records.Decisions) error { return plan.Items[i].Allow(d, t.loader.store) })
}

// Deny denies the hooks named, or all of the project without a name. Denied
// hooks are absent, whatever else would let them run.
func (t *Trust) Deny(ctx context.Context, names ...string) error {
	if err := trust.MayDecide(); err != nil {
		return err
	}
	plan, err := t.Plan(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(plan.Items, func(item trust.PlanItem) bool { return item.Hook == name }) {
			return fmt.Errorf("%s: the project has no such hook", name)
		}
	}
	return t.change(plan.Project, func(d *records.Decisions) error {
		for i := range plan.Items {
			item := &plan.Items[i]
			if len(names) > 0 && !slices.Contains(names, item.Hook) {
				continue
			}
			item.Deny(d)
		}
		return nil
	})
}

// Expect allows the whole project if its hash is the one given, and nothing
// otherwise. Instructions of folders below the root are not a part of that hash.
func (t *Trust) Expect(ctx context.Context, hash string) error {
	plan, err := t.Plan(ctx)
	if err != nil {
		return err
	}
	t.How = "--expect"
	if err := plan.OnFixedPath(); err != nil {
		return err
	}
	if plan.Hash != hash {
		return fmt.Errorf("%w: expected %s, found %s", ErrUnexpected, hash, plan.Hash)
	}
	var covered []string
	for i := range plan.Items {
		if !plan.Items[i].Nested {
			covered = append(covered, plan.Items[i].Hook)
		}
	}
	if len(covered) == 0 { // without names all would be allowed
		return trust.MayDecide()
	}
	return t.Allow(plan, covered...)
}

// Follow allows every change of a hook or of settings that are allowed, as soon as it
// is made, until the context ends. What is new, gone or denied is left alone. report
// is called for each; it must not block.
func (t *Trust) Follow(ctx context.Context, report func(hook, hash string, err error)) error {
	if err := trust.MayDecide(); err != nil {
		return err
	}
	if t.loader.Project == "" {
		return t.loader.noProject()
	}
	t.How = "--follow"
	changed := make(chan struct{}, 1)
	opts := t.loader.opts
	opts.Runtime, opts.Project = nil, t.loader.Project
	opts.OnChange = func(*Snapshot) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	w, err := Watch(ctx, opts)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		plan, err := t.Plan(ctx)
		if err != nil {
			continue // half-written: its end is another change
		}
		for _, item := range plan.Items {
			if item.State == trust.StateChanged && item.Problem == nil {
				report(item.Hook, item.Now.Hash, t.Allow(plan, item.Hook))
			}
		}
	}
}

// Listed is one decision of a person.
type Listed struct {
	Project string      `json:"project"`
	Hook    string      `json:"hook"`
	Hash    string      `json:"hash"`
	State   trust.State `json:"state"`
	At      time.Time   `json:"at"`
}

// List returns every decision about every project, compared with what is there
// now.
func (t *Trust) List(ctx context.Context) ([]Listed, error) {
	all, err := t.loader.records.All()
	listed := []Listed{}
	for _, d := range all {
		states := t.states(ctx, d.Project)
		for _, r := range d.Hooks {
			state, known := states[r.Hook]
			if !known {
				state = trust.StateGone
			}
			if r.Decision == records.Denied {
				state = trust.StateDenied
			}
			listed = append(listed, Listed{d.Project, r.Hook, r.Hash, state, r.At})
		}
	}
	return listed, err
}

func (t *Trust) states(ctx context.Context, project string) map[string]trust.State {
	states := map[string]trust.State{}
	if project == "" {
		return states
	}
	opts := t.loader.opts
	opts.Project = project
	l, err := newLoader(opts)
	if err != nil {
		return states
	}
	p, err := l.survey(ctx)
	if err != nil {
		return states
	}
	if item := p.SettingsItem(); item != nil {
		states[candidate.SettingsRecord] = item.State
	}
	for _, f := range p.Hooks {
		if f.Record != nil {
			states[f.Base] = trust.StateOf(&f.Subject, f.IsThere())
		}
	}
	for _, f := range p.Resources {
		if f.Record != nil {
			states[f.Base] = trust.StateOf(&f.Subject, f.IsThere())
		}
	}
	return states
}

// Disable switches a hook off, until a moment or until it is enabled again: the
// recorded way past a broken hook. It reaches neither required hooks nor those
// of the managed layer.
func (t *Trust) Disable(ctx context.Context, name string, until *time.Time) error {
	return t.switchHook(ctx, name, func(d *records.Decisions, layer, name string) {
		d.Enable(layer, name)
		d.Disabled = append(d.Disabled, records.DisabledRecord{Layer: layer, Hook: name, At: time.Now().UTC().Truncate(time.Second), Until: until})
	})
}

// Enable undoes Disable.
func (t *Trust) Enable(ctx context.Context, name string) error {
	return t.switchHook(ctx, name, func(d *records.Decisions, layer, name string) { d.Enable(layer, name) })
}

func (t *Trust) switchHook(ctx context.Context, name string, change func(d *records.Decisions, layer, name string)) error {
	if err := trust.MayDecide(); err != nil {
		return err
	}
	opts := t.loader.opts
	opts.Runtime, opts.Without = nil, nil
	opts.Project = t.loader.Project
	s, err := Load(ctx, opts)
	if err != nil {
		return err
	}
	reached, problem := false, fmt.Errorf("%s: %w", name, ErrNoSuchHook)
	for _, h := range s.Hooks {
		switch {
		case h.Name != name:
			continue
		case h.Layer == protocol.Managed:
			problem = fmt.Errorf("%s: hooks of the managed layer cannot be switched off", name)
			continue
		case h.Required:
			problem = fmt.Errorf("%s: it is required and cannot be switched off", name)
			continue
		}
		layer := string(h.Layer)
		if err := t.change(h.project, func(d *records.Decisions) error { change(d, layer, h.base); return nil }); err != nil {
			return err
		}
		reached = true
	}
	if !reached {
		return problem
	}
	return nil
}

// change makes a decision and records it.
func (t *Trust) change(project string, update func(*records.Decisions) error) error {
	return trust.Change(t.loader.records, t.loader.state, project, t.How, update)
}
