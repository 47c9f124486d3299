package fsutil

import (
	"os"
	"path/filepath"
	"testing"
)

// A path names one folder, or is refused.
func TestFolder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(root, path) }
	for _, folder := range []string{"one", "two/sub"} {
		if err := os.MkdirAll(at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"near": at("one"), "far": at("two/sub"), "loop": at("loop")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skipf("a link cannot be made here (Windows lets few users): %v", err)
		}
	}
	for path, want := range map[string][2]string{
		root + "/one/":         {"one", "one"},
		root + "/./one/../two": {"two", "two"},
		root + "/near":         {"near", "one"},
		root + "/near/..":      {"", ""}, // the same, however it is read
		root + "/none/sub":     {"none/sub", "none/sub"},
		root + "/loop":         {"loop", "loop"},
	} {
		if clean, real, err := Folder(path); err != nil || clean != at(want[0]) || real != at(want[1]) {
			t.Errorf("%s: %s, %s, %v", path, clean, real, err)
		}
	}
	for path, want := range map[string]string{
		"near/..": ".", "far/..": "two", "far/../sub": "two/sub", "far/../none/../sub/x": "two/sub/x", "far": "far", "far/.": "far", "none/../one": "one", "loop/../one": "one", "near/./x/../y": "one/y",
	} {
		if got := Followed(root + "/" + path); got != at(want) {
			t.Errorf("the system goes by %s to %s, want %s", path, got, at(want))
		}
	}
	for _, path := range []string{"", "one", "./one", "~/one", root + "/far/..", root + "/far/../one", root + "/far/../sub"} {
		if clean, _, err := Folder(path); err == nil {
			t.Errorf("%q is taken for %s", path, clean)
		}
	}
}
