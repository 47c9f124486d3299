package toolname

import (
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
