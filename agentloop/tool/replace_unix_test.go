//go:build unix

package tool

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// editOne is an edit of a file that holds one word, old.
func editOne(t testing.TB, project, path string) (string, bool) {
	t.Helper()
	return callAs(t, "a", Files(Folder{Project: project}), "edit_file", map[string]any{"path": path, "oldText": "old", "newText": "new"})
}

// TestModesAndOwnersStay asserts that a replaced file is what the old one was.
func TestModesAndOwnersStay(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o755, 0o700, 0o777, 0o664, 0o606} {
		project := t.TempDir()
		path := filepath.Join(project, "f.txt")
		write(t, project, "f.txt", "old")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 {
			if err := os.Chown(path, 4321, 4322); err != nil {
				t.Fatal(err)
			}
		}
		attribute := unix.Setxattr(path, "user.hookd", []byte("kept"), 0) == nil
		if text, isError := editOne(t, project, "f.txt"); isError || strings.Contains(text, ";") {
			t.Fatal(text)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != mode || read(t, project, "f.txt") != "new" {
			t.Errorf("%v became %v (%v)", mode, info.Mode(), err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if os.Getuid() == 0 && (st.Uid != 4321 || st.Gid != 4322) {
			t.Errorf("the file belongs to %d:%d", st.Uid, st.Gid)
		}
		value := make([]byte, 10)
		if n, err := unix.Getxattr(path, "user.hookd", value); attribute && (err != nil || string(value[:n]) != "kept") && keepsAttributes {
			t.Errorf("the attribute is %q (%v)", value[:max(n, 0)], err)
		}
	}
}

// TestSetUserIDGoes asserts that what a model wrote runs as nobody else.
func TestSetUserIDGoes(t *testing.T) {
	project := t.TempDir()
	write(t, project, "f.txt", "old")
	if err := os.Chmod(filepath.Join(project, "f.txt"), 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	text, _ := editOne(t, project, "f.txt")
	if info, err := os.Stat(filepath.Join(project, "f.txt")); err != nil || info.Mode() != 0o755 || !strings.Contains(text, "set-user-id") {
		t.Errorf("%v, %v, %q", info.Mode(), err, text)
	}
}

// TestLinksStay asserts that a symbolic link stays one and what it leads to is
// replaced, and that the other names of a file keep the old content, which is said.
func TestLinksStay(t *testing.T) {
	base := realTemp(t)
	lay(t, base, "p/real/f old", "p/link -> real/f", "p/chain -> link", "p/dangling -> real/new", "p/one old")
	p := filepath.Join(base, "p")
	if err := os.Link(p+"/one", p+"/two"); err != nil {
		t.Fatal(err)
	}
	if text, isError := editOne(t, p, "chain"); isError {
		t.Error(text)
	}
	if text, isError := callAs(t, "a", Files(Folder{Project: p}), "write_file", map[string]any{"path": "dangling", "content": "made"}); isError {
		t.Error(text)
	}
	for name, want := range map[string]string{"link": "real/f", "chain": "link", "dangling": "real/new"} {
		if got, err := os.Readlink(filepath.Join(p, name)); err != nil || got != want {
			t.Errorf("%s leads to %q (%v)", name, got, err)
		}
	}
	if text, isError := editOne(t, p, "one"); isError || !strings.Contains(text, "had 2 names") {
		t.Error(text)
	}
	for name, want := range map[string]string{"real/f": "new", "real/new": "made", "one": "new", "two": "old"} {
		if got := read(t, p, name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// TestNotAsAWhole asserts that a file which cannot be replaced is left as it is.
func TestNotAsAWhole(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write to read-only folders; CI runs this as another user")
	}
	project := t.TempDir()
	write(t, project, "f.txt", "old")
	if err := os.Chmod(project, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(project, 0o755)
	text, isError := editOne(t, project, "f.txt")
	if !isError || !strings.Contains(text, "its folder must be writable") || read(t, project, "f.txt") != "old" {
		t.Error(text)
	}
	if err := os.Chmod(project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(project, "f.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	if text, isError := editOne(t, project, "f.txt"); !isError || !strings.Contains(text, "permission denied") || read(t, project, "f.txt") != "old" {
		t.Errorf("a file that is only read: %s", text)
	}
}

// fullIn names the project to a run of this test whose files may not grow.
const fullIn = "TOOL_TEST_FULL_IN"

// TestFullDisk asserts that the old file is left whole where the new one finds no
// room, and nothing else is left.
func TestFullDisk(t *testing.T) {
	if project := os.Getenv(fullIn); project != "" {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100_000, Max: 100_000}); err != nil {
			t.Fatal(err)
		}
		text, isError := editOne(t, project, "f.txt")
		fmt.Println("SAID", isError, text)
		return
	}
	project := t.TempDir()
	before := "old" + strings.Repeat("x", 200_000)
	write(t, project, "f.txt", before)
	again := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
	again.Env = append(os.Environ(), fullIn+"="+project)
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "SAID true f.txt: file too large") {
		t.Errorf("%v: %s", err, out)
	}
	if read(t, project, "f.txt") != before {
		t.Error("the file was changed")
	}
	nothingElse(t, project)
}
