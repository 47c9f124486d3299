package foreignhooks

import (
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// readCall reads the call that the event is about, if it is about one.
func (a *Asking) readCall() {
	if spec := a.ev.Spec(); spec != nil && spec.Tool {
		a.call = a.foreignCall(&a.data)
	}
}

// foreignCall reads a call from an object that has its members.
func (a *Asking) foreignCall(of *object.Reader) foreignCall {
	c := foreignCall{agent: a.Agent.Name, id: of.Text("toolCallId"), name: of.Text("name"), kind: protocol.ToolKind(of.Text("kind")), ours: of.At("args")}
	if jsonspan.Kind(c.ours) != '{' {
		c.ours = protocol.RawMessage("{}")
	}
	shown := c.ours
	if file := jsonspan.Get(c.ours, "path"); jsonspan.Kind(file) == '"' && isFileTool(c.name) {
		shown = object.Set(c.ours, "path", jsonspan.Quote(a.absolute(jsonspan.Text(file)))) // all agents give it in full
	}
	if c.name == "" {
		c.input = shown
		return c
	}
	if a.Agent.patch != nil {
		if c.names, c.input = a.Agent.patch(c.name, shown); c.input != nil {
			c.patch = true
			return c
		}
	}
	c.names = toolname.TheirNames(c.agent, c.name)
	if a.Agent.claudeNames {
		claude := asClaude(a) && a.ev.Event != protocol.PermissionRequest
		slices.SortStableFunc(c.names, func(x, y string) int {
			switch {
			case isClaudeName(x) == isClaudeName(y):
				return 0
			case isClaudeName(x) == claude:
				return -1
			}
			return 1
		})
	}
	var err error
	if c.input, err = toolname.Back(c.agent, c.names[0], nil, shown); err != nil {
		c.names, c.input = []string{c.name}, shown
	}
	return c
}

// isFileTool reports whether a tool of ours is about one file.
func isFileTool(name string) bool {
	return name == "read_file" || name == "write_file" || name == "edit_file"
}

// back returns args in our form that a hook gave in the agent's. A value that the hook
// left as it was shown is the call's own, to the byte. It is nil where they cannot be
// brought into our form.
func (c *foreignCall) back(theirs protocol.RawMessage) protocol.RawMessage {
	if jsonspan.Equal(theirs, c.input) {
		return c.ours
	}
	if c.patch || len(c.names) == 0 {
		return nil
	}
	same, err := toolname.ToOurs(c.agent, c.names[0], c.input)
	if err != nil {
		return nil
	}
	changed, err := toolname.ToOurs(c.agent, c.names[0], theirs)
	if err != nil {
		return nil
	}
	ours := protocol.RawMessage("{}")
	for _, m := range jsonspan.Members(changed.Args) {
		value := m.Value
		if was := jsonspan.Get(same.Args, m.Name); was != nil && jsonspan.Equal(was, value) {
			if own := jsonspan.Get(c.ours, m.Name); own != nil {
				value = own
			}
		}
		ours = object.Set(ours, m.Name, value)
	}
	return ours
}

// merged returns args in our form of which a hook gave some in the agent's.
func (c *foreignCall) merged(theirs protocol.RawMessage) protocol.RawMessage {
	all := c.input
	for _, m := range jsonspan.Members(theirs) {
		all = object.Set(all, m.Name, m.Value)
	}
	return c.back(all)
}
