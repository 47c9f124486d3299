package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
)

// Plan is everything that would run in a project if it were allowed, besides what
// was allowed before. Its texts come from the project: the code that shows them makes
// control characters visible.
type Plan struct {
	Project string // real path
	Hash    string // of the whole project: what trust --print prints and --expect compares
	Items   []PlanItem
}

// Settings is the name under which the plan has the project's settings, "" if there
// is nothing to decide about them.
func (p *Plan) Settings() string {
	if i := slices.IndexFunc(p.Items, func(item PlanItem) bool { return item.Kind == records.KindSettings }); i >= 0 {
		return p.Items[i].Hook
	}
	return ""
}

// ProjectHash is one hash for all of a project that could be allowed.
func ProjectHash(inner *candidate.Scope, hooks []*candidate.Hook, resources []*candidate.Resource) string {
	type item struct {
		Name string `json:"name"`
		Hash string `json:"hash"`
	}
	items := []item{}
	add := func(f *candidate.Subject) {
		if f.Scope == inner && f.Bundle != nil && (f.Problem == nil || f.Unstarted) {
			items = append(items, item{f.Base, f.FreshHash()})
		}
	}
	for _, f := range hooks {
		if !f.Faulty() {
			add(&f.Subject)
		}
	}
	for _, f := range resources {
		if !f.IsNested() { // which of those there are depends on the working directory
			add(&f.Subject)
		}
	}
	if inner != nil && inner.File.Bundle != nil && !inner.File.Now.SaysNothing() {
		items = append(items, item{candidate.SettingsRecord, inner.File.Bundle.Hash})
	}
	slices.SortFunc(items, func(a, b item) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	raw, err := bundle.Canonical(items)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte("project\n"), raw...))
	return bundle.HashPrefix + hex.EncodeToString(sum[:])
}

// Plan compares what was found with what was allowed before.
func (p *Survey) Plan() (*Plan, error) {
	if p.Inner != nil && p.Inner.Ignored != nil {
		return nil, &IgnoredProjectError{p.Inner.Ignored.Why, p.Inner.Ignored.Remedy}
	}
	plan := &Plan{Project: p.Env.Workspace.Project, Hash: ProjectHash(p.Inner, p.Hooks, p.Resources)}
	if item := p.SettingsItem(); item != nil {
		plan.Items = append(plan.Items, *item)
	}
	add := func(item PlanItem, err error) error {
		plan.Items = append(plan.Items, item)
		return err
	}
	for _, f := range p.Hooks {
		if f.Listed || f.Record != nil {
			if err := add(p.hookItem(f)); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range p.Resources {
		if f.Listed || f.Record != nil {
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
	if len(names) == 0 || slices.Contains(names, candidate.SettingsRecord) || !slices.ContainsFunc(plan.Items, waits) {
		return names
	}
	return append(slices.Clone(names), candidate.SettingsRecord)
}

// OnFixedPath makes sure that what starts the hooks of a plan was not found by the
// PATH of one shell: what is allowed by its hash alone must start alike wherever
// the hash is the same.
func (p *Plan) OnFixedPath() error {
	for i := range p.Items {
		for _, one := range p.Items[i].sealed.pins.Each() {
			if one.Stray {
				return fmt.Errorf("%s: what starts it, %s, lies in no folder of the fixed PATH: name its folder in hooks.path", p.Items[i].Hook, one.Path)
			}
		}
	}
	return nil
}

// An IgnoredProjectError is [ErrNoProject] for an .acai folder that is there and does
// not count.
type IgnoredProjectError struct{ Why, Remedy string }

func (e *IgnoredProjectError) Error() string { return "nothing of this project counts: " + e.Why }

func (e *IgnoredProjectError) Unwrap() error { return ErrNoProject }

// ErrNoProject says that there is nothing to decide about.
var ErrNoProject = errors.New("no project: there is no .acai folder here or above")
