package conversation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/recipe"
)

// TestRecipeArgumentsOfALine asserts that a line gives a recipe exactly what was written,
// and that nothing which a shell would fill in passes unseen.
func TestRecipeArgumentsOfALine(t *testing.T) {
	one := &recipe.Recipe{Arguments: []recipe.Argument{{Name: "topic"}}}
	two := &recipe.Recipe{Arguments: []recipe.Argument{{Name: "from"}, {Name: "to"}}}
	for _, c := range []struct {
		of    *recipe.Recipe
		line  string
		want  map[string]string
		fails string
	}{
		{two, "", map[string]string{}, ""},
		{one, "the $HOME of 'x", map[string]string{"topic": "the $HOME of 'x"}, ""},
		{one, "topic='a b'", map[string]string{"topic": "a b"}, ""},
		{two, `from='a b' to="c=d"`, map[string]string{"from": "a b", "to": "c=d"}, ""},
		{two, "from=a from=b", nil, "given twice"},
		{two, "from=$HOME", nil, "nothing is filled in"},
		{two, "from=$(rm x)", nil, ""},
		{two, "from=a; rm x", nil, "cannot be read"},
		{two, "from=a > x", nil, "cannot be read"},
		{two, "from='a", nil, "cannot be read"},
		{two, "just words", nil, "no KEY=VALUE"},
	} {
		got, err := recipeArgs(c.of, c.line)
		switch {
		case c.want == nil && err == nil:
			t.Errorf("%q is taken: %v", c.line, got)
		case c.want == nil && !strings.Contains(err.Error(), c.fails):
			t.Errorf("%q: %v", c.line, err)
		case c.want != nil:
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%q: %v %s", c.line, err, diff)
			}
		}
	}
}
