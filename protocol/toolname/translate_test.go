package toolname

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Calls as agents write them, and what hooks read of them.
func TestToOurs(t *testing.T) {
	for _, tt := range []struct{ agent, name, args, want, wantArgs string }{
		{"claude", "Bash", `{"command":"ls","timeout":120000}`, "bash", `{"command":"ls","timeout":120}`},
		{"claude", "Bash", `{"command":"ls","timeout":1500}`, "bash", `{"command":"ls","timeout":1.5}`},
		{"codex", "shell", `{"command":["bash","-lc","rm -rf /"],"workdir":"/x"}`, "bash", `{"command":"rm -rf /","dir":"/x"}`},
		{"codex", "shell", `{"command":["rm","-rf","/ it's"]}`, "bash", `{"command":"rm -rf '/ it'\\''s'"}`},
		{"codex", "shell", `{"command":["FOO=1","ls"]}`, "bash", `{"command":"'FOO=1' ls"}`},
		{"codex", "shell", `{"command":["bash","-c","ls","name","arg"]}`, "bash", `{"command":"bash -c ls name arg"}`},
		{"codex", "shell", `{"command":"ls"}`, "bash", `{"command":"ls"}`},
		{"codex", "shell", `{"command":[]}`, "bash", `{"command":""}`},
		{"codex", "exec_command", `{"cmd":"ls"}`, "bash", `{"command":"ls"}`},
		{"goose", "shell", `{"command":"ls"}`, "bash", `{"command":"ls"}`},
		{"cline", "run_commands", `{"commands":["ls","rm -rf /"]}`, "bash", `{"command":"ls\nrm -rf /"}`},
		{"claude", "Edit", `{"file_path":"a","old_string":"b","new_string":"c","replace_all":true}`, "edit_file", `{"path":"a","oldText":"b","newText":"c","replaceAll":true}`},
		{"factory", "Edit", `{"file_path":"a","old_str":"b","new_str":"c"}`, "edit_file", `{"path":"a","oldText":"b","newText":"c"}`},
		{"claude", "MultiEdit", `{"file_path":"a","edits":[]}`, "MultiEdit", `{"path":"a","edits":[]}`},
		{"copilot", "create", `{"path":"a","file_text":"b"}`, "write_file", `{"path":"a","content":"b"}`},
		{"copilot", "edit", `{"file_path":"a","diff":"x"}`, "edit_file", `{"path":"a","diff":"x"}`},
		{"opencode", "write", `{"filePath":"a","content":"b"}`, "write_file", `{"path":"a","content":"b"}`},
		{"gemini", "grep_search", `{"pattern":"x","dir_path":"d"}`, "grep", `{"pattern":"x","path":"d"}`},
		{"gemini", "google_web_search", `{"query":"x"}`, "web_search", `{"query":"x"}`},
		{"claude", "TodoWrite", `{"todos":[]}`, "TodoWrite", `{"todos":[]}`},
		{"claude", "Bash", ``, "bash", `{}`},
		{"claude", "Bash", `null`, "bash", `{}`},
		{"claude", "mcp__git__push", `{"path":"x"}`, "mcp__git__push", `{"path":"x"}`},
		{"gemini", "mcp_git_push", `{}`, "mcp__git__push", `{}`},
		{"gemini", "mcp_my_git_push", `{}`, "mcp_my_git_push", `{}`},
		{"copilot", "git-push", `{}`, "mcp__git__push", `{}`},
		{"copilot", "git/push", `{}`, "mcp__git__push", `{}`},
		{"copilot", "my-git-push", `{}`, "my-git-push", `{}`},
		{"cursor", "MCP:push", `{}`, "MCP:push", `{}`},
		{"kiro", "@git/push", `{}`, "mcp__git__push", `{}`},
		{"goose", "git__push", `{}`, "mcp__git__push", `{}`},
		{"opencode", "git_push", `{}`, "mcp__git__push", `{}`},
		{"opencode", "my_git_push", `{}`, "my_git_push", `{}`},
		{"codex", "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a/b.go\n@@\n-x\n+y\n*** End Patch"}`, "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a/b.go\n@@\n-x\n+y\n*** End Patch","path":"a/b.go"}`},
		{"opencode", "apply_patch", `{"patchText":"*** Add File: a\r\n+x\n*** Delete File: b"}`, "apply_patch", `{"patchText":"*** Add File: a\r\n+x\n*** Delete File: b","paths":["a","b"]}`},
		{"codex", "apply_patch", `{"command":"*** Update File: a\n*** Move to: b"}`, "apply_patch", `{"command":"*** Update File: a\n*** Move to: b","paths":["a","b"]}`},
		{"codex", "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a\n*** End Patch","path":"a"}`, "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a\n*** End Patch","path":"a"}`},
		{"hermes", "patch", `{"mode":"patch","patch":"*** Update File: a\n*** Update File: b"}`, "edit_file", `{"mode":"patch","patch":"*** Update File: a\n*** Update File: b","paths":["a","b"]}`},
		{"hermes", "patch", `{"mode":"replace","path":"a","old_string":"b","new_string":"c"}`, "edit_file", `{"mode":"replace","path":"a","oldText":"b","newText":"c"}`},
		{"kiro", "fs_read", `{"operations":[{"mode":"Line","path":"a"},{"mode":"Directory","path":"b"},{"mode":"Line","path":"a"}]}`, "fs_read", `{"operations":[{"mode":"Line","path":"a"},{"mode":"Directory","path":"b"},{"mode":"Line","path":"a"}],"paths":["a","b"]}`},
		{"kiro", "fs_read", `{"operations":[{"mode":"Line","path":"a"}]}`, "fs_read", `{"operations":[{"mode":"Line","path":"a"}],"path":"a"}`},
		{"kiro", "fs_write", `{"command":"create","path":"a","file_text":"b"}`, "write_file", `{"path":"a","content":"b"}`},
		{"kiro", "fs_write", `{"path":"a","text":"b"}`, "write_file", `{"path":"a","content":"b"}`},
		{"kiro", "fs_write", `{"command":"melt","path":"a"}`, "fs_write", `{"command":"melt","path":"a"}`},
		{"kiro", "str_replace", `{"path":"a","oldStr":"b","newStr":"c"}`, "edit_file", `{"path":"a","oldText":"b","newText":"c"}`},
		{"cline", "read_files", `{"files":[{"path":"a"},"b"]}`, "read_files", `{"files":[{"path":"a"},"b"],"paths":["a","b"]}`},
		{"goose", "edit", `{"path":"a","before":"b","after":"c"}`, "edit_file", `{"path":"a","oldText":"b","newText":"c"}`},
		{"goose", "developer__text_editor", `{"command":"write","path":"a","file_text":"b"}`, "write_file", `{"path":"a","content":"b"}`},
		{"openhands", "file_editor", `{"command":"view","path":"a","view_range":[1,2]}`, "read_file", `{"path":"a","view_range":[1,2]}`},
		{"openhands", "file_editor", `{"command":"create","path":"a","file_text":"b"}`, "write_file", `{"path":"a","content":"b"}`},
		{"openhands", "file_editor", `{"path":"a","command":"str_replace","old_str":"b","new_str":"c"}`, "edit_file", `{"path":"a","oldText":"b","newText":"c"}`},
		{"openhands", "file_editor", `{"command":"insert","path":"a","insert_line":3,"new_str":"c"}`, "edit_file", `{"path":"a","insert_line":3,"newText":"c"}`},
		{"openhands", "file_editor", `{"command":"undo_edit","path":"a"}`, "edit_file", `{"path":"a"}`},
		{"openhands", "file_editor", `{"command":"melt","path":"a"}`, "file_editor", `{"command":"melt","path":"a"}`},
		{"copilot", "apply_patch", `"*** Update File: a"`, "apply_patch", `{"input":"*** Update File: a","path":"a"}`},
		{"openhands", "create_issue", `{}`, "create_issue", `{}`},
		{"hermes", "mcp_git_push", `{}`, "mcp__git__push", `{}`},
		{"nobody", "Bash", `{"timeout":1}`, "Bash", `{"timeout":1}`},
	} {
		got, err := ToOurs(tt.agent, tt.name, []byte(tt.args))
		if err != nil || got.Name != tt.want || string(got.Args) != tt.wantArgs {
			t.Errorf("%s %s %s: %s %s, %v; want %s %s", tt.agent, tt.name, tt.args, got.Name, got.Args, err, tt.want, tt.wantArgs)
		}
		if server, is := strings.CutPrefix(got.Name, "mcp__"); is && (got.Kind != protocol.KindMCP || !strings.HasPrefix(server, got.Server+"__")) {
			t.Errorf("%s %s: kind %s, server %q", tt.agent, tt.name, got.Kind, got.Server)
		}
	}
	for _, tt := range []struct{ agent, name, args, says string }{
		{"claude", "", `{}`, "names no tool"},
		{"claude", "Bash", `"ls"`, "a string where an object is expected"},
		{"claude", "Write", `{"path":"/safe","file_path":"/etc/passwd"}`, "path is given twice"},
		{"codex", "shell", `{"command":["rm",5]}`, "hooks could not see"},
		{"codex", "shell", `{"command":{"a":1}}`, "hooks could not see"},
		{"cline", "run_commands", `{"commands":[["rm"]]}`, "hooks could not see"},
		{"codex", "apply_patch", `{"command":"*** Update File: .env","path":"notes"}`, "path is given besides"},
		{"codex", "apply_patch", `{"command":"*** Update File: .env\n*** Update File: b","path":"b"}`, "path is given besides"},
		{"codex", "apply_patch", `{"command":"*** Update File: .env","paths":["b"]}`, "paths is given besides"},
		{"kiro", "fs_read", `{"operations":[{"path":".env"}],"path":"b"}`, "path is given besides"},
		{"codex", "apply_patch", `{"command":["x"]}`, "a patch is expected"},
		{"codex", "apply_patch", `{"path":"a"}`, "has no patch"},
		{"codex", "Bash", `"ls"`, "an object is expected"},
		{"openhands", "file_editor", `{"command":["view"],"path":"a"}`, "has no command"},
		{"openhands", "file_editor", `{"command":null,"path":"a"}`, "has no command"},
		{"openhands", "file_editor", `{"path":"a"}`, "has no command"},
		{"kiro", "fs_write", `{"command":5,"path":"a"}`, "has no command"},
	} {
		if got, err := ToOurs(tt.agent, tt.name, []byte(tt.args)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s %s %s: %s %s, %v", tt.agent, tt.name, tt.args, got.Name, got.Args, err)
		}
	}
}

