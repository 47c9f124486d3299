package configtext

import (
	"bytes"
	"testing"
)

var entry = Fields{{"type", "command"}, {"command", "/x/hookd bridge claude Stop --limit 5s"}, {"timeout", 5}}

var seeds = map[Format][]string{
	JSON: {"", "{}", "{ }", "[]", "null", "{\"hooks\": {}}", "{\"hooks\": {\"Stop\": []}}", "{\"hooks\": {\"Stop\": [1, 2,]},}", "{\n\t\"a\": 1 // one\n}\n", "{\"a\":1,\"hooks\":{\"Stop\":[{}]}}",
		"\xef\xbb\xbf{\r\n  \"hooks\": { // none\r\n  }\r\n}", "{\"hooks\": {\"Stop\": [ // a\n 1 /* b */ , // c\n /* d */ ]}}", "// only\n", "{\"hooks\": {\"Stop\": [\n1]}, \"x\": {}}", "/* */ {} // end"},
	YAML: {"", "# c\n", "a: 1", "hooks:\n", "hooks: {}\n", "hooks: ~ # x\n", "hooks:\n  Stop:\n    - a: 1\n    # end\nb: 2\n", "hooks:\n- 1\n", "---\na: |\n  hooks:\n...\n", "'hooks': [ ]\r\nx: 1\r\n",
		"hooks:\n  other: [1]\n", "hooks: &a\n  Stop:\n  - b\n", "a: &x 1\nhooks: *x\n", "  hooks:\n    Stop: []\n  b: 1\n"},
	TOML: {"", "a = 1\n", "a = 1", "[hooks]\n", "[[hooks.Stop]]\nx = 1\n# c\n", "[hooks]\nStop = []\n", "hooks = 1\n", "a = '''\n[[hooks.Stop]]\n'''\n", "[[hooks.Stop]]\r\n[[hooks.Stop.hooks]]\r\na = 1\r\n\r\n[b]\r\n"},
}

// fuzzFormat checks that an addition is undone to the very byte, that it changes nothing
// else, and that an error leaves no text.
func fuzzFormat(f *testing.F, format Format) {
	for _, seed := range seeds[format] {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkUndo(t, format, text)
	})
}

func checkUndo(t *testing.T, format Format, text []byte) {
	path := Names("hooks", "Stop")
	was, err := Parse(format, text)
	if err != nil {
		if _, err := Add(format, text, path, entry); err == nil {
			t.Fatalf("an unreadable text was edited: %q", text)
		}
		return
	}
	list, err := Find(format, text, path)
	if err != nil {
		return
	}
	type kept struct {
		inner string
		empty bool
		there bool
	}
	var parts []kept
	for i := range len(path) + 1 {
		n, err := Find(format, text, path[:i])
		if err != nil {
			return
		}
		inner, empty := Inner(format, text, path[:i])
		parts = append(parts, kept{inner, empty, n != nil})
	}
	after, err := Add(format, text, path, entry)
	if err != nil {
		return
	}
	added, err := Find(format, after, path)
	if err != nil || added == nil || added.Kind != List {
		if format == JSON {
			t.Fatalf("%q becomes unreadable: %q, %v", text, after, err)
		}
		return // the caller compares, and refuses
	}
	index := -1
	for i, item := range added.Items {
		if Same(item, Tree(entry)) {
			index = i
		}
	}
	count := 0
	if list != nil {
		count = len(list.Items)
	}
	if index < 0 || len(added.Items) != count+1 {
		if format == JSON {
			t.Fatalf("%q has %d elements, %d before: %q", text, len(added.Items), count, after)
		}
		return
	}
	back, err := Remove(format, after, path.At(index))
	for i := len(path); err == nil && i >= 0; i-- {
		left, findErr := Find(format, back, path[:i])
		switch {
		case findErr != nil:
			err = findErr
		case i == 0 && !parts[0].there:
			back = []byte(parts[0].inner)
		case left == nil || left.children() > 0:
		case parts[i].empty:
			back, err = SetInner(format, back, path[:i], parts[i].inner)
		case !parts[i].there:
			back, err = Remove(format, back, path[:i])
		}
	}
	if err != nil || !bytes.Equal(back, text) {
		is, _ := Parse(format, back)
		if format == JSON || Same(was, is) {
			t.Fatalf("%v\n%q\n%q\n%q", err, text, after, back)
		}
	}
}

func FuzzJSON(f *testing.F) { fuzzFormat(f, JSON) }
func FuzzYAML(f *testing.F) { fuzzFormat(f, YAML) }
func FuzzTOML(f *testing.F) { fuzzFormat(f, TOML) }
