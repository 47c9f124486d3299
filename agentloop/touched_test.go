package agentloop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// touching is a scene in a folder with .env, a link and a second name of it, whose
// model makes one call.
func touching(t *testing.T, name, args string, hooks ...protocol.GoHook) (s *executorLoop, project string) {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(project, name) }
	if err := errors.Join(os.WriteFile(in(".env"), []byte("SECRET\n"), 0o600), os.WriteFile(in("free"), []byte("free\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.Symlink(".env", in("notes")), os.Symlink(".", in("here")), os.Link(in(".env"), in("twin")))
	switch {
	case err != nil && runtime.GOOS == "windows":
		t.Skip("Windows lets only some users make links: ", err)
	case err != nil:
		t.Fatal(err)
	}
	s = newExecutorLoop(t, func(n int, r model.Request) turn {
		if n == 1 {
			return turn{calls: []protocol.Part{calling("c1", name, args)}}
		}
		return turn{text: "done"}
	}, hooks, func(o *agentloop.Options) {
		o.Project = project
		o.Tools = tool.Files(tool.Folder{Project: project})
	})
	return s, project
}

// TestWhatACallTouches asserts that every event of a call says which file it is about.
func TestWhatACallTouches(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not tell how many names a file has")
	}
	for _, c := range []struct {
		tool, args, want string
		links            int
	}{
		{"read_file", `{"path":"notes"}`, ".env", 2},
		{"read_file", `{"path":"twin"}`, "twin", 2},
		{"read_file", `{"path":"here/here/free"}`, "free", 0},
		{"write_file", `{"path":"here/new/deep.txt","content":"x"}`, "new/deep.txt", 0},
		{"edit_file", `{"path":"notes","oldText":"no","newText":"x"}`, ".env", 2},
		{"list_dir", `{"path":"here"}`, "", 0},
		{"list_dir", `{}`, "", 0},
		{"grep", `{"pattern":"x","path":"notes"}`, ".env", 2},
		{"read_file", `{"path":"../out"}`, "../out", 0},
	} {
		s, project := touching(t, c.tool, c.args)
		s.prompt(t, t.Context(), "go")
		found := 0
		for _, event := range []protocol.EventName{protocol.ToolCallStart, protocol.ToolCallEnd, protocol.ToolCallError} {
			for _, e := range s.gate.of(event, "") {
				found++
				call := dataOf[protocol.ToolCallEndData](t, e).Call
				if call.RealPath != filepath.Join(project, c.want) || call.Links != c.links || len(call.OtherPaths) != max(c.links-1, 0) {
					t.Errorf("%s %s at %s: %+v", c.tool, c.args, event, call.Touched)
				}
			}
		}
		if found != 2 {
			t.Errorf("%s %s: %d events", c.tool, c.args, found)
		}
	}
}

// TestTouchedFollowsHooks asserts that a guard after a modifier reads where the new
// path leads, and that the tool works there.
func TestTouchedFollowsHooks(t *testing.T) {
	var judged protocol.Touched
	turn := protocol.GoHook{
		Name: "turn", Events: []protocol.EventName{protocol.ToolCallStart}, Can: protocol.CanModify,
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"args":{"path":"notes"}}`)}, nil
		},
	}
	guard := protocol.GoHook{
		Name: "guard", Events: []protocol.EventName{protocol.ToolCallStart}, Can: protocol.CanBlock,
		Func: func(_ context.Context, e *protocol.Event) (protocol.Reply, error) {
			judged = dataOf[protocol.ToolCallStartData](t, *e).Touched
			return protocol.Reply{}, nil
		},
	}
	s, project := touching(t, "read_file", `{"path":"free"}`, turn, guard)
	s.prompt(t, t.Context(), "go")
	if judged.RealPath != filepath.Join(project, ".env") || judged.Links != 2 {
		t.Errorf("the guard read %+v", judged)
	}
	ends := s.gate.of(protocol.ToolCallEnd, "")
	if len(ends) != 1 {
		t.Fatal(s.gate.names())
	}
	end := dataOf[protocol.ToolCallEndData](t, ends[0])
	if end.RealPath != judged.RealPath || end.Result.Content.Text() != "SECRET\n" {
		t.Errorf("%+v", end)
	}
}

// TestLinkTurnedAfterTheGate asserts that a tool does not follow a link that was turned
// round after hooks had judged the call.
func TestLinkTurnedAfterTheGate(t *testing.T) {
	for name, swap := range map[string]func(in func(string) string) error{
		"a link": func(in func(string) string) error {
			return errors.Join(os.Remove(in("free")), os.Symlink(".env", in("free")))
		},
		"a hard link": func(in func(string) string) error {
			return errors.Join(os.Remove(in("free")), os.Link(in(".env"), in("free")))
		},
		"a link's new name": func(in func(string) string) error { return os.Link(in("free"), in("more")) },
	} {
		for _, call := range []string{"read_file", "write_file", "edit_file"} {
			args := map[string]string{
				"read_file": `{"path":"free"}`, "write_file": `{"path":"free","content":"x"}`, "edit_file": `{"path":"free","oldText":"SECRET","newText":"x"}`,
			}[call]
			s, project := touching(t, call, args)
			s.gate.after = func(_ int, e protocol.Event) {
				if e.Event == protocol.ToolCallStart {
					if err := swap(func(name string) string { return filepath.Join(project, name) }); err != nil {
						t.Error(err)
					}
				}
			}
			s.prompt(t, t.Context(), "go")
			ends := s.gate.of(protocol.ToolCallEnd, "")
			if len(ends) != 1 {
				t.Fatalf("%s: %s", name, s.gate.names())
			}
			result := dataOf[protocol.ToolCallEndData](t, ends[0]).Result
			if text := result.Content.Text(); !result.IsError || !strings.Contains(text, "than a moment ago, when hooks judged this call") {
				t.Errorf("%s, %s: %q", name, call, text)
			}
			if data, err := os.ReadFile(filepath.Join(project, ".env")); err != nil || string(data) != "SECRET\n" {
				t.Errorf("%s, %s: .env holds %q (%v)", name, call, data, err)
			}
		}
	}
}
