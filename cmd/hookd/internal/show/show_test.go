package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/internal/text"
)

func TestVisible(t *testing.T) {
	for _, test := range []struct{ name, text, lines, line string }{
		{"plain", "ls -la é 漢 😀", "ls -la é 漢 😀", "ls -la é 漢 😀"},
		{"escape sequence", "a\x1b[2Jb", `a\x1b[2Jb`, `a\x1b[2Jb`},
		{"lines stay, carriage returns do not", "a\nb\tc\rd", "a\nb\tc\\rd", `a\nb\tc\rd`},
		{"bidi override", "rm \u202egpj.x\u202c", `rm \u202egpj.x\u202c`, `rm \u202egpj.x\u202c`},
		{"isolates and marks", "\u2066a\u2069\u200f\u061c", `\u2066a\u2069\u200f\u061c`, `\u2066a\u2069\u200f\u061c`},
		{"zero width and BOM", "a\u200bb\ufeff", `a\u200bb\ufeff`, `a\u200bb\ufeff`},
		{"tags", "a\U000e0041", `a\ue0041`, `a\ue0041`},
		{"line separator", "a\u2028b", `a\u2028b`, `a\u2028b`},
		{"C1 control", "a\u009bb", `a\u009bb`, `a\u009bb`},
		{"delete", "a\x7fb", `a\x7fb`, `a\x7fb`},
		{"not UTF-8", "a\xff\xc3(", `a\xff\xc3(`, `a\xff\xc3(`},
		{"replacement character itself", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
		{"blank letter", "a\u3164b", `a\u3164b`, `a\u3164b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := [2]string{Visible(test.text), Line(test.text)}
			if d := cmp.Diff([2]string{test.lines, test.line}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\u202eb\xff")
	f.Fuzz(func(t *testing.T, given string) {
		shown := Line(given)
		for _, r := range shown {
			if text.Hidden(r) {
				t.Fatalf("Line(%q) = %q still holds %U", given, shown, r)
			}
		}
		if Line(shown) != shown {
			t.Fatalf("Line is not stable on %q", shown)
		}
	})
}

func TestTableAlignsByWhatIsSeen(t *testing.T) {
	var out bytes.Buffer
	table := Table{Header: []string{"HOOK", "CAN"}}
	table.Add(Cell{"漢字.sh", Name}, Cell{"block", Plain})
	table.Add(Cell{"a\x1b[0m", Name}, Cell{"modify", Plain})
	table.Write(&Printer{W: &out})
	want := "HOOK      CAN\n漢字.sh   block\na\\x1b[0m  modify\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestDiffShowsOnlyChangedLines(t *testing.T) {
	var out bytes.Buffer
	p := &Printer{W: &out}
	p.Diff("  ", Pretty([]byte(`{"command":"ls"}`)), Pretty([]byte(`{"command":"ls -la"}`)))
	want := "   {\n  -  \"command\": \"ls\"\n  +  \"command\": \"ls -la\"\n   }\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	p.Diff("  ", "same", "same")
	if out.Len() != 0 {
		t.Errorf("a diff of equal texts printed %q", out.String())
	}
}

func TestNoColourOffATerminal(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	p.Print("%s", p.In(Bad, "x"))
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("printed %q to a buffer", out.String())
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "one two\n", 7, "one two\n"},
		{"below the first word", "  one two three four five six seven\n", 32, "  one two three four five six\n    seven\n"},
		{"below the second column", "! warning  nobody allowed it yet, so it is not run\n", 40, "! warning  nobody allowed it yet, so it\n           is not run\n"},
		{"colours are no width", "\x1b[31m✗\x1b[m one two\n", 9, "\x1b[31m✗\x1b[m one two\n"},
		{"a long word stays whole", "→ /a/very/long/path/to/a/file ok\n", 20, "→ /a/very/long/path/to/a/file\n    ok\n"},
		{"wide letters", "漢字漢字 漢字漢字\n", 12, "漢字漢字\n   漢字漢字\n"},
		{"each line by itself", "a\n\nb\n", 1, "a\n\nb\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &Printer{W: &out, Width: test.width}
			p.Print("%s", test.text)
			if d := cmp.Diff(test.want, out.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTableWrapsItsLastColumn(t *testing.T) {
	var out bytes.Buffer
	table := Table{Header: []string{"HOOK", "EVENTS"}}
	table.Add(Cell{"guard.sh", Name}, Cell{"tool-call-start tool-call-end", Plain})
	table.Write(&Printer{W: &out, Width: 35})
	want := "HOOK      EVENTS\nguard.sh  tool-call-start\n          tool-call-end\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}
