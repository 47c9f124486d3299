package protocol

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Apply returns the event as a reply changes it, and the changes with their
// owner. It changes only what the event's row of the table allows, checks what
// was changed against the field's type, and does all of a reply or nothing: with
// an error the event is the one that was given. Members and bytes that the reply
// did not change stay as they were; the bytes of ev are never written to.
//
// A result or response in place of the work is checked and listed as a change
// (/result, /response), but does not become part of the event.
func Apply(ev Event, by HookInfo, r Reply, lim DecodeLimits) (Event, []Change, error) {
	spec := ev.Spec()
	if spec == nil {
		return ev, nil, fmt.Errorf("unknown event %q", ev.Event)
	}
	lim = lim.orDefault(DefaultEventSize)
	changed, changes, err := applyChanges(spec, &ev, by, r, lim)
	if err != nil {
		return ev, nil, err
	}
	for _, replaced := range []struct {
		path  string
		value RawMessage
		typ   FieldType
	}{{"/result", r.Result, TypeResult}, {"/response", r.Response, TypeResponse}} {
		if replaced.value == nil {
			continue
		}
		if spec.Replace != replaced.typ {
			return ev, nil, notHere(spec, by, string(replaced.typ))
		}
		if err := checkField(replaced.typ, nil, replaced.value, by, nil); err != nil {
			return ev, nil, fmt.Errorf("%s%w", replaced.path, err)
		}
		changes = append(changes, Change{Path: replaced.path, By: by.Name, After: replaced.value})
	}
	after := ev
	after.Data = ev.touchedAgain(changed, changes)
	return after, changes, nil
}

// applyChanges applies changes or patch to the event's data, within bounds of work.
func applyChanges(spec *Spec, ev *Event, by HookInfo, r Reply, lim DecodeLimits) (data RawMessage, changes []Change, err error) {
	w := workOn(len(ev.Data), len(r.Changes), len(r.Patch))
	err = w.within(func() error {
		data, changes, err = w.applyChanges(spec, ev, by, r, lim)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return data, changes, nil
}

func (w *work) applyChanges(spec *Spec, ev *Event, by HookInfo, r Reply, lim DecodeLimits) (RawMessage, []Change, error) {
	want, err := w.wanted(spec, ev, r, lim)
	if err != nil || want == nil {
		return ev.Data, nil, err
	}
	if int64(len(want)) > lim.Size {
		return nil, nil, fmt.Errorf("the changed event is %w: %d bytes, the limit is %d", ErrTooLarge, len(want), lim.Size)
	}
	if depthExceeded(want, lim.Depth) >= 0 {
		return nil, nil, fmt.Errorf("the changed event is %w: the limit is %d levels", ErrTooDeep, lim.Depth)
	}
	edit := rewriter{by: by.Name, work: w}
	data := edit.rewrite("", ev.Data, want)
	if err := checkChanged(spec, ev, by, data, edit.changes); err != nil {
		return nil, nil, err
	}
	return data, fewChanges(spec, ev, by, data, edit.changes), nil
}

// wanted is the data that a reply asks for, nil if it changes nothing.
func (w *work) wanted(spec *Spec, ev *Event, r Reply, lim DecodeLimits) (RawMessage, error) {
	switch {
	case r.Changes != nil && r.Patch != nil:
		return nil, errors.New("changes and patch together; give one of them")
	case r.Changes != nil:
		if err := mergesOnly(r.Changes, spec.Fields, ""); err != nil {
			return nil, err
		}
		return w.mergePatch(ev.Data, r.Changes), nil
	case r.Patch != nil:
		if err := mustBe(r.Patch, '['); err != nil {
			return nil, fmt.Errorf("patch: %w", err)
		}
		if err := checkOperations(r.Patch); err != nil {
			return nil, err
		}
		if err := touchesOnly(r.Patch, spec.Fields); err != nil {
			return nil, err
		}
		return w.jsonPatch(ev.Data, r.Patch, lim.Size)
	}
	return nil, nil
}

// mostChanges is how many places of one reply are listed one by one.
const mostChanges = 256

// fewChanges are the changes of a reply. Where there are very many of them, each
// field that was changed is one: records and later replies go through all of them.
func fewChanges(spec *Spec, ev *Event, by HookInfo, data RawMessage, changes []Change) []Change {
	if len(changes) <= mostChanges {
		return changes
	}
	touched := map[string]bool{}
	for _, c := range changes {
		touched[fieldAt(c.Path, spec.Fields).pointer()] = true
	}
	var few []Change
	for i := range spec.Fields {
		if path := spec.Fields[i].pointer(); touched[path] {
			few = append(few, Change{Path: path, By: by.Name, Before: at(ev.Data, path), After: at(data, path)})
		}
	}
	return few
}

// mergesOnly checks that a merge patch names nothing but changeable fields and
// removes none of them.
func mergesOnly(patch RawMessage, fields []Field, prefix string) error {
	if kindOf(patch) != '{' {
		return fmt.Errorf("changes%s: %s where an object is expected", prefix, describe(patch))
	}
	for _, m := range members(patch) {
		path := prefix + pointerToken(m.name)
		value := patch[m.start:m.end]
		if field := fieldAt(path, fields); field != nil {
			if isNull(value) {
				return fmt.Errorf("changes: the field %s may be changed, not removed", path)
			}
			continue
		}
		if !leadsToField(path, fields) {
			return fmt.Errorf("changes: %s is not changeable here; changeable: %s", shorten(path, 200), paths(fields))
		}
		if err := mergesOnly(value, fields, path); err != nil {
			return err
		}
	}
	return nil
}

func leadsToField(path string, fields []Field) bool {
	for i := range fields {
		if strings.HasPrefix(fields[i].pointer(), path+"/") {
			return true
		}
	}
	return false
}

// checkChanged checks the type of every field that a reply changed. It is also
// the last guard against a change outside the table.
func checkChanged(spec *Spec, ev *Event, by HookInfo, data RawMessage, changes []Change) error {
	for _, c := range changes {
		if fieldAt(c.Path, spec.Fields) == nil {
			return fmt.Errorf("%s is not changeable here; changeable: %s", shorten(c.Path, 200), paths(spec.Fields))
		}
	}
	for i := range spec.Fields {
		f := &spec.Fields[i]
		touched := false
		for _, c := range changes {
			touched = touched || fieldAt(c.Path, spec.Fields[i:i+1]) != nil
		}
		if !touched {
			continue
		}
		value := at(data, f.pointer())
		if value == nil {
			return fmt.Errorf("the field %s may be changed, not removed", f.pointer())
		}
		if err := checkField(f.Type, at(ev.Data, f.pointer()), value, by, ev.CheckArgs); err != nil {
			return fmt.Errorf("%s%w", f.pointer(), err)
		}
	}
	return nil
}

// at returns the value that a JSON Pointer of object members leads to, or nil.
func at(v RawMessage, pointer string) RawMessage {
	for token := range jsontext.Pointer(pointer).Tokens() {
		v = Member(v, token)
	}
	return v
}
