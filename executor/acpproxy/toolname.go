package acpproxy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// shown is what an agent shows of a tool call, as far as it is known by now.
type shown struct {
	agent    string // whose names of tools it has, "" if that is not known
	name     string // of the tool, "" where the agent does not say it
	title    string
	kind     acp.ToolKind
	rawInput protocol.RawMessage
	diffs    []diff
	paths    []string

	others []shown // what the call may be about as well; see merge

	// unreadable reports whether something that was said of the call can be read in two ways.
	unreadable bool
}

// judgedOfTool are the members of what an agent says of a tool call by which it is judged.
var judgedOfTool = []string{"toolCallId", "name", "kind", "title", "status", "rawInput", "content", "locations", "_meta"}

// errUnreadable is why a call that was shown so cannot be judged.
var errUnreadable = errors.New("what the agent shows of the tool call can be read in two ways: a member is there twice, or in other letters, or its args are not valid UTF-8")

// diff is a change of a file that an agent shows.
type diff struct {
	path, before, after string
	isNew               bool
}

// mostOthers bounds what a call may be about as well.
const mostOthers = 8

// merge takes what an update says of the call: each member replaces what was said before. Where
// it shows something else and does not say the args again, the call may be about that as well: the
// agent, and the person who reads it, may go by either.
func (c *shown) merge(update protocol.RawMessage, vocabulary string) {
	if c.agent == "" {
		c.agent = vocabulary
	}
	var own shown
	own.read(update)
	if own.rawInput != nil {
		c.others = nil
	} else {
		c.others = append(c.others, own.besides(c)...)
	}
	if len(c.others) > mostOthers {
		c.others, c.unreadable = nil, true
	}
	c.read(update)
}

// besides returns what else than was shown before a call may be about, of which c is said now: the
// call as it was, if it gets another name or kind, and the call as c shows it by itself.
func (c *shown) besides(before *shown) (others []shown) {
	if before.rawInput == nil {
		return nil
	}
	as := *before
	as.others = nil
	if before.name != "" && c.name != "" && c.name != before.name || before.kind != "" && c.kind != "" && c.kind != before.kind {
		others = append(others, as)
	}
	if c.title != "" && c.title != before.title || c.diffs != nil && !slices.Equal(c.diffs, before.diffs) || c.paths != nil && !slices.Equal(c.paths, before.paths) {
		alone := *c
		alone.agent, alone.name, alone.kind = cmp.Or(c.agent, before.agent), cmp.Or(c.name, before.name), cmp.Or(c.kind, before.kind)
		others = append(others, alone)
	}
	return others
}

// read takes the members of an update.
func (c *shown) read(update protocol.RawMessage) {
	for _, m := range jsonspan.Members(update) {
		if isNothing(m.Value) {
			continue
		}
		switch m.Name {
		case "name":
			c.name = jsonspan.Text(m.Value)
		case "title":
			c.title = jsonspan.Text(m.Value)
		case "kind":
			c.kind = acp.ToolKind(jsonspan.Text(m.Value))
		case "rawInput":
			c.rawInput = slices.Clone(m.Value)
		case "content":
			c.diffs = diffsOf(m.Value)
		case "locations":
			c.paths = nil
			for _, location := range jsonspan.Elements(m.Value) {
				c.paths = append(c.paths, jsonspan.Text(jsonspan.Get(location, "path")))
			}
		case "_meta":
			if name := jsonspan.Text(jsonspan.Find(m.Value, "/claudeCode/toolName")); name != "" {
				c.agent, c.name = "claude", name
			}
		}
	}
}

func diffsOf(content protocol.RawMessage) (diffs []diff) {
	for _, item := range jsonspan.Elements(content) {
		if jsonspan.Text(jsonspan.Get(item, "type")) == "diff" {
			before := jsonspan.Text(jsonspan.Get(item, "oldText"))
			diffs = append(diffs, diff{
				path: jsonspan.Text(jsonspan.Get(item, "path")), before: before, after: jsonspan.Text(jsonspan.Get(item, "newText")),
				isNew: before == "",
			})
		}
	}
	return diffs
}

// kinds are our names and kinds for what an agent says of a tool that it does not name.
var kinds = map[acp.ToolKind]struct {
	name string
	kind protocol.ToolKind
}{
	acp.KindExecute: {"bash", protocol.KindShell}, acp.KindRead: {"read_file", protocol.KindRead}, acp.KindEdit: {"edit_file", protocol.KindWrite},
	"delete": {"delete", protocol.KindWrite}, "move": {"move", protocol.KindWrite}, acp.KindSearch: {"grep", protocol.KindRead},
	acp.KindFetch: {"web_fetch", protocol.KindNet}, acp.KindThink: {"think", protocol.KindOther}, "switch_mode": {"switch_mode", protocol.KindOther},
}