// A hook that was written for an agent reads that agent's words, also when another agent made the call.
func TestToTheirs(t *testing.T) {
	for _, tt := range []struct{ agent, name, args, want, wantArgs string }{
		{"claude", "bash", `{"command":"ls","timeout":2}`, "Bash", `{"command":"ls","timeout":2000}`},
		{"codex", "bash", `{"command":"ls"}`, "Bash", `{"command":"ls"}`},
		{"gemini", "bash", `{"command":"ls"}`, "run_shell_command", `{"command":"ls"}`},
		{"cline", "bash", `{"command":"ls"}`, "execute_command", `{"command":"ls"}`},
		{"claude", "edit_file", `{"path":"a","oldText":"b","newText":"c"}`, "Edit", `{"file_path":"a","old_string":"b","new_string":"c"}`},
		{"factory", "edit_file", `{"path":"a","oldText":"b","newText":"c"}`, "Edit", `{"file_path":"a","old_str":"b","new_str":"c"}`},
		{"cursor", "write_file", `{"path":"a","content":"b"}`, "Write", `{"file_path":"a","contents":"b"}`},
		{"copilot", "write_file", `{"path":"a","content":"b"}`, "create", `{"path":"a","file_text":"b"}`},
		{"gemini", "web_search", `{"query":"x"}`, "google_web_search", `{"query":"x"}`},
		{"claude", "todo_write", `{"items":[]}`, "todo_write", `{"items":[]}`},
		{"claude", "mcp__git__push", `{}`, "mcp__git__push", `{}`},
		{"gemini", "mcp__git__push", `{}`, "mcp_git_push", `{}`},
		{"cursor", "mcp__git__push", `{}`, "MCP:push", `{}`},
		{"kiro", "mcp__git__push", `{}`, "@git/push", `{}`},
		{"openhands", "read_file", `{"path":"a"}`, "file_editor", `{"command":"view","path":"a"}`},
		{"openhands", "write_file", `{"path":"a","content":"b"}`, "file_editor", `{"command":"create","path":"a","file_text":"b"}`},
		{"openhands", "edit_file", `{"path":"a","oldText":"b","newText":"c"}`, "file_editor", `{"command":"str_replace","path":"a","old_str":"b","new_str":"c"}`},
		{"goose", "read_file", `{"path":"a"}`, "text_editor", `{"command":"view","path":"a"}`},
		{"goose", "write_file", `{"path":"a","content":"b"}`, "write", `{"path":"a","content":"b"}`},
	} {
		name, args, err := ToTheirs(tt.agent, tt.name, []byte(tt.args))
		if err != nil || name != tt.want || string(args) != tt.wantArgs {
			t.Errorf("%s %s %s: %s %s, %v; want %s %s", tt.agent, tt.name, tt.args, name, args, err, tt.want, tt.wantArgs)
		}
	}
}

