//go:build unix

package settings

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// A FIFO without a writer would hold a plain open for ever.
func TestFIFOInPlaceOfSettings(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "acai.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	f := Read(folder, protocol.Project, Look{})
	if took := time.Since(began); took > time.Second {
		t.Errorf("reading took %s", took)
	}
	checkUnreadable(t, folder, "acai.json: the file is not a regular file but a named pipe", f.Bad)
}

func TestFolderNobodyMayEnter(t *testing.T) {
	if syscall.Getuid() == 0 {
		t.Skip("root may enter every folder")
	}
	folder := filepath.Join(t.TempDir(), "locked")
	if err := syscall.Mkdir(folder, 0); err != nil {
		t.Fatal(err)
	}
	f := Read(folder, protocol.User, Look{})
	checkUnreadable(t, folder, "acai.json: the file cannot be read: permission denied", f.Bad)
}
