package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/toolname"
)

// toolForm is how agents write the calls of one tool that hookd's loop has too. A
// member of the args that is not listed has the same name, or no match, and is kept.
type toolForm struct {
	agents string // that call it so
	name   string // there
	ours   string
	args   [][2]string // their name of a member, and ours
}

// toolForms is the table. Where a member has the same name and another unit, ours says
// the unit, so that no hook takes one for the other.
var toolForms = []toolForm{
	{"claude codex copilot", "Bash", "bash", [][2]string{{"timeout", "timeoutMs"}}},
	{"copilot crush", "bash", "bash", nil},
	{"cursor", "Shell", "bash", [][2]string{{"timeout", "timeoutMs"}, {"working_directory", "dir"}}},
	{"factory", "Execute", "bash", nil},
	{"openhands hermes", "terminal", "bash", nil},
	{"kiro openhands", "execute_bash", "bash", nil},
	{"kodelet", "bash", "bash", nil},
	{"kodelet", "file_read", "read_file", [][2]string{{"file_path", "path"}}},
	{"kodelet", "file_write", "write_file", [][2]string{{"file_path", "path"}, {"text", "content"}}},
	{"kodelet", "file_edit", "edit_file", [][2]string{{"file_path", "path"}, {"old_text", "oldText"}, {"new_text", "newText"}, {"replace_all", "replaceAll"}}},
	{"goose", "shell", "bash", nil},
	{"goose", "developer__shell", "bash", nil},
	{"cline", "execute_command", "bash", nil},
	{"cline", "run_commands", "bash", nil},
	{"gemini qwen", "run_shell_command", "bash", [][2]string{{"timeout", "timeoutMs"}, {"dir_path", "dir"}, {"directory", "dir"}}},

	{"claude copilot cursor factory", "Read", "read_file", [][2]string{{"file_path", "path"}}},
	{"crush", "view", "read_file", [][2]string{{"file_path", "path"}}},
	{"cline hermes", "read_file", "read_file", nil},
	{"gemini qwen", "read_file", "read_file", [][2]string{{"file_path", "path"}, {"absolute_path", "path"}}},
	{"copilot", "view", "read_file", [][2]string{{"file_path", "path"}}},

	{"claude copilot cursor", "Write", "write_file", [][2]string{{"file_path", "path"}, {"contents", "content"}}},
	{"factory", "Create", "write_file", [][2]string{{"file_path", "path"}}},
	{"crush", "write", "write_file", [][2]string{{"file_path", "path"}}},
	{"cline", "write_to_file", "write_file", nil},
	{"hermes", "write_file", "write_file", nil},
	{"gemini qwen", "write_file", "write_file", [][2]string{{"file_path", "path"}}},
	{"copilot", "create", "write_file", [][2]string{{"file_path", "path"}, {"file_text", "content"}}},

	{"factory", "Edit", "edit_file", [][2]string{{"file_path", "path"}, {"old_str", "oldText"}, {"new_str", "newText"}, {"old_string", "oldText"}, {"new_string", "newText"}, {"change_all", "replaceAll"}}},
	{"crush", "edit", "edit_file", [][2]string{{"file_path", "path"}, {"old_string", "oldText"}, {"new_string", "newText"}, {"replace_all", "replaceAll"}}},
	{"claude copilot", "Edit", "edit_file", [][2]string{{"file_path", "path"}, {"old_string", "oldText"}, {"new_string", "newText"}, {"replace_all", "replaceAll"}}},
	{"gemini", "replace", "edit_file", [][2]string{{"file_path", "path"}, {"old_string", "oldText"}, {"new_string", "newText"}, {"allow_multiple", "replaceAll"}}},
	{"qwen", "edit", "edit_file", [][2]string{{"file_path", "path"}, {"old_string", "oldText"}, {"new_string", "newText"}, {"replace_all", "replaceAll"}}},
	{"copilot", "edit", "edit_file", [][2]string{{"file_path", "path"}, {"old_str", "oldText"}, {"new_str", "newText"}}},

	{"claude copilot", "LS", "list_dir", nil},
	{"gemini qwen", "list_directory", "list_dir", [][2]string{{"dir_path", "path"}}},
	{"claude copilot", "Grep", "grep", nil},
	{"copilot", "grep", "grep", nil},
	{"copilot", "rg", "grep", nil},
	{"gemini qwen", "grep_search", "grep", [][2]string{{"dir_path", "path"}, {"include_pattern", "glob"}}},
	{"gemini", "search_file_content", "grep", [][2]string{{"dir_path", "path"}, {"include", "glob"}}},

	{"claude copilot", "Agent", "spawn_subagent", nil},
	{"claude copilot", "Task", "spawn_subagent", nil},
	{"copilot", "task", "spawn_subagent", nil},
}

