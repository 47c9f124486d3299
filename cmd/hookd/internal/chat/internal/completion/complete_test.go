package completion

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComplete(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"main.go", "main_test.go", "docs/über.md", "docs/übung.md", ".hidden/x", "two words", "evil\x1b[2J", "one/only/file.txt"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"help", "hooks", "model", "evil\x1b[2J"}
	for _, c := range []struct{ written, want, choices string }{
		{"/he", "/help ", "help"},
		{"/h", "/h", "help hooks"},
		{"/x", "/x", ""},
		{"/", "/", "help hooks model"},
		{"say /he", "say /he", ""},
		{"", "", ""},
		{"plain", "plain", ""},
		{"see @m", "see @main", "main.go main_test.go"},
		{"see @main.", "see @main.go ", "main.go"},
		{"@d", "@docs/", "docs/"},
		{"@docs/", "@docs/üb", "docs/über.md docs/übung.md"},
		{"line\n@one/only/f", "line\n@one/only/file.txt ", "one/only/file.txt"},
		{"@.", "@.hidden/", ".hidden/"},
		{"@two", "@two", ""},
		{"@evil", "@evil", ""},
		{"@../", "@../", ""},
		{"@/etc/pass", "@/etc/pass", ""},
		{"@docs/../../", "@docs/../../", ""},
		{"@gone/", "@gone/", ""},
	} {
		got, choices := Complete(c.written, root, names)
		if diff := cmp.Diff([]string{c.want, c.choices}, []string{got, strings.Join(choices, " ")}); diff != "" {
			t.Errorf("%q: %s", c.written, diff)
		}
	}
}
