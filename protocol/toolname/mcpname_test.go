package toolname

import (
	"strings"
	"testing"
)

// The name that a server gets holds what every model takes, and two servers never share one.
func TestNamesOfServers(t *testing.T) {
	for server, want := range map[string]string{
		"git": "mcp__git__", "My.Server": "mcp__My_Server__", "a__b": "mcp__a_b__", "_a_": "mcp__a__",
		"лес": "mcp__" + digest("лес") + "__", strings.Repeat("x", 40): "mcp__" + strings.Repeat("x", 24) + "_" + digest(strings.Repeat("x", 40)) + "__",
	} {
		if got := PrefixOf(server); got != want {
			t.Errorf("%s: %s, want %s", server, got, want)
		}
	}
	if Served("mcp__a__", "b.c/d") != "mcp__a__b_c_d" {
		t.Error(Served("mcp__a__", "b.c/d"))
	}
}