// What hooks did not change goes back as it came, byte for byte, and what they changed by
// the very names that the call came with.
func TestBack(t *testing.T) {
	for _, tt := range []struct{ agent, name, was, change, want string }{
		{"codex", "shell", `{"command":["bash","-lc","ls"],"timeout_ms":1e3}`, ``, `{"command":["bash","-lc","ls"],"timeout_ms":1e3}`},
		{"codex", "shell", `{"command":["/bin/sh","-c","ls"]}`, `"command":"pwd"`, `{"command":["/bin/sh","-c","pwd"]}`},
		{"codex", "shell", `{"command":["ls","-l"]}`, `"command":"ls | wc"`, `{"command":["bash","-lc","ls | wc"]}`},
		{"codex", "shell", `{"command":"ls"}`, `"command":"pwd"`, `{"command":"pwd"}`},
		{"cline", "run_commands", `{"commands":["ls","pwd"]}`, `"command":"ls"`, `{"commands":["ls"]}`},
		{"gemini", "run_shell_command", `{"command":"ls","directory":"a"}`, `"dir":"b"`, `{"command":"ls","directory":"b"}`},
		{"gemini", "run_shell_command", `{"command":"ls"}`, `"dir":"b"`, `{"command":"ls","dir_path":"b"}`},
		{"qwen", "read_file", `{"absolute_path":"a"}`, `"path":"b"`, `{"absolute_path":"b"}`},
		{"gemini", "read_file", `{"path":"a"}`, `"path":"b"`, `{"path":"b"}`},
		{"copilot", "edit", `{"file_path":"a"}`, `"path":"b"`, `{"file_path":"b"}`},
		{"claude", "Bash", `{"command":"ls","timeout":1500}`, `"timeout":3`, `{"command":"ls","timeout":3000}`},
	} {
		ours, err := ToOurs(tt.agent, tt.name, []byte(tt.was))
		if err != nil {
			t.Fatal(err)
		}
		args := ours.Args
		if tt.change != "" {
			change := jsonspan.Members([]byte("{" + tt.change + "}"))[0]
			list := jsonspan.ReadMemberList(args)
			list.Set(change.Name, change.Value)
			args = list.JSON()
		}
		got, err := Back(tt.agent, tt.name, []byte(tt.was), args)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s %s with %s: %s, %v; want %s", tt.agent, tt.name, tt.was, tt.change, got, err, tt.want)
		}
	}
	for _, was := range []string{`{"command":"create","path":"a","file_text":"b"}`, `{"path":"a","command":"create","file_text":"b"}`, `{"path":"a","file_text":"b","command":"create"}`} {
		ours, err := ToOurs("openhands", "file_editor", []byte(was))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Back("openhands", "file_editor", []byte(was), ours.Args); err != nil || string(got) != was {
			t.Errorf("%s came back as %s, %v", was, got, err)
		}
		if got, err := Back("openhands", "file_editor", []byte(was), []byte(`{"path":"c","content":"b","command":"view"}`)); err == nil {
			t.Errorf("%s came back as another tool: %s", was, got)
		}
	}
	if got, err := Back("copilot", "apply_patch", []byte(`"*** Update File: a"`), []byte(`{"input":"*** Update File: a\n+x","path":"a"}`)); err != nil || string(got) != `"*** Update File: a\n+x"` {
		t.Errorf("a patch that is a text went back as %s, %v", got, err)
	}
	two := `{"patchText":"*** Update File: a\n*** Update File: b"}`
	if got, err := Back("opencode", "apply_patch", []byte(two), []byte(`{"patchText":"*** Update File: a\n*** Update File: b","paths":["a"]}`)); err == nil {
		t.Errorf("other paths of a patch went back as %s", got)
	}
	patch := `{"command":"*** Update File: a\n+x"}`
	if got, err := Back("codex", "apply_patch", []byte(patch), []byte(`{"command":"*** Update File: a\n+y","path":"a"}`)); err != nil || string(got) != `{"command":"*** Update File: a\n+y"}` {
		t.Errorf("a patch went back as %s, %v", got, err)
	}
	if got, err := Back("codex", "apply_patch", []byte(patch), []byte(`{"command":"*** Update File: a\n+x","path":"b"}`)); err == nil {
		t.Errorf("another path of a patch went back as %s", got)
	}
	if got, err := Back("codex", "shell", []byte(`{"command":["ls"]}`), []byte(`{"command":5}`)); err == nil {
		t.Errorf("a command that is a number went back as %s", got)
	}
}

