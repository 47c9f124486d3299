package tool

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A regular file that the system makes while it is read may have no end, as the
// kernel's log. No tool waits for one longer than a moment.
func TestFilesWithoutAnEnd(t *testing.T) {
	log, err := os.OpenFile("/proc/kmsg", os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("the file without an end is the kernel's log, which only root may read: %v", err)
	}
	log.Close()
	tools := Files(Folder{Project: "/proc"})
	for name, args := range map[string]map[string]any{
		"read_file": {"path": "kmsg"}, "grep": {"path": "kmsg", "pattern": "nobody writes this"},
	} {
		began := time.Now()
		done := make(chan string, 1)
		go func() {
			text, _ := callAs(t, "a", tools, name, args)
			done <- text
		}()
		select {
		case text := <-done:
			t.Logf("%s: %s", name, text)
		case <-time.After(10 * time.Second):
			t.Errorf("%s still waits after %s", name, time.Since(began))
		}
	}
}

// What ends by itself is read whole, of whatever size it says to be.
func TestFilesOfTheKernel(t *testing.T) {
	target, err := Folder{}.part("/proc", nil).Resolve("version", false)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := target.Read(maxFile); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}
