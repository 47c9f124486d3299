package document

import "testing"

// Comments and last commas go, lines stay, and what looks like a comment in a string is
// none.
func TestComments(t *testing.T) {
	for text, want := range map[string]string{
		"{// x\n\"a\":1}":           "{    \n\"a\":1}",
		"{/* x\ny */\"a\":1}":       "{    \n    \"a\":1}",
		`{"a":"// x","b":"/* */"}`:  `{"a":"// x","b":"/* */"}`,
		`{"a":"\"// x"}`:            `{"a":"\"// x"}`,
		`{"a":[1,2,],}`:             `{"a":[1,2 ] }`,
		"{\"a\":1, // last\n}":      "{\"a\":1         \n}",
		`{"a":[1,,2]}`:              `{"a":[1,,2]}`,
		`{"a":1} /* open`:           `{"a":1} /* open`,
		`{"a":1}/`:                  `{"a":1}/`,
		"{} //":                     "{}   ",
		`{"a":",]"}`:                `{"a":",]"}`,
		`/**/{}`:                    `    {}`,
		`/*/ {} /*/ {}`:             `           {}`,
		"{\"a\": \"open\n// x\n\"}": "{\"a\": \"open\n    \n\"}",
	} {
		if got := string(withoutComments([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	n, err := Parse(JSONC, []byte("// one\n{ // two\n  \"a\": [1, 2,],\n}\n"))
	if err != nil || n.Get("a") == nil || n.Get("a").Line != 3 {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := Parse(JSON, []byte("{// x\n}")); err == nil {
		t.Error("JSON has comments")
	}
}

// Whatever the text is, it keeps its length and its lines.
func FuzzComments(f *testing.F) {
	f.Add("{// x\n\"a\":1,}")
	f.Add("/*\n*/ \"")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(withoutComments([]byte(text)))
		if len(got) != len(text) {
			t.Fatalf("%q: %q", text, got)
		}
		for i := range text {
			if (text[i] == '\n') != (got[i] == '\n') {
				t.Fatalf("%q: %q", text, got)
			}
		}
	})
}