// Each row of the table works both ways: what an agent calls becomes ours, and ours becomes
// what that agent calls, for every member that it names in its own way.
func TestEachRowGoesBothWays(t *testing.T) {
	for _, tool := range Vocabulary {
		for _, agent := range strings.Fields(tool.Of) {
			if agent == ourAgent {
				continue
			}
			args := tool.argsOf(agent)
			theirs := newMembers()
			named := map[string]bool{}
			for i, a := range args {
				if named[a.Ours] {
					continue // a second name for the same
				}
				named[a.Ours] = true
				if err := theirs.add(a.Theirs, sampleValue(a.Form, i)); err != nil {
					t.Fatal(err)
				}
			}
			if v := verbsOf(agent, tool.Name); v != nil && tool.Ours == "" {
				if err := theirs.add(v.Member, jsonspan.Quote(v.Means[0].Word)); err != nil {
					t.Fatal(err)
				}
			}
			was := theirs.object.Object()
			ours, err := ToOurs(agent, tool.Name, was)
			if err != nil {
				t.Errorf("%s %s: %v", agent, tool.Name, err)
				continue
			}
			if back, err := Back(agent, tool.Name, was, ours.Args); err != nil || string(back) != string(was) {
				t.Errorf("%s %s: %s came back as %s, %v", agent, tool.Name, was, back, err)
			}
			if tool.Ours == "" {
				continue
			}
			if ours.Name != tool.Ours || ours.Kind != tool.Kind {
				t.Errorf("%s %s became %s, a tool of kind %s", agent, tool.Name, ours.Name, ours.Kind)
			}
			name, _, err := ToTheirs(agent, tool.Ours, ours.Args)
			first := slices.IndexFunc(Vocabulary, func(o Tool) bool { return o.Ours == tool.Ours && o.isOf(agent) })
			if err != nil || name != Vocabulary[first].Name {
				t.Errorf("%s %s became %s there, %v", agent, tool.Ours, name, err)
			}
			if kind, known := Kind(tool.Ours); known && kind != tool.Kind {
				t.Errorf("%s is %s, and its %s is %s", tool.Name, tool.Kind, tool.Ours, kind)
			}
		}
	}
}

