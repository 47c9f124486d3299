//go:build unix

package integration

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// H23: a hook that writes a gigabyte does not make hookd larger.
func TestFloodsDoNotGrowMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the unit of maxrss is another one")
	}
	quiet := peakOf(t, sh("exit 0"))
	for _, kind := range []string{"flood-stdout", "flood-stderr"} {
		if grown := peakOf(t, faultyHook(kind)) - quiet; grown > 32<<10 {
			t.Errorf("%s: %d KiB more than with a quiet hook", kind, grown)
		}
	}
}

// peakOf is the most memory that one fire with the hook took, in KiB.
func peakOf(t *testing.T, h hookFile) int64 {
	t.Helper()
	b := newBox(t)
	b.install(t, "fault.sh", h, "continue")
	c := exec.Command(binary, "fire", "tool-call-start")
	c.Dir, c.Env = b.project, b.command().Env
	// 2: the flood ended within the limit, and the hook said no after it.
	if out, err := c.CombinedOutput(); err != nil && c.ProcessState.ExitCode() != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}
