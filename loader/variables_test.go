//go:build unix

package loader

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/loader/internal/report"
)

const serverWithVariables = `{"agent": {"mcpServers": {
  "other": {"command": "/bin/cat"},
  "git": {"command": "/bin/sh", "args": ["${MCP_TEST_SCRIPT:-server.sh}"], "env": {"TOKEN": "${MCP_TEST_TOKEN}"}}}}}`

// TestServerVariables: a person is asked about the text as written; what was
// allowed is started with the values; a value never leads a project's server to
// a file that nobody allowed.
func TestServerVariables(t *testing.T) {
	t.Setenv("MCP_TEST_TOKEN", "s3cret")
	w := newWorld(t)
	w.write(w.path("server.sh"), "#!/bin/sh\nexec cat\n", 0o755)
	w.write(w.path("evil.sh"), "#!/bin/sh\nexec evil\n", 0o755)
	w.settings(serverWithVariables)
	plan := w.plan()
	shown := string(plan.Items[0].Now.Entry)
	if !strings.Contains(shown, "${MCP_TEST_TOKEN}") || strings.Contains(shown, "s3cret") {
		t.Errorf("a person is shown %s", shown)
	}
	w.allow()
	server := w.load().Set.Settings.Agent.MCPServers["git"]
	if server.Env["TOKEN"] != "s3cret" || len(server.Args) != 1 || !strings.HasSuffix(server.Args[0], "/server.sh") || strings.HasPrefix(server.Args[0], w.path()) {
		t.Errorf("started would be %+v", server)
	}
	t.Setenv("MCP_TEST_TOKEN", "another")
	if got := w.load().Set.Settings.Agent.MCPServers["git"].Env["TOKEN"]; got != "another" {
		t.Errorf("another token makes %q of it", got)
	}
	t.Setenv("MCP_TEST_SCRIPT", w.path("evil.sh"))
	s := w.load()
	if got, started := s.Set.Settings.Agent.MCPServers["git"]; started {
		t.Errorf("a file that nobody allowed would be started: %+v", got)
	}
	if diff := cmp.Diff([]string{"project/server/git=changed", "project/server/other=ready"}, materials(s)); diff != "" {
		t.Error(diff)
	}
}

// TestServerVariableUnset: such a server is not started and told of with file,
// line and remedy; the others are started.
func TestServerVariableUnset(t *testing.T) {
	w := newWorld(t)
	w.userSettings(serverWithVariables)
	s := w.load()
	if diff := cmp.Diff([]string{"user/server/git=broken", "user/server/other=ready"}, materials(s)); diff != "" {
		t.Error(diff)
	}
	if servers := s.Set.Settings.Agent.MCPServers; len(servers) != 1 || servers["other"].Command != "/bin/cat" {
		t.Errorf("servers: %+v", servers)
	}
	var told []string
	for _, f := range s.Findings {
		if f.Code == string(report.ResourceUnusable) && f.Line != nil && *f.Line == 3 && strings.HasSuffix(f.File, "acai.json") {
			told = append(told, f.Message+" -> "+f.Remedy)
		}
	}
	want := []string{"env.TOKEN names ${MCP_TEST_TOKEN}, which is not set in the environment of hookd -> set MCP_TEST_TOKEN before hookd starts, write ${MCP_TEST_TOKEN:-default}, or $${MCP_TEST_TOKEN} for the text itself"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("%s\n%+v", diff, s.Findings)
	}
}

// TestServerVariableUnsetTrust: a person decides about such a server like about
// any other, and its hash is the same; it is only not started.
func TestServerVariableUnsetTrust(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("server.sh"), "#!/bin/sh\nexec cat\n", 0o755)
	w.settings(serverWithVariables)
	if diff := cmp.Diff([]string{"project/server/git=untrusted", "project/server/other=untrusted"}, materials(w.load())); diff != "" {
		t.Error(diff)
	}
	before := w.plan().Hash
	w.allow()
	s := w.load()
	if diff := cmp.Diff([]string{"project/server/git=broken", "project/server/other=ready"}, materials(s)); diff != "" {
		t.Error(diff)
	}
	if _, started := s.Set.Settings.Agent.MCPServers["git"]; started {
		t.Error("it would be started")
	}
	t.Setenv("MCP_TEST_TOKEN", "s3cret")
	if w.plan().Hash != before {
		t.Error("a variable changes the hash of the project")
	}
	if diff := cmp.Diff([]string{"project/server/git=ready", "project/server/other=ready"}, materials(w.load())); diff != "" {
		t.Error(diff)
	}
}
