package frontmatter

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type head struct {
	Name      string `yaml:"name"`
	Tools     List   `yaml:"allowed_tools"`
	Arguments []struct {
		Name     string `yaml:"name"`
		Required bool   `yaml:"required"`
	} `yaml:"arguments"`
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		body    string
		line    int
		has     bool
		name    string
		tools   List
		unknown []Unknown
		fails   string
	}{
		"plain":                 {text: "---\nname: a\n---\nthe text\n", body: "the text", line: 4, has: true, name: "a"},
		"blank lines":           {text: "\n\n---\nname: a\n---\n\n\n  indented\n\n", body: "  indented", line: 8, has: true, name: "a"},
		"carriage returns":      {text: "\ufeff---\r\nname: a\r\n---\r\none\r\ntwo\r\n", body: "one\ntwo", line: 4, has: true, name: "a"},
		"comment before":        {text: "<!-- recipes/a.md -->\n---\nname: a\n---\ntext", body: "text", line: 5, has: true, name: "a"},
		"long comment before":   {text: "<!-- one\n---\ntwo --> <!-- three -->\n---\nname: a\n---\ntext", body: "text", line: 7, has: true, name: "a"},
		"comment and no head":   {text: "<!-- c -->\ntext", body: "<!-- c -->\ntext", line: 1},
		"open comment":          {text: "<!-- c\n", body: "<!-- c", line: 1},
		"no head":               {text: "just text\n---\nmore\n", body: "just text\n---\nmore", line: 1},
		"empty file":            {text: "", body: "", line: 1},
		"empty head":            {text: "---\n---\ntext", body: "text", line: 3, has: true},
		"comment only head":     {text: "---\n# nothing\n---\ntext", body: "text", line: 4, has: true},
		"no body":               {text: "---\nname: a\n---", body: "", line: 4, has: true, name: "a"},
		"rule in the body":      {text: "---\nname: a\n---\none\n---\ntwo", body: "one\n---\ntwo", line: 4, has: true, name: "a"},
		"list":                  {text: "---\nallowed_tools: [bash, ' grep ']\n---\n", line: 4, has: true, tools: List{"bash", "grep"}},
		"list as text":          {text: "---\nallowed_tools: bash, grep,\n---\n", line: 4, has: true, tools: List{"bash", "grep"}},
		"empty list":            {text: "---\nallowed_tools: []\n---\n", line: 4, has: true, tools: List{}},
		"unknown keys":          {text: "---\nname: a\nversion: 2\narguments:\n- name: x\n  usual: y\n---\n", line: 8, has: true, name: "a", unknown: []Unknown{{"version", 3}, {"arguments.usual", 6}}},
		"no end":                {text: "<!-- c -->\n---\nname: a\n", fails: "line 2: the front matter has no end"},
		"not YAML":              {text: "<!-- c -->\n---\nname: a\nb: [\n---\n", fails: "line "},
		"wrong type":            {text: "---\nname: a\narguments: yes\n---\n", fails: "line 3: a list is expected here"},
		"list of what":          {text: "---\nallowed_tools: {a: b}\n---\n", fails: "line 2: a list of names is expected"},
		"list of lists":         {text: "---\nallowed_tools:\n- [a]\n---\n", fails: "line 3: a name is expected"},
		"key twice":             {text: "---\nname: a\nname: b\n---\n", fails: "line 3: mapping key \"name\" already defined at line 2"},
		"no mapping":            {text: "---\n- a\n---\n", fails: "line 2: the front matter is not made of"},
		"alias":                 {text: "---\nname: &x a\ndescription: *x\n---\n", fails: "line 2: anchors and aliases"},
		"not UTF-8":             {text: "---\nname: a\n---\n\xff", fails: "line 4: this is not UTF-8"},
		"too large":             {text: strings.Repeat("x", MaxSize+1), fails: "the file has 262145 bytes, the limit is 262144"},
		"control character":     {text: "---\nname: \x01\n---\n", fails: "control characters are not allowed"},
		"two dashes":            {text: "--\nname: a\n---\ntext", fails: "line 1: this looks like front matter"},
		"long dashes":           {text: "\n———\ndescription: a\n———\ntext", fails: "line 2: this looks like front matter"},
		"words after it":        {text: "--- yaml\nname: a\n---\ntext", fails: "line 1: this looks like front matter"},
		"TOML":                  {text: "+++\nname: a\n+++\ntext", fails: "line 1: this looks like front matter"},
		"indented":              {text: "  ---\n  name: a\n  ---\ntext", fails: "line 1: this looks like front matter"},
		"in a block of code":    {text: "```\nname: a\n---\ntext", fails: "line 1: this looks like front matter"},
		"not opened":            {text: "name: a\ndescription: b\n---\ntext", fails: "line 1: this looks like front matter"},
		"a rule at the top":     {text: "----\ntext\n---\nmore", body: "----\ntext\n---\nmore", line: 1},
		"a word with a colon":   {text: "description: of what to do\nmore", body: "description: of what to do\nmore", line: 1},
		"two documents are one": {text: "---\nname: a\n...\n---\n", body: "", line: 5, has: true, name: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Parse([]byte(c.text))
			var h head
			var unknown []Unknown
			if err == nil {
				unknown, err = d.Decode(&h)
			}
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || !errors.As(err, new(*Error)) {
					t.Fatalf("error %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Body != c.body || d.BodyLine != c.line || d.HasHead() != c.has || h.Name != c.name {
				t.Errorf("body %q line %d head %v name %q", d.Body, d.BodyLine, d.HasHead(), h.Name)
			}
			if diff := cmp.Diff(c.unknown, unknown); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.tools, h.Tools); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLine(t *testing.T) {
	d, err := Parse([]byte("<!-- c -->\n---\nname: a\ndescription: b\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{d.Line("name"), d.Line("description"), d.Line("none")}; !cmp.Equal(got, []int{3, 4, 3}) {
		t.Errorf("lines %v", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"---\nname: a\nallowed_tools: [x]\narguments:\n- name: b\n---\ntext", "<!-- c\n--> \n---\n? [a]\n: b\n---\n",
		"---\n<<: {name: a}\n---", "---\nname: &a *a\n---\n", "\ufeff---\r\n---\r\n", "---\n\t- a\n---\n", "---\nname: !!binary x\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse([]byte(text))
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("%T", err)
			}
			return
		}
		if lines := strings.Count(text, "\n") + 2; d.BodyLine < 1 || d.BodyLine > lines {
			t.Fatalf("the body begins on line %d of %d", d.BodyLine, lines)
		}
		var h head
		if _, err := d.Decode(&h); err != nil && !errors.As(err, new(*Error)) {
			t.Fatalf("%T: %v", err, err)
		}
	})
}
