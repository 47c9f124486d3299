package trust

import (
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/settings"
)

// Allow allows exactly what the item shows.
func (item *PlanItem) Allow(d *records.Decisions, st Store) error {
	if item.Trouble != "" {
		return fmt.Errorf("%s (%s)", item.Trouble, item.Remedy)
	}
	if item.bundle == nil && item.inMain {
		d.Set(records.Record{Hook: item.Hook, Decision: records.Denied, At: time.Now().UTC().Truncate(time.Second), Command: item.Path == "" && item.Kind == records.KindHook, Kind: item.recordedKind()})
		return nil
	}
	if item.bundle == nil { // gone, one that was denied too
		d.Remove(item.Hook)
		return nil
	}
	if item.Kind == records.KindSettings {
		if err := item.unchangedSettings(); err != nil {
			return err
		}
	} else if err := st.Put(item.bundle); err != nil {
		return err
	}
	d.Set(records.Record{
		Hook: item.Hook, Decision: records.Allowed, Hash: item.Hash, At: time.Now().UTC().Truncate(time.Second),
		Bundle: *item.bundle, Pins: item.pins, InPlace: item.InPlace, Command: item.Path == "" && item.Kind == records.KindHook, Kind: item.recordedKind(),
	})
	return nil
}

// unchangedSettings reads a settings file again.
func (item *PlanItem) unchangedSettings() error {
	text, err := settings.ReadText(item.Path)
	if err != nil {
		return err
	}
	entry, err := settings.Canonical(item.Path, text)
	if err == nil && !bundle.SameJSON(entry, item.Entry) {
		err = fmt.Errorf("%s: %w", item.Path, ErrChangedSince)
	}
	return err
}

// recordedKind leaves a hook's kind out, as records did when there was no other.
func (item *PlanItem) recordedKind() records.Kind {
	if item.Kind == records.KindHook {
		return ""
	}
	return item.Kind
}

// Deny records that a person denied the item.
func (item *PlanItem) Deny(d *records.Decisions) {
	r := records.Record{Hook: item.Hook, Command: item.Path == "" && item.Kind == records.KindHook, Kind: item.recordedKind()}
	if old := d.Find(item.Hook); old != nil {
		r = *old
	} else if item.bundle != nil {
		r.Hash, r.Bundle = item.Hash, *item.bundle
	}
	r.Decision, r.At = records.Denied, time.Now().UTC().Truncate(time.Second)
	d.Set(r)
}
