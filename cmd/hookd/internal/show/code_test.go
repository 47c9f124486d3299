package show

import (
	"bytes"
	"strings"
	"testing"
)

// TestCodeHidesNothing asserts that nothing in a text moves the rest of it out of
// sight: each line fits, each control character is visible, and room is counted.
func TestCodeHidesNothing(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a NUL":                      {"a\x00; evil\n", `a\x00; evil`},
		"not UTF-8":                  {"a\xff; evil\n", `a\xff; evil`},
		"a carriage return":          {"evil\r# harmless\n", `evil\r# harmless`},
		"an escape sequence":         {"evil\x1b[2K\x1b[1A\n", `evil\x1b[2K\x1b[1A`},
		"bidi":                       {"a\u202eevil\n", `a\u202eevil`},
		"blanks before code":         {"true" + strings.Repeat(" ", 5000) + "; evil\n", "true⟨5,000 blanks⟩; evil"},
		"other blanks before code":   {"true" + strings.Repeat("\u3000\u00a0\u2800\t", 100) + "; evil\n", "true⟨400 blanks⟩; evil"},
		"empty lines":                {"true\n" + strings.Repeat("\n", 999) + "  \t\nevil\n", "true\n│ … 1,000 empty lines …\n│ evil"},
		"signs drawn as pictures":    {strings.Repeat("\u00a9\ufe0f", 300) + "; evil\n", "; evil"},
		"flags":                      {strings.Repeat("\U0001f1e6", 301) + "; evil\n", "; evil"},
		"syllables in parts":         {strings.Repeat("\u1100\u1161\u11a8", 300) + "; evil\n", "; evil"},
		"keys":                       {strings.Repeat("1\ufe0f\u20e3", 300) + "; evil\n", "; evil"},
		"few empty lines":            {"a\n\n\nb\n", "a\n│ \n│ \n│ b"},
		"a line of 1 MB has its end": {strings.Repeat("x", 1<<20) + "evil\n", "evil"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int{0, 19, 80} {
				var out bytes.Buffer
				(&Printer{W: &out, Width: width}).Code("│ ", test.text)
				whole := strings.ReplaceAll(out.String(), "\n│ ↪ ", "")
				if !strings.Contains(whole, test.want) {
					t.Errorf("width %d: %.300q", width, out.String())
				}
				for line := range strings.SplitSeq(out.String(), "\n") {
					if w := Width(line); w > max(width, 170) || width > 0 && w > width && !strings.Contains(line, "…") {
						t.Fatalf("width %d: a line of %d columns: %.100q", width, w, line)
					}
				}
			}
		})
	}
}

// TestCodeDiffHidesNothing asserts that texts that differ in anything print it.
func TestCodeDiffHidesNothing(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want string }{
		"like a diff's head, added":   {"a\n", "a\n++ x, evil()\n", "+++ x, evil()"},
		"like a diff's head, removed": {"a\n-- guard\n", "a\n", "--- guard"},
		"like a diff's place":         {"a\n", "a\n@@ evil\n", "+@@ evil"},
		"an escape made real":         {"printf '\\x1b'\n", "printf '\x1b'\n", `+printf '\x1b'`},
		"empty lines":                 {"a\n", "a\n" + strings.Repeat("\n", 500) + "evil\n", "+… 500 empty lines …\n+evil"},
		"blanks only":                 {"a\n \n", "a\n\t\n", "+\t"},
		"the end of the last line":    {"a", "a\n", "the line end at the end of the file changed"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			(&Printer{W: &out}).CodeDiff("", test.before, test.after)
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("%q", out.String())
			}
			out.Reset()
			(&Printer{W: &out}).CodeDiff("", test.after, test.after)
			if out.Len() > 0 {
				t.Errorf("the same text: %q", out.String())
			}
		})
	}
}

func TestMiddle(t *testing.T) {
	if got := Middle("true"+strings.Repeat(" ", 3000)+"; evil", 100); got != "true⟨3,000 blanks⟩; evil" {
		t.Error(got)
	}
	got := Middle(strings.Repeat("#", 3000)+"; evil", 300)
	if !strings.Contains(got, "… 2,706 characters not shown …") || !strings.HasSuffix(got, "; evil") {
		t.Error(got)
	}
}
