package realpath

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// An event about a file says which file it is, links followed, from where the agent is,
// and after a change of the args, too.
func TestOfCall(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "sub")
	secret := filepath.Join(dir, ".env")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(sub, "notes")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, kind, args, want string }{
		{"read_file", "read", `{"path":"notes"}`, secret},
		{"write_file", "write", `{"path":"../.env"}`, secret},
		{"MultiEdit", "write", fmt.Sprintf(`{"path":%q}`, filepath.Join(sub, "notes")), secret},
		{"write_file", "write", `{"path":"new/file"}`, filepath.Join(sub, "new/file")},
		{"grep", "read", `{"pattern":"x"}`, sub},
		{"read_file", "read", `{}`, ""},
		{"bash", "shell", `{"path":"notes"}`, ""},
	} {
		event := protocol.Event{Event: protocol.ToolCallStart, Project: dir, Cwd: sub,
			Data: fmt.Appendf(nil, `{"toolCallId":"","name":%q,"kind":%q,"args":%s,"parallel":1}`, tt.name, tt.kind, tt.args)}
		OfCall(&event, event.Cwd)
		if got := jsonspan.Text(jsonspan.Get(event.Data, "realPath")); got != tt.want {
			t.Errorf("%s %s touches %q, want %q", tt.name, tt.args, got, tt.want)
		}
		if (event.Touches != nil) != (tt.kind != "shell") {
			t.Errorf("%s: after a change of the args nobody knows what it touches", tt.name)
		}
		if event.Touches != nil && tt.want != "" {
			if got := event.Touches([]byte(`{"path":"../sub/notes"}`)).RealPath; got != secret {
				t.Errorf("%s: changed, it touches %q", tt.name, got)
			}
		}
	}
}

// A call on several files says which they are, or nothing where that is not known of all.
func TestOfCallOnSeveralFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", "a[1]"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".env", filepath.Join(dir, "notes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, ".env"), filepath.Join(dir, "twin")); err != nil {
		t.Fatal(err)
	}
	many := `["x"` + strings.Repeat(`,"x"`, mostFiles) + `]`
	for args, want := range map[string]string{
		`{"paths":["main.go","notes"]}`:            `{"links":2,"realPaths":["DIR/main.go","DIR/.env"],"otherPaths":["DIR/twin"]}`,
		`{"paths":["/etc/passwd","a[1]"]}`:         `{"realPaths":["/etc/passwd","DIR/a[1]"]}`,
		`{"paths":["main.go","**/*.md"]}`:          `{}`,
		`{"paths":["main.go",""]}`:                 `{}`,
		`{"paths":["main.go",5]}`:                  `{}`,
		`{"paths":"main.go"}`:                      `{}`,
		`{"paths":` + many + `}`:                   `{}`,
		`{"path":"main.go","paths":["notes","x"]}`: `{"links":2,"realPaths":["DIR/main.go","DIR/.env","DIR/x"],"otherPaths":["DIR/twin"]}`,
	} {
		event := protocol.Event{Event: protocol.ToolCallStart, Project: dir, Cwd: dir,
			Data: protocol.RawMessage(`{"toolCallId":"","name":"apply_patch","kind":"write","args":` + args + `,"parallel":1}`)}
		OfCall(&event, event.Cwd)
		var got protocol.Touched
		if err := json.Unmarshal(event.Data, &got); err != nil {
			t.Fatal(err)
		}
		shown, err := protocol.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if want = strings.ReplaceAll(want, "DIR", dir); string(shown) != want {
			t.Errorf("%.80s touches %s, want %s", args, shown, want)
		}
	}
}

// A path with a link in front of .. leads to one file or another, by who follows it: the call may touch
// either.
func TestOfCallThroughALink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"far/sub", "p/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"p/link": filepath.Join(dir, "far/sub"), "p/near": "sub"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("a link cannot be made here (Windows lets few users): %v", err)
		}
	}
	project := filepath.Join(dir, "p")
	for args, want := range map[string]string{
		`{"path":"link/../x"}`:                    `{"realPaths":["DIR/p/x","DIR/far/x"]}`,
		`{"path":"DIR/p/link/../x"}`:              `{"realPaths":["DIR/p/x","DIR/far/x"]}`,
		`{"paths":["a","link/../x","near/../b"]}`: `{"realPaths":["DIR/p/a","DIR/p/x","DIR/far/x","DIR/p/b"]}`,
		`{"path":"near/../x"}`:                    `{"realPath":"DIR/p/x"}`,
		`{"path":"sub/../link/x"}`:                `{"realPath":"DIR/far/sub/x"}`,
		`{"path":"none/../x"}`:                    `{"realPath":"DIR/p/x"}`,
	} {
		event := protocol.Event{Event: protocol.ToolCallStart, Project: project, Cwd: project,
			Data: protocol.RawMessage(`{"toolCallId":"","name":"write_file","kind":"write","args":` + strings.ReplaceAll(args, "DIR", dir) + `,"parallel":1}`)}
		OfCall(&event, event.Cwd)
		var got protocol.Touched
		if err := json.Unmarshal(event.Data, &got); err != nil {
			t.Fatal(err)
		}
		shown, err := protocol.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if want = strings.ReplaceAll(want, "DIR", dir); string(shown) != want {
			t.Errorf("%s touches %s, want %s", args, shown, want)
		}
	}
}
