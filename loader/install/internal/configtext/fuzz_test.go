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
		"hooks:\n  other: [1]\n", "hooks: &a\n  Stop:\n  - b\n", "a: &x 1\nhooks: *x\n", "a: \"x\u2028y\"\nhooks: {}\n", "a: x\u0085y\nhooks:\n", "# \u2029\nhooks: {}\n", "  hooks:\n    Stop: []\n  b: 1\n"},
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
	was, err := Read(format, text)
	if err != nil {
		return
	}
	list, err := was.Find(path)
	if err != nil {
		return
	}
	after, err := was.Add(path, entry)
	if err != nil {
		return // where an addition makes a text unreadable, too: nothing is returned
	}
	added, err := after.Find(path)
	index, count := -1, 0
	if added != nil {
		for i, item := range added.Items {
			if Same(item, Tree(entry)) {
				index = i
			}
		}
		count = len(added.Items)
	}
	if list != nil {
		count -= len(list.Items)
	}
	if err != nil || index < 0 || count != 1 {
		if format == JSON {
			t.Fatalf("%q has no new element: %q, %v", text, after.Text, err)
		}
		return // the caller compares, and refuses
	}
	back, err := undo(was, after, path, index)
	if err != nil || !bytes.Equal(back, text) {
		is, _ := Parse(format, back)
		if format == JSON || Same(was.Root, is) {
			t.Fatalf("%v\n%q\n%q\n%q", err, text, after.Text, back)
		}
	}
}

// undo takes an element out and puts back what its addition made or filled.
func undo(was, after *Document, path Path, index int) ([]byte, error) {
	back, err := after.Remove(path.At(index))
	for i := len(path); err == nil && i >= 0; i-- {
		left, findErr := back.Find(path[:i])
		before, _ := was.Find(path[:i])
		inner, empty := was.Inner(path[:i])
		switch {
		case findErr != nil:
			err = findErr
		case i == 0 && was.Root == nil:
			return was.Text, nil
		case left == nil || left.children() > 0:
		case empty:
			back, err = back.SetInner(path[:i], inner)
		case before == nil:
			back, err = back.Remove(path[:i])
		}
	}
	if err != nil {
		return nil, err
	}
	return back.Text, nil
}

func FuzzJSON(f *testing.F) { fuzzFormat(f, JSON) }
func FuzzYAML(f *testing.F) { fuzzFormat(f, YAML) }
func FuzzTOML(f *testing.F) { fuzzFormat(f, TOML) }
