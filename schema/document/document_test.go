package document

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

func s(text string, line int) *Node { return &Node{Kind: String, Text: text, Line: line} }
func n(text string, line int) *Node { return &Node{Kind: Number, Text: text, Line: line} }

func TestParse(t *testing.T) {
	tests := []struct {
		name   string
		format Format
		text   string
		want   *Node
	}{
		{"json", JSON, "\xef\xbb\xbf{\r\n \"b\":\n  [1.50, true,\n null],\r\n\"B\" : \"é\\n\", \"b\": {}}\n", &Node{Kind: Object, Line: 1, Members: []Member{
			{"b", 2, &Node{Kind: List, Line: 3, Items: []*Node{n("1.50", 3), {Kind: Bool, Text: "true", Line: 3}, {Kind: Null, Line: 4}}}},
			{"B", 5, s("é\n", 5)},
			{"b", 5, &Node{Kind: Object, Line: 5}},
		}}},
		{"json numbers keep their digits", JSON, `[9007199254740993, 1.10, 1e400, -0]`, &Node{Kind: List, Line: 1, Items: []*Node{n("9007199254740993", 1), n("1.10", 1), n("1e400", 1), n("-0", 1)}}},
		{"yaml", YAML, "# why\nb:\n  - 1.5\n  - !!str 7\n  - ~\nB: >\n  é\n1: 2026-01-01\nyes: yes\n", &Node{Kind: Object, Line: 2, Members: []Member{
			{"b", 2, &Node{Kind: List, Line: 3, Items: []*Node{n("1.5", 3), s("7", 4), {Kind: Null, Line: 5}}}},
			{"B", 6, s("é\n", 6)},
			{"1", 8, &Node{Kind: Other, Text: "2026-01-01", Line: 8}},
			{"yes", 9, s("yes", 9)},
		}}},
		{"yaml alias", YAML, "a: &x [1]\nb: *x\n<<: *x\n", &Node{Kind: Object, Line: 1, Members: []Member{
			{"a", 1, &Node{Kind: List, Line: 1, Items: []*Node{n("1", 1)}}},
			{"b", 2, &Node{Kind: List, Line: 2, Items: []*Node{n("1", 1)}}},
			{"<<", 3, &Node{Kind: List, Line: 3, Items: []*Node{n("1", 1)}}},
		}}},
		{"yaml spellings of numbers", YAML, "[010, 0x1F, 1_000, .5, +1, 1e3, .inf]", &Node{Kind: List, Line: 1, Items: []*Node{
			{Kind: Other, Text: "010", Line: 1}, {Kind: Other, Text: "0x1F", Line: 1}, {Kind: Other, Text: "1_000", Line: 1},
			{Kind: Other, Text: ".5", Line: 1}, {Kind: Other, Text: "+1", Line: 1}, n("1e3", 1), {Kind: Other, Text: ".inf", Line: 1},
		}}},
		{"toml", TOML, "x = 1_000\ny.z = '''\na'''\n[[l]]\nk = 0x1F\n[l.deep]\nq = { r = [1.5,\n true] }\n[[l]]\nk = inf\n", &Node{Kind: Object, Line: 1, Members: []Member{
			{"x", 1, n("1000", 1)},
			{"y", 2, &Node{Kind: Object, Line: 2, Members: []Member{{"z", 2, s("a", 2)}}}},
			{"l", 4, &Node{Kind: List, Line: 4, Items: []*Node{
				{Kind: Object, Line: 4, Members: []Member{
					{"k", 5, n("31", 5)},
					{"deep", 6, &Node{Kind: Object, Line: 6, Members: []Member{{"q", 7, &Node{Kind: Object, Line: 7, Members: []Member{
						{"r", 7, &Node{Kind: List, Line: 7, Items: []*Node{n("1.5", 7), {Kind: Bool, Text: "true", Line: 8}}}},
					}}}}}},
				}},
				{Kind: Object, Line: 9, Members: []Member{{"k", 10, &Node{Kind: Other, Text: "inf", Line: 10}}}},
			}}},
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.format, []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// plain turns a tree into what a decoder into any makes, numbers as text.
func plain(n *Node) any {
	switch n.Kind {
	case Object:
		object := map[string]any{}
		for _, m := range n.Members {
			object[m.Key] = plain(m.Value)
		}
		return object
	case List:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, plain(item))
		}
		return list
	case Null:
		return nil
	case Bool:
		return n.Text == "true"
	case Number:
		if f, err := strconv.ParseFloat(n.Text, 64); err == nil {
			return f
		}
		return "number"
	case Other:
		return "other"
	}
	return n.Text
}

// alike turns what a decoder made into the same form.
func alike(v any) any {
	switch v := v.(type) {
	case map[string]any:
		object := map[string]any{}
		for key, value := range v {
			object[key] = alike(value)
		}
		return object
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, alike(item))
		}
		return list
	case nil, bool, string:
		return v
	case int64:
		return float64(v)
	case float64:
		if v != v || v-v != 0 {
			return "other"
		}
		return v
	}
	return "other"
}

// The tree of a TOML file holds what the full decoder finds in it.
func FuzzTOML(f *testing.F) {
	f.Add("a.b = 1\n[c]\n[[d.e]]\nx = [{y = 1}, {y = '2'}]\n[d.e.f]\n[[d.e]]\n")
	f.Add("[a]\nb.c = 1\n[a.d]\n[\"a\".'x.y']\nz = \"\\u00e9\"\n")
	f.Add("a = 1979-05-27T07:32:00Z # c\nb = [ # c\n 1, # d\n]\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(TOML, []byte(text))
		if err != nil {
			checkSyntaxError(t, text, err)
			return
		}
		var want map[string]any
		if err := toml.Unmarshal([]byte(strings.TrimPrefix(text, "\xef\xbb\xbf")), &want); err != nil {
			t.Fatalf("accepted what the decoder refuses: %v", err)
		}
		if diff := cmp.Diff(alike(want), plain(got)); diff != "" {
			t.Errorf("-decoder +tree:\n%s", diff)
		}
	})
}

