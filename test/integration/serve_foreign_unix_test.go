//go:build unix

package integration

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hookd serve --stop ends no program that is not hookd, and --status does not take one for a
// daemon: here this test itself, which answers nothing.
func TestServeLeavesOtherProgramsAlone(t *testing.T) {
	b := newBox(t)
	path := filepath.Join(b.folder, "other.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	for _, flag := range []string{"--status", "--stop"} {
		began := time.Now()
		out, err := b.command("serve", "--socket="+path, flag).CombinedOutput() // a signal would end this test
		if err == nil || !strings.Contains(string(out), "is no hookd") || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v: %s", flag, err, time.Since(began), out)
		}
	}
}
