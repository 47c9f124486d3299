package install

import (
	"slices"
	"strings"
	"testing"
)

// Where the version of an agent is not known, what an earlier installation put in stays as it
// is, and events that not every version has are not added.
func TestAnUnknownVersionRemovesNothing(t *testing.T) {
	in := here(t)
	for _, a := range Agents {
		if a.layout.style == plugin || !a.Has(in.Places, User) {
			continue
		}
		before := install(t, in, a, User)
		p, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"})
		if err != nil {
			t.Fatal(err)
		}
		if p.Changes() || len(p.Missing) > 0 || !slices.Equal(p.Events, before.Events) {
			t.Errorf("%s: of %q are left %q, missing %q\n%s", a.Name, before.Events, p.Events, p.Missing, p.Files[0].After)
		}
	}
	a := Find("claude")
	moved, err := in.Plan(Request{Agent: a, Scope: User, Program: "/new/hookd"})
	if err != nil {
		t.Fatal(err)
	}
	was, is := string(moved.Files[0].Before), string(moved.Files[0].After)
	if strings.ReplaceAll(was, "/opt/hookd", "/new/hookd") != is || was == is {
		t.Errorf("another program changes more than its path:\n%s", is)
	}

	// An entry that the person took out is not put in again, since nobody knows that it may be.
	write(t, moved.Files[0].Path, strings.ReplaceAll(was, "SessionEnd", "Elsewhere"))
	p, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"})
	if err != nil || slices.Contains(p.Events, "SessionEnd") || !slices.Equal(p.Missing, []string{"SessionEnd"}) || !slices.Contains(p.Events, "PreCompact") {
		t.Errorf("%v, events %q, missing %q", err, p.Events, p.Missing)
	}
	p, err = in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd", Version: Version{1, 0, 38}})
	if err != nil || len(p.Events) != 4 {
		t.Errorf("a known old version keeps %q, %v", p.Events, err)
	}
}
