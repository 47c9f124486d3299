package integration

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestNoFileWatches asserts that a system which has no file watches left costs no change:
// hookd looks at the files by the clock, and says so. The limits are those of a user
// namespace, which root can have without taking anything from others.
func TestNoFileWatches(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("in another user's namespace the folders above belong to nobody")
	}
	for _, limit := range []string{"max_inotify_instances", "max_inotify_watches"} {
		t.Run(limit, func(t *testing.T) {
			lower := "echo 0 >/proc/sys/user/" + limit
			if out, err := exec.Command("unshare", "-Ur", "sh", "-c", lower).CombinedOutput(); err != nil {
				t.Skipf("there is no user namespace with limits of its own: %v %s", err, out)
			}
			t.Parallel()
			b := newBox(t)
			b.script(t, "guard.sh", promptHook+"cat >/dev/null\n")
			c := exec.Command("unshare", "-Ur", "sh", "-c", lower+` && exec "$0" serve`, binary)
			like := b.command("serve")
			c.Dir, c.Env = like.Dir, append(like.Env, "HOOKD_LOG=warn")
			k := serveBy(t, b, c)
			if o := k.outcome(k.call("event/fire", k.event("hello"))); o.Action == "block" {
				t.Fatalf("%+v", o)
			}
			b.script(t, "guard.sh", promptHook+"cat >/dev/null\necho '{\"action\":\"block\"}'\n")
			changed := time.Now()
			for k.outcome(k.call("event/fire", k.event("hello"))).Action != "block" {
				if time.Since(changed) > 10*time.Second {
					t.Fatalf("the change is not active after 10s: %s", k.stderr)
				}
				time.Sleep(50 * time.Millisecond)
			}
			k.call("shutdown", `{}`)
			if err := k.cmd.Wait(); err != nil {
				t.Error(err)
			}
			if log := k.stderr.String(); strings.Count(log, "the system has no more file watches") != 1 || !strings.Contains(log, "fs.inotify.max_user_watches") {
				t.Errorf("nobody is told: %s", log)
			}
		})
	}
}
