package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
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
	budget := jsonspan.NewBudget(len(ev.Data), len(r.Changes), len(r.Patch))
	err = budget.Within(func() error {
		data, changes, err = changedData(budget, spec, ev, by, r, lim)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return data, changes, nil
}

func changedData(b *jsonspan.Budget, spec *Spec, ev *Event, by HookInfo, r Reply, lim DecodeLimits) (RawMessage, []Change, error) {
	want, err := wanted(b, spec, ev, r, lim)
	if err != nil || want == nil {
		return ev.Data, nil, err
	}
	if int64(len(want)) > lim.Size {
		return nil, nil, fmt.Errorf("the changed event is %w: %d bytes, the limit is %d", ErrTooLarge, len(want), lim.Size)
	}
	if jsonspan.DepthExceeded(want, lim.Depth) >= 0 {
		return nil, nil, fmt.Errorf("the changed event is %w: the limit is %d levels", ErrTooDeep, lim.Depth)
	}
	data, edits := b.Edit(ev.Data, want)
	changes := make([]Change, len(edits))
	for i, e := range edits {
		changes[i] = Change{Path: e.Path, By: by.Name, Before: e.Before, After: e.After}
	}
	if err := checkChanged(spec, ev, by, data, changes); err != nil {
		return nil, nil, err
	}
	return data, fewChanges(spec, ev, by, data, changes), nil
}

// wanted is the data that a reply asks for, nil if it changes nothing.
func wanted(b *jsonspan.Budget, spec *Spec, ev *Event, r Reply, lim DecodeLimits) (RawMessage, error) {
	switch {
	case r.Changes != nil && r.Patch != nil:
		return nil, errors.New("changes and patch together; give one of them")
	case r.Changes != nil:
		if err := mergesOnly(r.Changes, spec.Fields, ""); err != nil {
			return nil, err
		}
		return b.MergePatch(ev.Data, r.Changes), nil
	case r.Patch != nil:
		if err := jsonspan.Expect(r.Patch, '['); err != nil {
			return nil, fmt.Errorf("patch: %w", err)
		}
		if err := jsonspan.CheckPatch(r.Patch); err != nil {
			return nil, err
		}
		if err := touchesOnly(r.Patch, spec.Fields); err != nil {
			return nil, err
		}
		return b.Patch(ev.Data, r.Patch, lim.Size)
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
			few = append(few, Change{Path: path, By: by.Name, Before: jsonspan.Find(ev.Data, path), After: jsonspan.Find(data, path)})
		}
	}
	return few
}

// mergesOnly checks that a merge patch names nothing but changeable fields and
// removes none of them.
func mergesOnly(patch RawMessage, fields []Field, prefix string) error {
	if jsonspan.Kind(patch) != '{' {
		return fmt.Errorf("changes%s: %s where an object is expected", prefix, jsonspan.Describe(patch))
	}
	for _, m := range jsonspan.Members(patch) {
		path := prefix + jsonspan.PointerToken(m.Name)
		value := m.Value
		if field := fieldAt(path, fields); field != nil {
			if jsonspan.IsNull(value) {
				return fmt.Errorf("changes: the field %s may be changed, not removed", path)
			}
			continue
		}
		if !leadsToField(path, fields) {
			return fmt.Errorf("changes: %s is not changeable here; changeable: %s", text.Shorten(path, 200), paths(fields))
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
			return fmt.Errorf("%s is not changeable here; changeable: %s", text.Shorten(c.Path, 200), paths(spec.Fields))
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
		value := jsonspan.Find(data, f.pointer())
		if value == nil {
			return fmt.Errorf("the field %s may be changed, not removed", f.pointer())
		}
		if err := checkField(f.Type, jsonspan.Find(ev.Data, f.pointer()), value, by, ev.CheckArgs); err != nil {
			return fmt.Errorf("%s%w", f.pointer(), err)
		}
	}
	return nil
}

// touchesOnly checks that a patch writes nothing outside the changeable fields
// and removes none of them. ReadResult elsewhere (test, copy from) is harmless.
func touchesOnly(patch RawMessage, fields []Field) error {
	for i, operation := range jsonspan.Elements(patch) {
		op := jsonspan.Text(jsonspan.Get(operation, "op"))
		writes := []string{jsonspan.Text(jsonspan.Get(operation, "path"))}
		if op == "test" {
			continue
		}
		if op == "move" {
			writes = append(writes, jsonspan.Text(jsonspan.Get(operation, "from")))
		}
		for n, path := range writes {
			field := fieldAt(path, fields)
			if field == nil {
				return fmt.Errorf("patch/%d: %s is not changeable here; changeable: %s", i, jsonspan.PointerName(path), paths(fields))
			}
			if removes := op == "remove" || n == 1; removes && path == field.pointer() {
				return fmt.Errorf("patch/%d: the field %s may be changed, not removed", i, path)
			}
		}
	}
	return nil
}

// fieldAt returns the changeable field that path leads to or into.
func fieldAt(path string, fields []Field) *Field {
	for i := range fields {
		p := fields[i].pointer()
		if path == p || strings.HasPrefix(path, p+"/") {
			return &fields[i]
		}
	}
	return nil
}

// pointer is the field's path as a JSON Pointer.
func (f *Field) pointer() string { return "/" + strings.ReplaceAll(f.Path, ".", "/") }

func paths(fields []Field) string {
	var list []string
	for i := range fields {
		list = append(list, fields[i].pointer())
	}
	return strings.Join(list, " ")
}

// touchedMembers are the members of [Touched] in the data of an event.
var touchedMembers = []string{"realPath", "realPaths", "links", "otherPaths"}

// touchedAgain returns an event's data after hooks changed it, with what the changed
// args touch. If the host cannot say so, the members are removed: a hook must not read
// what is no longer true.
func (ev *Event) touchedAgain(data RawMessage, changes []Change) RawMessage {
	spec := ev.Spec()
	changed := false
	for _, c := range changes {
		changed = changed || c.Path == "/args" || strings.HasPrefix(c.Path, "/args/")
	}
	if !changed || !spec.Tool {
		return data
	}
	var touched Touched
	if ev.Touches != nil {
		touched = ev.Touches(jsonspan.Get(data, "args"))
	}
	told := slices.ContainsFunc(touchedMembers, func(name string) bool { return jsonspan.Get(data, name) != nil })
	if !told && touched.RealPath == "" && touched.RealPaths == nil {
		return data
	}
	return WithTouched(data, touched)
}

// WithTouched returns an event's data with these members of [Touched] and no others. All other
// bytes stay.
func WithTouched(data RawMessage, touched Touched) RawMessage {
	object := jsonspan.Trim(data)
	if jsonspan.Kind(object) != '{' {
		return data
	}
	kept := append(make(RawMessage, 0, len(object)+len(touched.RealPath)+64), '{')
	add := func(member []byte) {
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, member...)
	}
	for _, m := range jsonspan.Members(object) {
		if !slices.Contains(touchedMembers, m.Name) {
			add(object[m.Begin:m.End()])
		}
	}
	if members, err := Marshal(touched); err == nil && len(members) > len("{}") {
		add(members[1 : len(members)-1])
	}
	return append(kept, '}')
}
