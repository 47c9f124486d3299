package jsonspan

import (
	"slices"
	"testing"
)

// FuzzGet: a member is found under its name however the name is spelled, in objects that
// are valid and in those that are not.
func FuzzGet(f *testing.F) {
	for _, object := range []string{
		`{"name":1,"b":2}`, `{"n\u0061me":1}`, `{"\"name":1,"name":2}`, `{"nam`, `{"name`, `{"name"`, `{"name" : [1] }`, `{name:1}`,
		"{\"na\xffme\":1}", `{"na\ud800me":1}`, `{"":1,"name":2}`, `{"name":1,"name":2}`, `["name",1]`, ``, `{"a":{"name":1}}`,
	} {
		for _, name := range []string{"name", "", "b", "na\ufffdme", `"name`, "n\\u0061me", "na\xffme", "nam"} {
			f.Add([]byte(object), name)
		}
	}
	f.Fuzz(func(t *testing.T, object []byte, name string) {
		members := Members(object)
		i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
		got := Get(object, name)
		switch {
		case i < 0 && got != nil:
			t.Errorf("%q in %q is %q and is no member", name, object, got)
		case i >= 0 && string(got) != string(members[i].Value):
			t.Errorf("%q in %q is %q, want %q", name, object, got, members[i].Value)
		}
	})
}
