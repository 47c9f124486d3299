package process

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	programs["headless"] = func([]string) { headless() }
	if slices.Contains(os.Args, "headless") {
		runtime.LockOSThread() // main runs on the first thread
	}
}

// headless is a process of its own session whose first thread ends, and whose
// others do not.
func headless() {
	unix.Setsid()
	syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

// TestHardToFind lists processes of which the process table, or the kernel, tells
// little. Their program ends soon, and none of them is of its group.
func TestHardToFind(t *testing.T) {
	needs(t, "setsid", "env")
	hop := filepath.Join(t.TempDir(), "hop") // it ends by itself, should this test be killed
	if err := os.WriteFile(hop, []byte(`sleep 0.03; [ -e "$0" ] && [ "${1:-600}" -gt 0 ] && setsid sh "$0" $((${1:-600} - 1)) & exit`), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"one with the mark below one without": `setsid sh -c 'setsid sleep 61 & exec env -i sleep 0.5' >&- 2>&- & sleep 0.1`,
		"its first thread is dead":            `"$SELF" program headless >&- 2>&- & echo $!; sleep 0.3`,
		"each starts the next and ends":       `setsid sh "$HOP" >&- 2>&- & sleep 0.1`,
	}
	for _, options := range available(t) {
		if options.Containment == Group {
			continue // none is covered
		}
		rt := newRuntime(t, options)
		for name, script := range tests {
			t.Run(options.name()+"/"+name, func(t *testing.T) {
				t.Parallel()
				for range count(2, 100) {
					c := shell(script)
					c.Env = append(c.Env, "SELF="+self(t, "").Path, "HOP="+hop)
					mark := marked(c)
					r := rt.Run(within(t, 10*time.Second), c)
					if r.Err != nil || r.ExitCode != 0 {
						t.Fatalf("ended with %v, exit %d, %s; stderr %q", r.Err, r.ExitCode, r.Signal, r.Stderr)
					}
					mustEnd(t, r, 5*time.Second)
					if left := survivors(mark); len(left) > 0 {
						t.Errorf("survivors: %v", left)
					}
					// By its number, because a user cannot read the environment of all of them.
					if pid, err := strconv.Atoi(strings.TrimSpace(string(r.Stdout))); err == nil && options.Containment == Subreaper {
						if e, err := lookUp(pid); err == nil && !e.zombie {
							t.Errorf("process %d is alive", pid)
						}
					}
				}
			})
		}
	}
}
