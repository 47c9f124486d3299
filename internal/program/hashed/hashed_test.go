package hashed

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/program"
)

func file(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// The record names the file without links, is readable by its owner only, and its identity
// is that of the file until the file is another one.
func TestRecordNamesOneFile(t *testing.T) {
	state, bin := t.TempDir(), t.TempDir()
	bin, err := filepath.EvalSymlinks(bin)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(bin, "hookd")
	file(t, path, "one")
	link := filepath.Join(bin, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	wrote, err := Write(state, link)
	if err != nil {
		t.Fatal(err)
	}
	read, err := program.Read(state)
	if err != nil || read != wrote || read.Path != path {
		t.Errorf("%+v, %v, want %+v", read, err, wrote)
	}
	const sum = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed" // of "one"
	if read.Hash != sum {
		t.Errorf("hash %s", read.Hash)
	}
	if info, err := os.Stat(program.Path(state)); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if now, err := program.IdentityOf(path); err != nil || now != read.File {
		t.Errorf("%q, %v", now, err)
	}
	time.Sleep(20 * time.Millisecond) // clocks of file systems are coarse
	file(t, path, "two")
	if now, err := program.IdentityOf(path); err != nil || now == read.File {
		t.Errorf("another content has the same identity %q, %v", now, err)
	}
}

// A record is renewed for the path that a person installed, and for no other.
func TestRenew(t *testing.T) {
	state, bin := t.TempDir(), t.TempDir()
	bin, err := filepath.EvalSymlinks(bin)
	if err != nil {
		t.Fatal(err)
	}
	path, other := filepath.Join(bin, "hookd"), filepath.Join(bin, "other")
	file(t, path, "one")
	file(t, other, "other")
	if renewed, err := Renew(state, path); renewed || !errors.Is(err, program.ErrNone) {
		t.Errorf("without a record: %v, %v", renewed, err)
	}
	first, err := Write(state, path)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]string{"unchanged": path, "another program": other} {
		if renewed, err := Renew(state, p); renewed || err != nil {
			t.Errorf("%s: %v, %v", name, renewed, err)
		}
	}
	time.Sleep(20 * time.Millisecond)
	file(t, path, "replaced")
	if renewed, err := Renew(state, path); !renewed || err != nil {
		t.Errorf("replaced: %v, %v", renewed, err)
	}
	if now, err := program.Read(state); err != nil || now.Hash == first.Hash || now.File == first.File {
		t.Errorf("%+v, %v", now, err)
	}
}

// What is no whole record is none.
func TestReadRefusesOtherForms(t *testing.T) {
	state := t.TempDir()
	for _, text := range []string{"", "hookd program 1\n", "hookd program 2\n/x\nh\ni\n", "hookd program 1\nx\nh\ni\n", "hookd program 1\n/x\nh\ni", "hookd program 1\n/x\nh\ni\nmore\n"} {
		file(t, program.Path(state), text)
		if r, err := program.Read(state); !errors.Is(err, program.ErrNone) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}
