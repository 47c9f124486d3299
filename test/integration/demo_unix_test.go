//go:build unix

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The demonstration runs, shows what it promises, and leaves nothing behind.
func TestDemo(t *testing.T) {
	t.Parallel()
	box := t.TempDir()
	c := exec.Command("/bin/sh", filepath.Join(root(t), "examples", "demo.sh"), binary)
	c.Env = append(os.Environ(), "TMPDIR="+box, "NO_COLOR=1")
	began := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("took %v", took)
	}
	for _, shown := range []string{
		"changed args.path", "+scratch/summary.md", "blocked by guard-shell.sh", "slow.sh failed: timeout",
		"ok  observed", "ok  modified", "ok  blocked", "ok  timed out", "ok  edited", "no release today",
		"hook:ask-deploy.sh asks about: echo deployed >deployed", "ok  asked", "ok  told", "ok  ended",
		`"permissionDecision":"deny","permissionDecisionReason":"rm of whole folders`, "ok  refused", "ok  passed",
	} {
		if !strings.Contains(string(out), shown) {
			t.Errorf("it does not show %q", shown)
		}
	}
	tryNow(t, string(out))
	if t.Failed() {
		t.Logf("%s", out)
	}
	if left := aliveAfter(box, 2*time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
	if entries, err := os.ReadDir(box); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// tryNow pastes the commands that the demonstration ends with into an empty folder.
func tryNow(t *testing.T, out string) {
	t.Helper()
	_, commands, found := strings.Cut(out, "now try: (in an empty folder)\n")
	if n := strings.Count(commands, "\n"); !found || n != 3 {
		t.Errorf("it does not end with three commands to try: %q", commands)
		return
	}
	home := t.TempDir()
	c := exec.Command("/bin/sh", "-ec", commands)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CONFIG_HOME=")
	tried, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(tried), "✓ the word is refused") {
		t.Errorf("what it says to try: %v\n%s", err, tried)
	}
}
