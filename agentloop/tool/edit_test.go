package tool

import (
	"strings"
	"testing"
)

// TestWriteKeepsWhatAFileIs asserts what write_file takes over of the old content.
func TestWriteKeepsWhatAFileIs(t *testing.T) {
	mark := "\ufeff"
	for _, c := range []struct{ old, content, want, says string }{
		{"a\r\nb\r\n", "1\n2\n", "1\r\n2\r\n", "CR LF"},
		{"a\r\nb\n", "1\n2\n", "1\n2\n", ""},
		{"a\r\nb\r\n", "1\r\n2\n", "1\r\n2\n", ""},
		{"a\r\nb\r\n", "1", "1", ""},
		{"a\nb\n", "1\n2\r\n", "1\n2\r\n", ""},
		{mark + "a\n", "1\n", mark + "1\n", "byte order mark"},
		{mark + "a\r\n", mark + "1\n", mark + "1\r\n", "CR LF"},
		{mark + "a\n", "", "", ""},
		{"", "1\n", "1\n", ""},
	} {
		project := t.TempDir()
		write(t, project, "f.txt", c.old)
		text, _ := callAs(t, "a", Files(Folder{Project: project}), "write_file", map[string]any{"path": "f.txt", "content": c.content})
		if got := read(t, project, "f.txt"); got != c.want || !strings.Contains(text, c.says) || c.says == "" && strings.Count(text, ";") > 1 {
			t.Errorf("%q over %q: %q, says %q", c.content, c.old, got, text)
		}
	}
}
