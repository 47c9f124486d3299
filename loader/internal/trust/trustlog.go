package trust

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/loader/internal/records"
)

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