// toolCall reads a call: name and args as the agent has them.
func (a *Agent) toolCall(id, name string, args protocol.RawMessage) (protocol.Call, *toolForm, error) {
	if name == "" {
		return protocol.Call{}, nil, errors.New("the call names no tool")
	}
	if args == nil || jsonspan.IsNull(args) {
		args = protocol.RawMessage("{}")
	}
	if jsonspan.Kind(args) != '{' {
		return protocol.Call{}, nil, fmt.Errorf("the args of %s are %s where an object is expected", name, jsonspan.KindName(args))
	}
	kind, _ := toolname.Kind(name)
	call := protocol.Call{ToolCallID: id, Name: name, Kind: kind, Args: args}
	if parts := strings.SplitN(name, "__", 3); len(parts) == 3 && parts[0] == "mcp" {
		call.Server = parts[1]
	}
	form := a.toolForm(name)
	if form == nil {
		return call, nil, nil
	}
	call.Name = form.ours
	ours, err := renamed(args, form.args, 0, 1)
	if err != nil {
		return protocol.Call{}, nil, fmt.Errorf("the args of %s: %w", name, err)
	}
	call.Args = ours
	return call, form, nil
}

func (a *Agent) toolForm(name string) *toolForm {
	i := slices.IndexFunc(toolForms, func(f toolForm) bool {
		return f.name == name && slices.Contains(strings.Fields(f.agents), a.Name)
	})
	if i < 0 {
		return nil
	}
	return &toolForms[i]
}

// renamed returns an object with other names of its members, which keep their order and
// bytes.
func renamed(object protocol.RawMessage, names [][2]string, from, to int) (protocol.RawMessage, error) {
	if len(names) == 0 {
		return object, nil
	}
	out := protocol.RawMessage("{")
	seen := map[string]bool{}
	for i, m := range jsonspan.Members(object) {
		name := m.Name
		if at := slices.IndexFunc(names, func(n [2]string) bool { return n[from] == name }); at >= 0 {
			name = names[at][to]
		}
		if seen[name] {
			return nil, fmt.Errorf("%s is given twice, by two names", name)
		}
		seen[name] = true
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonspan.AppendQuote(out, name), ':')
		out = append(out, m.Value...)
	}
	return append(out, '}'), nil
}

// changed writes a member of the data that hooks changed in the agent's form.
func (c *Call) changed(member string, before, after protocol.RawMessage) (protocol.RawMessage, error) {
	switch member {
	case "args":
		return c.theirArgs(after)
	case "prompt", "response", "instructions":
		if after == nil || jsonspan.Kind(after) != '"' {
			return nil, errors.New("it is no text")
		}
		return after, nil
	case "result":
		text := contentText(jsonspan.Get(after, "content"))
		return jsonspan.Quote(text), nil
	}
	return nil, fmt.Errorf("%s takes no change of it", c.Agent.Title)
}

// theirArgs are changed args with the agent's own names: the very ones that the call
// came with, where several stand for one of ours.
func (c *Call) theirArgs(args protocol.RawMessage) (protocol.RawMessage, error) {
	theirs, err := c.renamedBack(args)
	if err != nil || !c.Agent.mergesArgs {
		return theirs, err
	}
	for _, m := range jsonspan.Members(c.args) {
		if jsonspan.Get(theirs, m.Name) == nil {
			return nil, fmt.Errorf("%s cannot take %s away from the args", c.Agent.Title, m.Name)
		}
	}
	return theirs, nil
}

func (c *Call) renamedBack(args protocol.RawMessage) (protocol.RawMessage, error) {
	if c.tool == nil {
		return args, nil
	}
	names := make([][2]string, 0, len(c.tool.args))
	for _, n := range c.tool.args {
		if jsonspan.Get(c.args, n[0]) != nil {
			names = append(names, n)
		}
	}
	for _, n := range c.tool.args {
		if !slices.ContainsFunc(names, func(have [2]string) bool { return have[1] == n[1] }) {
			names = append(names, n)
		}
	}
	return renamed(args, names, 1, 0)
}
