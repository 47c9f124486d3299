package servecmd

import (
	"errors"
	"fmt"
	"testing"
)

// However many callers have other variables, each is told apart, few environments are kept,
// and one that is not kept any more is none, never another one.
func TestCallersAreBounded(t *testing.T) {
	c := newCallers()
	c.own = []string{"HOME=/h"}
	c.named["/p"] = []string{"WHO"}
	environ := func(i int) []string { return []string{"HOME=/h", fmt.Sprintf("WHO=%d", i)} }
	marks := map[string]bool{}
	first := ""
	for i := range 3 * mostMarks {
		mark, err := c.mark("/p", environ(i))
		if err != nil || mark == "" || marks[mark] {
			t.Fatalf("caller %d: %q %v", i, mark, err)
		}
		marks[mark] = true
		if first == "" {
			first = mark
		}
		if i == 0 || i == mostMarks/2 { // it comes again, so that it is kept longer
			if again, err := c.mark("/p", environ(0)); again != first || err != nil {
				t.Fatalf("%q %v", again, err)
			}
		}
		project, got, err := c.environOf("/p" + mark)
		if project != "/p" || err != nil || got[1] != environ(i)[1] {
			t.Fatalf("caller %d: %s %v %v", i, project, got, err)
		}
		_, _, err = c.environOf("/p" + first)
		if kept := i < mostMarks+mostMarks/2; kept != (err == nil) || !kept && !errors.Is(err, errManyCallers) {
			t.Fatalf("after %d callers the first is kept: %v", i+1, err)
		}
		if len(c.marks) > mostMarks || len(c.last) > mostMarks {
			t.Fatalf("%d environments and %d callers are kept", len(c.marks), len(c.last))
		}
	}
	if mark, err := c.mark("/p", environ(0)); mark != first || err != nil {
		t.Errorf("%q %v", mark, err)
	}
	if _, got, err := c.environOf("/p" + first); err != nil || got[1] != "WHO=0" {
		t.Errorf("%v %v", got, err)
	}
}

// The last caller of a project may come when others have made its environment be forgotten.
func TestLastCallerIsKept(t *testing.T) {
	c := newCallers()
	c.own = []string{"HOME=/h"}
	c.named["/p"], c.named["/q"] = []string{"WHO"}, []string{"WHO"}
	mark, _ := c.mark("/p", []string{"HOME=/h", "WHO=me"})
	for i := range 2 * mostMarks {
		_, _ = c.mark("/q", []string{"HOME=/h", fmt.Sprintf("WHO=%d", i)})
	}
	again, err := c.mark("/p", []string{"HOME=/h", "WHO=me"})
	if again != mark || err != nil {
		t.Fatalf("%q %v", again, err)
	}
	if _, got, err := c.environOf("/p" + mark); err != nil || got[1] != "WHO=me" {
		t.Errorf("%v %v", got, err)
	}
}

// A caller with another place for its state is turned away however often it comes.
func TestOtherStateIsTurnedAway(t *testing.T) {
	c := newCallers()
	c.own = []string{"HOME=/h"}
	for range 2 {
		for _, environ := range [][]string{{"HOME=/other"}, {}, {"HOME=/h", "XDG_STATE_HOME=/s"}} {
			if mark, err := c.mark("/p", environ); err != errOtherState {
				t.Errorf("%v: %q %v", environ, mark, err)
			}
		}
	}
	if mark, err := c.mark("/p", []string{"HOME=/h", "UNSEEN=1"}); mark != "" || err != nil {
		t.Errorf("%q %v", mark, err)
	}
}
