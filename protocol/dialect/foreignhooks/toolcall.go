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
	c := foreignCall{agent: a.agent.Name, id: of.Text("toolCallId"), name: of.Text("name"), kind: protocol.ToolKind(of.Text("kind")), ours: of.At("args")}
	if jsonspan.Kind(c.ours) != '{' {
		c.ours = protocol.RawMessage("{}")
	}
	shown := a.aboutOneFile(c.ours)
	if file := jsonspan.Get(shown, "path"); jsonspan.Kind(file) == '"' && (isFileTool(c.name) || a.file != "" || toolname.IsPatch(c.name)) {
		shown = object.Set(shown, "path", jsonspan.Quote(a.absolute(jsonspan.Text(file)))) // all agents give it in full
	}
	if c.name == "" {
		c.input = shown
		return c
	}
	if a.agent.patch != nil {
		if c.names, c.input = a.agent.patch(c.name, shown); c.input != nil {
			c.patch = true
			return c
		}
	}
	c.names = toolname.TheirNames(c.agent, c.name, c.kind)
	if host := of.Text("hostTool"); host != "" && !slices.Contains(c.names, host) {
		c.names = append(c.names, host)
	}
	if a.agent.claudeNames {
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
	c.asTheirs(shown)
	return c
}

// asTheirs writes the args as the agent does. A tool that the agent does not have is told
// by the name that it has here, but an edit or a patch as the agent's tool that changes
// files; what its args are called is told as of the agent's tool that is most like it.
func (c *foreignCall) asTheirs(shown protocol.RawMessage) {
	like := c.name
	c.as = c.names[0]
	if !toolname.Has(c.agent, c.as) {
		patch := toolname.IsPatch(c.name)
		switch {
		case patch && toolname.Has(c.agent, toolname.TheirNames(c.agent, "edit_file", "")[0]):
			like = "edit_file"
		case c.kind == protocol.KindWrite:
			like = "write_file"
		case c.kind == protocol.KindRead:
			like = "read_file"
		}
		if like != c.name {
			c.as = toolname.TheirNames(c.agent, like, "")[0]
			for _, file := range jsonspan.Elements(jsonspan.Get(shown, "paths")) {
				c.files = append(c.files, jsonspan.Text(file))
			}
		}
		if (patch || c.name == "edit_file") && toolname.Has(c.agent, c.as) {
			c.names = append([]string{c.as}, c.names...)
		}
		if c.patch = patch; patch {
			if text := jsonspan.Get(shown, "command"); text != nil { // which is another thing in the agent's tool
				list := jsonspan.ReadMemberList(shown)
				list.Remove("command")
				list.Set("patch", text)
				shown = list.JSON()
			}
		}
	}
	var err error
	if c.input, err = toolname.AsTheirs(c.agent, c.as, like, shown); err != nil {
		c.names, c.as, c.input = []string{c.name}, c.name, shown
	}
}

// aboutOneFile returns args that name several files as those of a call on the one that the
// hook is asked about, if it is asked about each.
func (a *Asking) aboutOneFile(args protocol.RawMessage) protocol.RawMessage {
	if a.file == "" {
		return args
	}
	list := jsonspan.ReadMemberList(args)
	list.Remove("paths")
	list.Set("path", jsonspan.Quote(a.file))
	return list.JSON()
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
	same, err := toolname.ToOurs(c.agent, c.as, c.input)
	if err != nil {
		return nil
	}
	changed, err := toolname.ToOurs(c.agent, c.as, theirs)
	if err != nil || changed.Name != same.Name || jsonspan.Get(c.ours, "paths") != nil {
		return nil // what it would be now is another call, or one on one file of several
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
