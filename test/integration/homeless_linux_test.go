package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user whom the user database does not know has no home but the one that HOME
// names. A checkout does not become it all the same.
func TestACheckoutIsNoHomeOfAnUnlistedUser(t *testing.T) {
	p := newAccount(t, otherUser, false)
	p.write(t, "clone/.git/HEAD", "ref: refs/heads/main\n")
	p.write(t, "clone/.acai/hooks/planted.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\ntouch "+filepath.Join(p.folder, "state", "ran")+"\n")
	for _, home := range []string{"clone", "clone/not/there"} {
		c := p.command(t, filepath.Join(p.folder, "bin", "hookd"), "fire", "tool-call-start")
		c.Dir = filepath.Join(p.folder, "clone")
		c.Env = append(c.Env, "USER=somebody", "HOME="+filepath.Join(p.folder, home))
		out, _ := c.CombinedOutput()
		if !strings.Contains(string(out), "HOME is not obeyed") {
			t.Errorf("HOME=%s: it is not said\n%s", home, out)
		}
		if code := c.ProcessState.ExitCode(); home == "clone" && code != 2 {
			t.Errorf("HOME=%s: code %d, though the user's guards may be lost\n%s", home, code, out)
		}
		if _, err := os.Stat(filepath.Join(p.folder, "state", "ran")); err == nil {
			t.Errorf("HOME=%s: what came with the checkout ran\n%s", home, out)
		}
	}
}
