package toolname

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

func TestAllowed(t *testing.T) {
	type tool struct {
		name string
		kind protocol.ToolKind
	}
	bash, write, edit := tool{"bash", protocol.KindShell}, tool{"write_file", protocol.KindWrite}, tool{"edit_file", protocol.KindWrite}
	github, odd, none := tool{"mcp__github__close", protocol.KindMCP}, tool{"deploy", protocol.KindOther}, tool{"deploy", ""}
	long := tool{"mcp__" + strings.Repeat("x", 2000), protocol.KindMCP}
	resource := tool{"read_mcp_resource", protocol.KindMCP}
	all := []tool{bash, write, edit, github, resource, odd, none, long}
	for word, want := range map[string][]tool{
		"bash": {bash}, "shell": {bash}, "@shell": {bash}, "Bash": {bash}, "run_shell_command": {bash},
		"write": {write, edit}, "@write": {write, edit}, "Edit": {write, edit}, "write_file": {write},
		"mcp": {github, resource, long}, "@mcp": {github, resource, long}, "mcp__github__*": {github}, "mcp__github__close": {github}, "/mcp__git.*/": {github},
		"*": {bash, write, edit, github, resource, odd, none}, "read_mcp_resource": {resource}, "ReadMcpResourceTool": nil, "Read*": {resource}, "get_mcp_prompt": nil, "list_mcp_resources": nil, "net": nil, "read": nil, "TodoWrite": nil, "other": {odd, none},
	} {
		a, err := ParseAllowed(word)
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		var got []tool
		for _, tool := range all {
			if a.Match(tool.name, tool.kind) {
				got = append(got, tool)
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(tool{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", word, diff)
		}
	}
	for word, remedy := range map[string]string{
		"bahs": "did you mean bash?", "@shel": "did you mean shell?", "wirte": "did you mean write?",
		"Bash(git *)": "agent.tools.bash.allow", "git status": "agent.tools.bash.allow",
		"": "write *", "/(/": "RE2", "deploy": "write a tool's name", "[": "close the bracket", "BASH": "did you mean",
	} {
		_, err := ParseAllowed(word)
		problem, isPattern := errors.AsType[*Error](err)
		if !isPattern || !strings.Contains(problem.Remedy, remedy) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

func TestSplitAllowed(t *testing.T) {
	for list, want := range map[string][]string{
		"bash": {"bash"}, "bash, write": {"bash", "write"}, "": {""}, "bash,": {"bash", ""},
		"mcp__{a,b}__*,bash": {"mcp__{a,b}__*", "bash"}, "/mcp__.{1,3}/,bash": {"/mcp__.{1,3}/", "bash"},
		"/a,b/": {"/a,b/"}, "}bash,write": {"}bash", "write"},
	} {
		if diff := cmp.Diff(want, SplitAllowed(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}
