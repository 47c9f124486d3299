package prove

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table is whole, and what it names is there.
func TestGuarantees(t *testing.T) {
	before := 0
	for _, g := range Guarantees {
		number := 0
		if fmt.Sscanf(g.ID, "G%d", &number); number <= before || g.Promise == "" || g.Proof == "" || len(g.Tests) == 0 {
			t.Errorf("the row behind G%d is %+v, want a whole row with a higher number", before, g)
		}
		before = number
		for _, test := range g.Tests {
			if source := testsOf(t, test.Package); !strings.Contains(source, "func "+test.Name+"(t *testing.T)") {
				t.Errorf("%s: there is no test %s in %s", g.ID, test.Name, test.Package)
			} else if !strings.Contains(source, `"`+g.ID+`"`) {
				t.Errorf("%s: no proof in %s measures anything of it", g.ID, test.Package)
			}
		}
		for _, test := range g.Fuzz {
			if !strings.Contains(testsOf(t, test.Package), "func "+test.Name+"(f *testing.F)") {
				t.Errorf("%s: there is no fuzz target %s in %s", g.ID, test.Name, test.Package)
			}
		}
	}
}

// testsOf is the text of a package's tests.
func testsOf(t *testing.T, pkg string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