func sampleValue(f Form, i int) protocol.RawMessage {
	switch f {
	case Milliseconds:
		return []byte("2000")
	case Words:
		return []byte(`["bash","-lc","ls"]`)
	case Lines:
		return []byte(`["ls"]`)
	case Files:
		return []byte(`["a",{"path":"b"}]`)
	}
	return fmt.Appendf(nil, `"value %d"`, i)
}

// A matcher fits a server's tool however an agent writes its name, and when the name
// does not say which server it is of, it fits in doubt.
func TestPatternsFitServersTools(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		kind          protocol.ToolKind
		want          bool
	}{
		{"mcp__my_git__push", "mcp_my_git_push", protocol.KindMCP, true},
		{"mcp__my__git_push", "mcp_my_git_push", protocol.KindMCP, true},
		{"mcp__my_git__pull", "mcp_my_git_push", protocol.KindMCP, false},
		{"mcp__my__git_push", "my_git_push", protocol.KindMCP, true},
		{"mcp__my__tool", "my_tool", protocol.KindOther, false},
		{"mcp__my-git__*", "my-git-push", protocol.KindMCP, true},
		{"/mcp__git__.*/", "@git/push", protocol.KindMCP, true},
		{"mcp__git__push", "MCP:push", protocol.KindMCP, true},
		{"mcp__git__pull", "MCP:push", protocol.KindMCP, false},
		{"mcp__git__*", "MCP:push", protocol.KindMCP, true},
		{"mcp__apply__patch", "apply_patch", protocol.KindWrite, false},
		{"mcp__git__push", "mcp__my__push", protocol.KindMCP, false},
		{"@shell", "my-git-push", protocol.KindMCP, false},
	} {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(tt.name, tt.kind); got != tt.want {
			t.Errorf("%s matches %s = %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

// Translating never fails to end, never panics, and what is an object stays one.
func FuzzTranslate(f *testing.F) {
	for _, tool := range Vocabulary {
		f.Add(strings.Fields(tool.Of)[0], tool.Name, []byte(`{"command":["a"],"file_path":"x","timeout":1e999}`))
	}
	f.Fuzz(func(t *testing.T, agent, name string, args []byte) {
		if !jsonspan.Valid(args) {
			return
		}
		ours, err := ToOurs(agent, name, args)
		if err != nil {
			return
		}
		if !jsonspan.Valid(ours.Args) {
			t.Fatalf("%s %s %s became %s", agent, name, args, ours.Args)
		}
		back, err := Back(agent, name, args, ours.Args)
		if err == nil && jsonspan.Kind(args) == '{' && !jsonspan.Equal(back, args) {
			t.Errorf("%s %s: %s came back as %s", agent, name, args, back)
		}
		if _, there, err := ToTheirs(agent, ours.Name, ours.Args); err == nil && !jsonspan.Valid(there) {
			t.Errorf("%s %s: %s", agent, ours.Name, there)
		}
	})
}
