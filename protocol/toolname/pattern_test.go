package toolname

import (
	"cmp"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// The documented result of each kind of matcher on each kind of name (H08).
func TestPattern(t *testing.T) {
	tests := []struct {
		pattern string
		tool    string
		kind    protocol.ToolKind // as the event tells it
		want    bool
	}{
		{"Edit", "Edit", "", true},
		{"Edit", "MultiEdit", "", false},
		{"MultiEdit", "Edit", "", false},
		{"bash", "Bash", "", true},
		{"Bash", "bash", "", true},
		{"Bash", "bash", protocol.KindShell, true},
		{"Bash", "BASH", "", false},
		{"Bash", "bash", protocol.KindRead, false},
		{"run_shell_command", "bash", "", true},
		{"shell", "bash", "", true},
		{"execute_bash", "bash", "", true},
		{"PowerShell", "Bash", "", false},
		{"Bash", "read_file", "", false},
		{"Bash", "my_shell", protocol.KindShell, true},
		{"bash", "my_shell", protocol.KindShell, false},
		{"Bash", "my_tool", "", false},
		{"Bash", "my_tool", protocol.KindOther, false},
		{"Bash", "mcp__x__Bash", protocol.KindMCP, false},
		{"Read", "read_file", "", true},
		{"Read", "Grep", "", false},
		{"Write", "write_file", "", true},
		{"Write", "Edit", "", false},
		{"Edit", "edit_file", protocol.KindWrite, true},
		{"apply_patch", "edit_file", "", true},
		{"apply_patch", "write_file", "", true},
		{"edit_file", "apply_patch", "", true},
		{"Task", "spawn_subagent", "", true},
		{"TodoWrite", "todo_write", "", false},
		{"replace", "write_file", "", true},
		{"/Bash|PowerShell/", "bash", "", true},
		{"/(Edit|Write)/", "edit_file", "", true},
		{"/run_.*/", "bash", "", true},
		{"/[A-Z].*/", "my_tool", "", false},
		{"{Edit,Write}", "write_file", "", true},
		{"*Edit", "write_file", "", true},
		{"Ba*", "list_dir", "", false},
		{"mcp__x", "mcp__x__y", "", false},
		{"mcp__x__*", "mcp__x__y", "", true},
		{"mcp__*", "mcp__x__y", "", true},
		{"mcp__x__?", "mcp__x__y", "", true},
		{"*Edit", "MultiEdit", "", true},
		{"{Edit,Write}", "Write", "", true},
		{"[ER]ead", "Read", "", true},
		{"*", "anything/at all", "", true},
		{"*", "", "", true},
		{"a/*", "a/b/c", "", true},
		{"/Edit|Write/", "Write", "", true},
		{"/Edit|Write/", "MultiEdit", "", false},
		{"/Ed/", "Edit", "", false},
		{"/.*Edit/", "MultiEdit", "", true},
		{"/(?i)bash/", "BASH", "", true},
		{"@shell", "bash", "", true},
		{"@shell", "Bash", "", true},
		{"@shell", "read_file", "", false},
		{"@shell", "my_tool", "", true},
		{"@read", "my_tool", "", true},
		{"@read", "my_tool", protocol.KindWrite, false},
		{"@write", "my_tool", protocol.KindWrite, true},
		{"@write", "my_tool", protocol.KindOther, true},
		{"@mcp", "mcp__x__y", "", true},
		{"@shell", "mcp__x__y", "", false},
		{"@agent", "Task", "", true},
		{"@net", "TodoWrite", "", false},
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := p.Match(tt.tool, tt.kind); got != tt.want {
			t.Errorf("%s matches %q (kind %q) = %v, want %v", tt.pattern, tt.tool, tt.kind, got, tt.want)
		}
	}
	for _, bad := range []string{"", "(", ")", "/(/", "/", "//", "/x", "@", "@Shell", "[", "{a", "Bash(rm *)", "Edit|Write", "a b", `a\b`, "^bash$"} {
		if p, err := ParsePattern(bad); err == nil {
			t.Errorf("%q was taken for a pattern: %+v", bad, p)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("mcp__{a,b}*", "mcp__a_x")
	f.Add("/a{1,3}|b/", "aa")
	f.Add("[!a-z]**", "A/b")
	f.Fuzz(func(t *testing.T, pattern, tool string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			return
		}
		if matched := p.Match(tool, ""); p.Exact && matched != (pattern == tool || standsFor(pattern, tool, "")) {
			t.Errorf("%q matches %q = %v", pattern, tool, matched)
		}
	})
}

// No tool stands in the vocabulary twice with different kinds.
func TestVocabularyAgreesWithItself(t *testing.T) {
	seen := map[string]bool{}
	for _, tool := range Vocabulary {
		if seen[tool.Name] {
			t.Errorf("%s is there twice", tool.Name)
		}
		seen[tool.Name] = true
		if p, err := ParsePattern(tool.Name); err != nil || !p.Exact {
			t.Errorf("%s cannot be written as a pattern: %v", tool.Name, err)
		}
	}
}

// Reads of what a server has besides tools are the same read under each agent, and no tool of
// a server: a matcher for them fits no such tool, and one for the tools of a server fits no
// read.
func TestReadsOfServers(t *testing.T) {
	reads := map[string][]string{ // hookd's name, and the agent and name of each that is it
		"read_mcp_resource":  {"mcp read_mcp_resource", "codex read_mcp_resource", "gemini read_mcp_resource", "crush read_mcp_resource", "opencode read_mcp_resource", "claude ReadMcpResourceTool", "cline access_mcp_resource"},
		"list_mcp_resources": {"codex list_mcp_resources", "codex list_mcp_resource_templates", "claude ListMcpResourcesTool", "claude ReadMcpResourceDirTool"},
		"get_mcp_prompt":     {"mcp get_mcp_prompt"},
	}
	fits := func(pattern, name string) bool {
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return p.Match(name, protocol.KindMCP)
	}
	args := map[string]string{"crush": `{"mcp_name":"files","uri":"u"}`, "cline": `{"server_name":"files","uri":"u"}`}
	for ours, calls := range reads {
		for _, of := range calls {
			agent, name, _ := strings.Cut(of, " ")
			call, err := ToOurs(agent, name, []byte(cmp.Or(args[agent], `{"server":"files","uri":"u"}`)))
			if err != nil || call.Name != ours || call.Kind != protocol.KindMCP || call.Server != "files" || string(call.Args) != `{"server":"files","uri":"u"}` {
				t.Errorf("%s is %+v %s, %v", of, call, call.Args, err)
			}
			for other := range reads {
				for _, pattern := range []string{other, name, "/" + other + "/", other[:len(other)-1] + "*"} {
					if want := pattern == name || other == ours; fits(pattern, ours) != want {
						t.Errorf("%s fits %s, as %s calls it: %v", pattern, ours, of, !want)
					}
				}
			}
			for _, pattern := range []string{"mcp__files__*", "mcp__read__*", "mcp__get__mcp_prompt", "/mcp__.*/", "MCP:*"} {
				if fits(pattern, call.Name) || fits(pattern, name) {
					t.Errorf("%s, for tools of servers, fits %s", pattern, of)
				}
			}
			for _, pattern := range []string{name, ours, "/" + ours + "/"} {
				if fits(pattern, "mcp__files__read_text_file") || fits(pattern, "files-read") {
					t.Errorf("%s fits tools of servers", pattern)
				}
			}
			if !fits("@mcp", call.Name) || !fits("*", call.Name) {
				t.Errorf("a guard for all of servers is not asked about %s", of)
			}
		}
	}
}
