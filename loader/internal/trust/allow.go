package trust

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/settings"
)

// Allow allows exactly what the item shows.
func (item *PlanItem) Allow(d *records.Decisions, st Store) error {
	if item.Problem != nil {
		return fmt.Errorf("%s (%s)", item.Problem.Why, item.Problem.Remedy)
	}
	b := item.sealed.bundle
	switch {
	case b == nil && item.sealed.inMain:
		d.Set(item.record(records.Denied))
		return nil
	case b == nil: // gone, one that was denied too
		d.Remove(item.Hook)
		return nil
	case item.Kind == records.KindSettings:
		if err := item.unchangedSettings(); err != nil {
			return err
		}
	default:
		if err := st.Put(b); err != nil {
			return err
		}
	}
	r := item.record(records.Allowed)
	r.Hash, r.Bundle, r.Pins, r.InPlace = item.Now.Hash, *b, item.sealed.pins, item.InPlace
	d.Set(r)
	return nil
}

// Deny records that a person denied the item.
func (item *PlanItem) Deny(d *records.Decisions) {
	r := item.record(records.Denied)
	if old := d.Find(item.Hook); old != nil {
		at := r.At
		r = *old
		r.Decision, r.At = records.Denied, at
	} else if item.sealed.bundle != nil {
		r.Hash, r.Bundle = item.Now.Hash, *item.sealed.bundle
	}
	d.Set(r)
}

// record returns a decision about the item that is made now. The kind of a hook is left
// out, as it was in records when there was no other.
func (item *PlanItem) record(decision records.Decision) records.Record {
	r := records.Record{Hook: item.Hook, Decision: decision, At: time.Now().UTC().Truncate(time.Second), Kind: item.Kind}
	if item.Kind == records.KindHook {
		r.Kind, r.Command = "", item.Path == ""
	}
	return r
}

// unchangedSettings reads a settings file again, and returns an error if it is not what
// the item shows.
func (item *PlanItem) unchangedSettings() error {
	text, err := settings.ReadText(item.Path)
	if err != nil {
		return err
	}
	entry, err := settings.Canonical(item.Path, text)
	if err == nil && !bundle.SameJSON(entry, item.Now.Entry) {
		err = fmt.Errorf("%s: %w", item.Path, ErrChangedSince)
	}
	return err
}

// Change makes a decision about a project and writes it into the records below the
// state folder: who reads there what hooks decided also sees who let them. how is
// the way in which the person decided.
func Change(folder records.Folder, state, project, how string, update func(*records.Decisions) error) error {
	var lines []*record.Trust
	err := folder.Change(project, func(d *records.Decisions) error {
		before := records.Decisions{Project: d.Project, Hooks: slices.Clone(d.Hooks), Disabled: slices.Clone(d.Disabled)}
		if err := update(d); err != nil {
			return err
		}
		lines = logOf(&before, d)
		return nil
	})
	if err != nil || len(lines) == 0 {
		return err
	}
	log := record.Open(filepath.Join(state, "records"), 0, 0)
	var errs []error
	for _, line := range lines {
		line.How = how
		errs = append(errs, log.Append("", time.Now(), line))
	}
	if err := errors.Join(append(errs, log.Close())...); err != nil {
		return fmt.Errorf("the decision stands and could not be recorded: %w", err)
	}
	return nil
}

// What a person decided, in the words of the record.
const (
	decidedForgotten = "forgotten" // a hook that is gone, and nobody misses
	decidedDisabled  = "disabled"
	decidedEnabled   = "enabled"
)

// logOf lists what differs between two states of the decisions about one
// project.
func logOf(before, after *records.Decisions) []*record.Trust {
	var lines []*record.Trust
	note := func(hook, hash, state string) {
		lines = append(lines, &record.Trust{Project: after.Project, Hook: hook, Hash: hash, State: state})
	}
	for _, now := range after.Hooks {
		was := before.Find(now.Hook)
		if was == nil || was.Decision != now.Decision || was.Hash != now.Hash || !was.At.Equal(now.At) {
			note(now.Hook, now.Hash, string(now.Decision))
		}
	}
	for _, was := range before.Hooks {
		if after.Find(was.Hook) == nil {
			note(was.Hook, was.Hash, decidedForgotten)
		}
	}
	off := func(d *records.Decisions, r records.DisabledRecord) bool {
		return slices.ContainsFunc(d.Disabled, func(other records.DisabledRecord) bool {
			return cmp.Or(cmp.Compare(other.Layer, r.Layer), cmp.Compare(other.Hook, r.Hook)) == 0
		})
	}
	for _, now := range after.Disabled {
		if !slices.Contains(before.Disabled, now) {
			note(now.Layer+"/"+now.Hook, "", decidedDisabled)
		}
	}
	for _, was := range before.Disabled {
		if !off(after, was) {
			note(was.Layer+"/"+was.Hook, "", decidedEnabled)
		}
	}
	return lines
}
