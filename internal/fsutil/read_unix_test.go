//go:build unix

package fsutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// What is not a regular file of the size is never waited for, and never read beyond the limit.
func TestReadRegular(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{"empty": "", "fits": "12345678", "one too many": "123456789"} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700), os.Symlink("/dev/zero", at("device")), os.Symlink("fits", at("link"))); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	began := time.Now()
	for name, read := range map[string]func(string) ([]byte, error){
		"by path":        func(name string) ([]byte, error) { return fsutil.ReadRegular(at(name), 8) },
		"below a folder": func(name string) ([]byte, error) { return fsutil.ReadRegularIn(root, name, 8) },
	} {
		for file, want := range map[string]string{"empty": "", "fits": "12345678", "link": "12345678"} {
			if text, err := read(file); err != nil || string(text) != want || text == nil {
				t.Errorf("%s %s: %q %v", name, file, text, err)
			}
		}
		if _, err := read("one too many"); !errors.Is(err, fsutil.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := read("missing"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(fsutil.WithoutPath(err).Error(), "missing") {
			t.Errorf("%s: %v", name, err)
		}
		for file, kind := range map[string]string{"pipe": "a named pipe", "folder": "a folder"} {
			var other *fsutil.NotRegularError
			if _, err := read(file); !errors.As(err, &other) || other.Kind != kind {
				t.Errorf("%s %s: %v", name, file, err)
			}
		}
	}
	var other *fsutil.NotRegularError
	if _, err := fsutil.ReadRegular(at("device"), 8); !errors.As(err, &other) || other.Kind != "a device" {
		t.Error(err)
	}
	if _, err := fsutil.ReadRegularIn(root, "device", 8); err == nil || errors.As(err, &other) && other.Kind == "a device" {
		t.Errorf("a link led out of the folder: %v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("reading took %s", took)
	}
}
