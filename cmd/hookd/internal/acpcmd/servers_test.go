package acpcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor/acpproxy"
)

// A server that hookd guards already is started by this very hookd, whatever PATH the server
// is to have. What only looks so is guarded.
func TestServersUnderGuard(t *testing.T) {
	self := places.Program()
	h := &hooks{opener: &engine.Opener{Project: &places.Project{}}, cwd: "/p"}
	for args, wrapped := range map[string]bool{
		"mcp -- x y": false, "mcp --name a -- x": false, "mcp --name=a -- x": false,
		"": true, "mcp": true, "mcp x": true, "mcp --": true, "--project /other mcp -- x": true, "mcp --project /other -- x": true, "mcp --name a --project /other -- x": true, "acp -- x": true,
	} {
		words := strings.Fields(args)
		want := append([]string{self, "--project", "/p"}, words...)
		if wrapped {
			want = append([]string{self, "--project", "/p", "mcp", "--name", "n", "--", self}, words...)
		}
		if got := h.server(acpproxy.Server{Name: "n", Project: "/p", Folders: []string{"/p/sub"}, Command: self, Args: words}); !slices.Equal(got, want) {
			t.Errorf("%q: %q", args, got)
		}
	}
	if got := h.server(acpproxy.Server{Name: "n", Command: "sh", Args: []string{"mcp", "--", "x"}}); !slices.Equal(got, []string{self, "mcp", "--name", "n", "--", "sh", "mcp", "--", "x"}) {
		t.Errorf("%q", got)
	}
}

// The hooks that judge a session judge the calls of its servers: those of all its folders, and those
// of the folder that the editor has started hookd in.
func TestFoldersOfServers(t *testing.T) {
	for name, test := range map[string]struct {
		server acpproxy.Server
		named  string // --project of hookd acp
		want   string
	}{
		"no project at all":               {server: acpproxy.Server{Folders: []string{"/a", "/b"}}},
		"the project and a folder of it":  {server: acpproxy.Server{Project: "/w", Folders: []string{"/w/a"}}},
		"another project within it":       {server: acpproxy.Server{Project: "/w", Folders: []string{"/w/a", "/w/b"}}, want: "--also /w/b"},
		"another project":                 {server: acpproxy.Server{Project: "/p", Folders: []string{"/p/a", "/q"}}, want: "--also /q --also /w"},
		"the project of the editor alone": {server: acpproxy.Server{Project: "/w", Folders: []string{"/a"}}, want: "--also /a"},
		"a project that was named":        {server: acpproxy.Server{Project: "/p", Folders: []string{"/q"}}, named: "/p"},
	} {
		h := &hooks{opener: &engine.Opener{Project: &places.Project{Folder: test.named}}, cwd: "/w"}
		test.server.Name, test.server.Command = "n", "x"
		want := []string{places.Program()}
		if test.server.Project != "" {
			want = append(want, "--project", test.server.Project)
		}
		want = append(append(append(want, "mcp"), strings.Fields(test.want)...), "--name", "n", "--", "x")
		if got := h.server(test.server); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