// call returns the call in our names. What the agent does not say as args is taken from what
// it shows: the title of a command, the files of a change.
func (c *shown) call(id string) (protocol.Call, error) {
	if c.unreadable {
		return protocol.Call{}, errUnreadable
	}
	raw := c.rawInput
	if raw != nil && jsonspan.Kind(raw) != '{' {
		raw = object(member{"input", raw})
	}
	agent, name := c.agent, c.name
	if name == "" { // Gemini's ids begin with the name
		for _, between := range []string{"__", "-"} {
			if before, _, is := strings.Cut(id, between); is && toolname.Has(agent, before) && c.maybe(before) {
				name = before
			}
		}
	}
	known, isKnown := kinds[c.kind]
	if name == "" {
		agent, name = "hookd", known.name
		switch {
		case c.kind == acp.KindExecute && jsonspan.Kind(jsonspan.Get(raw, "command")) == '[':
			agent, name = "codex", "shell"
		case c.kind == acp.KindEdit && len(c.diffs) == 1 && c.diffs[0].isNew, c.kind == acp.KindEdit && c.diffs == nil && jsonspan.Get(raw, "content") != nil:
			name = "write_file"
		case !isKnown:
			agent, name = "", "tool"
		}
	}
	ours, err := toolname.ToOurs(agent, name, raw)
	if err != nil {
		return protocol.Call{}, err
	}
	call := protocol.Call{ToolCallID: id, Name: ours.Name, Kind: ours.Kind, Server: ours.Server, Args: ours.Args, MayBe: ours.MayBe}
	if _, sure := toolname.Kind(call.Name); !sure && isKnown {
		call.Kind = known.kind
	}
	if ours.Name != c.name {
		call.HostTool = c.name
	}
	c.fill(&call, raw)
	return call, nil
}

// maybe reports whether the kind that the agent says lets a call be of the tool that its id
// begins with: a server of MCP with the name of a tool has its name there, too.
func (c *shown) maybe(name string) bool {
	ours, err := toolname.ToOurs(c.agent, name, nil)
	if err != nil {
		return false
	}
	kind, _ := toolname.Kind(ours.Name)
	switch c.kind {
	case "":
		return true
	case acp.KindExecute, acp.KindEdit, "delete", "move":
		return kind == kinds[c.kind].kind
	case acp.KindOther:
		return kind != protocol.KindShell && kind != protocol.KindRead && kind != protocol.KindWrite && kind != protocol.KindNet
	}
	return kind != protocol.KindShell && kind != protocol.KindWrite
}

// fill adds the args that the agent only shows.
func (c *shown) fill(call *protocol.Call, raw protocol.RawMessage) {
	args := jsonspan.ReadMemberList(call.Args)
	add := func(name, value string) {
		if args.Get(name) == nil && value != "" {
			args.Set(name, jsonspan.Quote(value))
		}
	}
	paths := slices.Clone(c.paths)
	for _, d := range c.diffs {
		if !slices.Contains(paths, d.path) {
			paths = append(paths, d.path)
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	switch call.Kind {
	case protocol.KindShell:
		add("command", strings.Trim(c.title, "`"))
	case protocol.KindRead, protocol.KindWrite:
		switch {
		case args.Get("path") != nil || args.Get("paths") != nil:
		case len(paths) == 1:
			add("path", paths[0])
		case len(paths) > 1:
			var all []protocol.RawMessage
			for _, path := range paths {
				all = append(all, jsonspan.Quote(path))
			}
			args.Set("paths", jsonspan.JoinList(all))
		}
		if len(c.diffs) == 1 && call.Name == "write_file" {
			add("content", c.diffs[0].after)
		}
		if len(c.diffs) == 1 && call.Name == "edit_file" && args.Get("edits") == nil {
			add("oldText", c.diffs[0].before)
			add("newText", c.diffs[0].after)
		}
	default:
		if raw == nil { // the title is all that is known of what it is to do
			add("title", c.title)
		}
	}
	call.Args = args.JSON()
}

// what names a call for a person.
func what(call *protocol.Call) string { return fmt.Sprintf("the call of %s", call.Name) }
