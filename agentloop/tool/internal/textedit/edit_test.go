package textedit

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

const maxSize = 16 << 20

// TestEditText is what an edit makes of a text.
func TestEditText(t *testing.T) {
	mark := "\ufeff"
	for _, c := range []struct{ name, data, old, new, want string }{
		{"CR LF over two lines", "a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", "1\r\n2\r\n3\r\nc\r\n"},
		{"CR LF, a new line", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"},
		{"CR LF, the last line has no end", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"CR LF, line ends alone", "a\r\nb\r\n", "a\n", "", "b\r\n"},
		{"CR LF, beginning with a line's end", "a\r\nb\r\n", "\nb", "\nB\nC", "a\r\nB\r\nC\r\n"},
		{"CR LF to the letter", "a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n"},
		{"CR LF given as new text", "a\r\nb\r\n", "a\nb", "a\r\nx\nb", "a\r\nx\r\nb\r\n"},
		{"LF stays", "a\nb\n", "a\nb", "1\n2\n3", "1\n2\n3\n"},
		{"mixed, in the part with LF", "a\r\nb\nc\n", "b", "b\nB", "a\r\nb\nB\nc\n"},
		{"mixed, in the part with CR LF", "a\nb\r\nc\n", "b", "b\nB", "a\nb\r\nB\r\nc\n"},
		{"mixed, over both", "a\r\nb\nc\n", "a\nb\nc", "A\nB\nC", "A\r\nB\r\nC\n"},
		{"no line's end", "abc", "b", "1\n2", "a1\n2c"},
		{"no last line's end", "a\nb", "a", "A", "A\nb"},
		{"a mark of byte order", mark + "a\r\nb\r\n", "a\nb", "A\nB", mark + "A\r\nB\r\n"},
		{"foreign bytes", "\xe9\xff a\r\n\x80b\r\n", "a", "A\nB", "\xe9\xff A\r\nB\r\n\x80b\r\n"},
		{"a lone CR", "a\rb\r\nc\r\n", "b\nc", "B\nC", "a\rB\r\nC\r\n"},
		{"two CRs", "a\r\r\nb\r\n", "\nb", "\nB", "a\r\r\nB\r\n"},
	} {
		r := Edit{Old: c.old, New: c.new}
		got, count, err := r.Apply([]byte(c.data), maxSize)
		if err != nil || count != 1 || string(got) != c.want {
			t.Errorf("%s: %q, %d, %v; want %q", c.name, got, count, err, c.want)
		}
	}
	r := Edit{"x\n", "y\nz\n", true}
	got, count, err := r.Apply([]byte("x\r\nx\nno\r\nx\r\nx"), maxSize)
	if want := "y\r\nz\r\ny\nz\nno\r\ny\r\nz\r\nx"; err != nil || count != 3 || string(got) != want {
		t.Errorf("%q, %d, %v; want %q", got, count, err, want)
	}
	if _, count, err := (&Edit{Old: "b\nc", New: "x"}).Apply([]byte("b\nc b\r\nc"), maxSize); err == nil || count != 2 {
		t.Errorf("a text with two kinds of line ends is %d places: %v", count, err)
	}
}

// TestEditThatDoesNotFit asserts that the model learns what to do.
func TestEditThatDoesNotFit(t *testing.T) {
	for _, c := range []struct{ data, old, new, want string }{
		{"one\n", "two", "three", "read it again"},
		{"if x {\n\treturn  1\n}\n", "if x {\n    return 1\n}", "", "with other blanks or line ends in line 1 to 3:\nif x {\n\treturn  1\n}\nGive"},
		{"a\nb\n", "a\r\nb", "x", "with other blanks or line ends in line 1 to 2"},
		{"a \nb\n", "a\nb", "x", "with other blanks or line ends in line 1 to 2"},
		{"the new text\n", "the old text", "the new text", "perhaps the edit was made before"},
		{"caf\xe9\n", "caf\ufffd", "x", "bytes that are not UTF-8"},
		{"\xff\xfea\x00", "a", "b", "replaced"},
		{"\xff\xfea\x00", "aa", "b", "UTF-16"},
		{strings.Repeat("a b", 5000), "a\tba b", "x", "…"},
	} {
		got, _, err := (&Edit{Old: c.old, New: c.new}).Apply([]byte(c.data), maxSize)
		if c.want == "replaced" {
			if err != nil {
				t.Errorf("%q in %q: %v", c.old, c.data, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 2*maxShown {
			t.Errorf("%q in %q: %q, %v; want %q", c.old, c.data, got, err, c.want)
		}
	}
}

// TestEditIsLinear asserts that large files, and many places in them, take neither
// time nor memory by their square: that would be hours.
func TestEditIsLinear(t *testing.T) {
	size := prove.Size(1<<20, 10<<20)
	large := bytes.Repeat([]byte("a"), size)
	lines := bytes.Repeat([]byte("a\n"), size/2)
	dos := bytes.Repeat([]byte("ab\r\n"), size/4)
	var before, after runtime.MemStats
	for name, c := range map[string]struct {
		data []byte
		r    Edit
	}{
		"every byte":            {large, Edit{"a", "b\n", true}},
		"every byte, and grows": {large, Edit{"a", strings.Repeat("b", size/10), true}},
		"every line":            {lines, Edit{"a\n", "b\nc", true}},
		"every line of CR LF":   {dos, Edit{"b\na", "B\nA", true}},
		"a CR LF at the end":    {append(bytes.Clone(lines), "\r\n"...), Edit{"a\n", "b\n", true}},
		"nearly":                {large, Edit{strings.Repeat("a", size/10) + "b", "c", false}},
		"nearly, with blanks":   {bytes.Repeat([]byte("a b\n"), size/4), Edit{strings.Repeat("a\tb\n", size/40) + "c", "c", false}},
		"one place":             {large[:size-1], Edit{strings.Repeat("a", size-1), "c", false}},
	} {
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, count, _ := c.r.Apply(c.data, size+size/2)
		runtime.ReadMemStats(&after)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
		if grew := after.TotalAlloc - before.TotalAlloc; grew > uint64(12*size) {
			t.Errorf("%s took %d bytes of memory for a file of %d", name, grew, size)
		}
		t.Log(name, count, time.Since(began))
	}
}