// The tree of a JSON file holds what encoding/json finds in it, the last of
// equal keys counting.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a": [1, 2.50, {"b": null}], "A": "x\u00e9\n", "a": true}`)
	f.Add(`[[],{},"",0]`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(JSON, []byte(text))
		if err != nil {
			checkSyntaxError(t, text, err)
			return
		}
		decoder := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\xef\xbb\xbf")))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("accepted what the decoder refuses: %v", err)
		}
		if diff := cmp.Diff(numbers(want), plain(got)); diff != "" {
			t.Errorf("-decoder +tree:\n%s", diff)
		}
	})
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
		return "number"
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// A YAML file that is read at all is one the decoder reads, and every line of
// the tree is one the file has.
func FuzzYAML(f *testing.F) {
	f.Add("a: &x {b: 1}\nc: *x\nd:\n- e\n- |\n  f\n")
	f.Add("? a\n: b\n!!str 1: ~\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(YAML, []byte(text))
		if err != nil {
			checkSyntaxError(t, text, err)
			return
		}
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, "\xef\xbb\xbf")), &node); err != nil {
			t.Fatalf("accepted what the decoder refuses: %v", err)
		}
		checkLines(t, got, strings.Count(text, "\n")+1)
	})
}

func checkLines(t *testing.T, n *Node, last int) {
	t.Helper()
	if n.Line < 1 || n.Line > last {
		t.Fatalf("line %d of %d: %+v", n.Line, last, n)
	}
	for _, item := range n.Items {
		checkLines(t, item, last)
	}
	for _, m := range n.Members {
		checkLines(t, m.Value, last)
	}
}

func checkSyntaxError(t *testing.T, text string, err error) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Message == "" {
		t.Fatalf("%q: %#v", text, err)
	}
}
