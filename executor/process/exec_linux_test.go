package process

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestExecIsNoHidingPlace: a process that starts another program is for a moment
// without the environment by which a sweep knows it. One that does nothing else
// is found all the same, once its parent and its group are gone.
func TestExecIsNoHidingPlace(t *testing.T) {
	needs(t, "setsid")
	again := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(again, []byte("[ -e \"$0\" ] && exec sh \"$0\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, options := range available(t) {
		if options.Containment == Group {
			continue // setsid is not covered
		}
		t.Run(options.name(), func(t *testing.T) {
			t.Parallel()
			rt := newRuntime(t, options)
			rounds := count(2, 1000)
			if options.Containment == Subreaper {
				rounds = count(20, 1000) // the one that has to look for it
			}
			for range rounds {
				c := shell(`(setsid sh "$0" >&- 2>&- &) ; sleep 0.02`)
				c.Argv = append(c.Argv, again)
				mark := marked(c)
				r := rt.Run(within(t, 20*time.Second), c)
				if r.Err != nil || r.ExitCode != 0 {
					t.Fatalf("ended with %v, exit %d, %s; stderr %q", r.Err, r.ExitCode, r.Signal, r.Stderr)
				}
				mustEnd(t, r, 5*time.Second)
				if left := survivors(mark); len(left) > 0 {
					t.Fatalf("survivors: %v", left)
				}
			}
		})
	}
}
