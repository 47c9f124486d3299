//go:build unix

package loader

import (
	"os"
	"path/filepath"
	"testing"
)

// Looking from inside a folder finds the same as looking from outside, in
// whatever order the files come and whatever the folder may be.
func TestLookAtEach(t *testing.T) {
	top := t.TempDir()
	write := func(parts ...string) string {
		path := filepath.Join(append([]string{top}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(path), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to string, parts ...string) string {
		path := filepath.Join(append([]string{top}, parts...)...)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inFile := filepath.Join(write("a", "1"), "below")
	paths := []string{
		write("a", "2"), write("a", "3"), write("a", "deep", "1"), write("a", "deep", "2"), write("a", "4"), "/", top,
		write("b", "1"), link("1", "b", "link"), link("nowhere", "b", "broken"), filepath.Join(top, "b", "gone"),
		filepath.Join(link("b", "folder"), "1"), filepath.Join(top, "folder", "link"), filepath.Join(top, "none", "1"), filepath.Join(top, "none", "2"),
		inFile, inFile + "2", write("shut", "1"), write("shut", "2"),
	}
	if err := os.Chmod(filepath.Join(top, "shut"), 0o311); err != nil { // may be entered and not be listed
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(top, "shut"), 0o755)
	for name, look := range map[string]struct {
		from func(*lookedIn, string) (fileStat, error)
		at   func(string) (fileStat, error)
	}{"stat": {(*lookedIn).stat, stat}, "lstat": {(*lookedIn).lstat, lstat}} {
		seen := 0
		all := lookAtEach(paths, look.from, func(i int, st fileStat) bool {
			seen++
			if want, _ := look.at(paths[i]); st != want {
				t.Errorf("%s of %s: %v, want %v", name, paths[i], st, want)
			}
			return true
		})
		if !all || seen != len(paths) {
			t.Errorf("%s: %d of %d were looked at", name, seen, len(paths))
		}
		if lookAtEach(paths, look.from, func(i int, _ fileStat) bool { return i < 3 }) {
			t.Errorf("%s: a no is not heard", name)
		}
	}
}
