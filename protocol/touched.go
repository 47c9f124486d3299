package protocol

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Touched is the one file or folder that a call of a file tool reads or changes: what
// its path leads to, whatever that is called in args. The host finds it out, and anew
// when a hook changed args; no hook changes it.
type Touched struct {
	RealPath   string   `json:"realPath,omitzero" jsonschema:"file tools: absolute, all links followed; may not exist yet; of list_dir and grep where they begin"`
	Links      int      `json:"links,omitzero" jsonschema:"names (hard links) of the file, where it has more than one"`
	OtherPaths []string `json:"otherPaths,omitzero" jsonschema:"those other names that lie in the project, as far as a bounded search found them"`
}

// touchedMembers are the members of [Touched] in the data of an event.
var touchedMembers = []string{"realPath", "links", "otherPaths"}

// touchedAgain returns an event's data after hooks changed it, with what the changed
// args touch. Where nobody knows that the members are gone: what is no longer true
// must not be read.
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
	if !told && touched.RealPath == "" {
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
