package acpcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor/acpproxy"
)

// A server that hookd guards already is started by this very hookd, whatever PATH the server
// is to have. What only looks so is guarded.
func TestServersUnderGuard(t *testing.T) {
	self := places.Program()
	for args, wrapped := range map[string]bool{
		"mcp -- x y": false, "mcp --name a -- x": false, "mcp --name=a -- x": false,
		"": true, "mcp": true, "mcp x": true, "mcp --": true, "--project /other mcp -- x": true, "mcp --project /other -- x": true, "mcp --name a --project /other -- x": true, "acp -- x": true,
	} {
		words := strings.Fields(args)
		want := append([]string{self}, words...)
		if wrapped {
			want = append([]string{self, "--project", "/p", "mcp", "--name", "n", "--", self}, words...)
		}
		if got := server(acpproxy.Server{Name: "n", Project: "/p", Command: self, Args: words}); !slices.Equal(got, want) {
			t.Errorf("%q: %q", args, got)
		}
	}
	if got := server(acpproxy.Server{Name: "n", Command: "sh", Args: []string{"mcp", "--", "x"}}); !slices.Equal(got, []string{self, "mcp", "--name", "n", "--", "sh", "mcp", "--", "x"}) {
		t.Errorf("%q", got)
	}
}
