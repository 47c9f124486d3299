package loader

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
)

// What a person decided, in the words of the record.
const (
	decidedForgotten = "forgotten" // a hook that is gone, and nobody misses
	decidedDisabled  = "disabled"
	decidedEnabled   = "enabled"
)

// change makes a decision and writes it into the record: who reads there what
// hooks decided also sees who let them.
func (t *Trust) change(project string, update func(*decisions) error) error {
	var lines []*record.Trust
	err := t.loader.records.change(project, func(d *decisions) error {
		before := decisions{Project: d.Project, Hooks: slices.Clone(d.Hooks), Disabled: slices.Clone(d.Disabled)}
		if err := update(d); err != nil {
			return err
		}
		lines = decided(&before, d)
		return nil
	})
	if err != nil || len(lines) == 0 {
		return err
	}
	log := record.Open(filepath.Join(t.loader.state, "records"), 0, 0)
	var errs []error
	for _, line := range lines {
		line.How = t.How
		errs = append(errs, log.Append("", time.Now(), line))
	}
	if err := errors.Join(append(errs, log.Close())...); err != nil {
		return fmt.Errorf("the decision stands and could not be recorded: %w", err)
	}
	return nil
}

// decided lists what differs between two states of the decisions about one
// project.
func decided(before, after *decisions) []*record.Trust {
	var lines []*record.Trust
	note := func(hook, hash, state string) {
		lines = append(lines, &record.Trust{Project: after.Project, Hook: hook, Hash: hash, State: state})
	}
	for _, now := range after.Hooks {
		was := before.find(now.Hook)
		if was == nil || was.Decision != now.Decision || was.Hash != now.Hash || !was.At.Equal(now.At) {
			note(now.Hook, now.Hash, string(now.Decision))
		}
	}
	for _, was := range before.Hooks {
		if after.find(was.Hook) == nil {
			note(was.Hook, was.Hash, decidedForgotten)
		}
	}
	off := func(d *decisions, r disabledRecord) bool {
		return slices.ContainsFunc(d.Disabled, func(other disabledRecord) bool {
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
