package toolname

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Call is what agents write differently about the call of a tool.
type Call struct {
	Name   string
	Kind   protocol.ToolKind
	Server string // of an MCP server's tool, "" where the name does not say it
	Args   protocol.RawMessage
}

// ToOurs returns an agent's call with hookd's names and forms: the list that Codex's
// shell takes becomes the command of bash. A tool that the vocabulary does not have for
// this agent keeps its name and args. It fails where a member stands there twice, by two
// names, or has a form that hides from hooks what is called.
func ToOurs(agent, name string, args protocol.RawMessage) (Call, error) {
	if name == "" {
		return Call{}, errors.New("the call names no tool")
	}
	if len(args) == 0 || jsonspan.IsNull(args) {
		args = protocol.RawMessage("{}")
	}
	if jsonspan.Kind(args) != '{' {
		return Call{}, fmt.Errorf("the args of %s are %s where an object is expected", shown(name), jsonspan.KindName(args))
	}
	if server, tool, is, sure := ofServer(agent, name); sure {
		return Call{serverName(server, tool), protocol.KindMCP, server, args}, nil
	} else if is {
		return Call{name, protocol.KindMCP, "", args}, nil
	}
	kind, _ := Kind(name)
	call := Call{Name: name, Kind: kind, Args: args}
	tool := toolOf(agent, name)
	if tool == nil {
		return call, nil
	}
	if tool.Ours != "" {
		call.Name = tool.Ours
	}
	var err error
	if call.Args, err = argsToOurs(tool.argsOf(agent), args); err != nil {
		return Call{}, fmt.Errorf("the args of %s: %w", shown(name), err)
	}
	return call, nil
}

// ToTheirs returns a call with hookd's names and forms as an agent writes it: as a call of
// the tool that does the same there. A tool that the agent has no match for keeps its
// name and args.
func ToTheirs(agent, name string, args protocol.RawMessage) (string, protocol.RawMessage, error) {
	if server, tool, is := cutServer(name); is {
		return theirServerName(agent, server, tool), args, nil
	}
	i := slices.IndexFunc(Vocabulary, func(t Tool) bool { return t.Ours == name && t.isOf(agent) })
	if i < 0 {
		return name, args, nil
	}
	theirs, err := argsBack(Vocabulary[i].argsOf(agent), nil, args)
	return Vocabulary[i].Name, theirs, err
}

// TheirNames are all names by which an agent calls the tool that does what one of ours
// does, the one that [ToTheirs] writes first. A tool that the agent has no match for keeps
// its name; then the agent's tools of the same kind come after it, for what matchers mean
// that list the agent's own.
func TheirNames(agent, name string) []string {
	if server, tool, is := cutServer(name); is {
		names := []string{}
		for _, form := range ServerNames {
			if slices.Contains(strings.Fields(form.Of), agent) {
				names = append(names, form.spell(server, tool))
			}
		}
		return append(names, name)
	}
	var names, alike []string
	kind, _ := Kind(name)
	for i := range Vocabulary {
		t := &Vocabulary[i]
		switch {
		case !t.isOf(agent):
		case t.Name == name || t.Ours == name:
			names = append(names, t.Name)
		case t.Kind == kind && kind != protocol.KindOther:
			alike = append(alike, t.Name)
		}
	}
	if names == nil {
		return append([]string{name}, alike...)
	}
	return names
}

func theirServerName(agent, server, tool string) string {
	for _, form := range ServerNames {
		if slices.Contains(strings.Fields(form.Of), agent) {
			return form.spell(server, tool)
		}
	}
	return serverName(server, tool)
}

// Back returns args with hookd's names and forms, which hooks changed, as the agent's own
// call has them: name and was are that call. Of several names that stand for one of ours
// it is the one that the call came with, and what did not change keeps its bytes.
func Back(agent, name string, was, args protocol.RawMessage) (protocol.RawMessage, error) {
	tool := toolOf(agent, name)
	if tool == nil {
		return args, nil
	}
	return argsBack(tool.argsOf(agent), was, args)
}

func toolOf(agent, name string) *Tool {
	if t := knownTools()[name]; t != nil && t.isOf(agent) {
		return &t.Tool
	}
	return nil
}

func (t *Tool) isOf(agent string) bool { return slices.Contains(strings.Fields(t.Of), agent) }

// argsOf are the args that an agent writes in its own way.
func (t *Tool) argsOf(agent string) []Arg {
	return slices.DeleteFunc(slices.Clone(t.Args), func(a Arg) bool {
		return a.Of != "" && !slices.Contains(strings.Fields(a.Of), agent)
	})
}

// argsToOurs gives the members of args our names and forms. They keep their order, and
// their bytes where the form is the same.
func argsToOurs(args []Arg, theirs protocol.RawMessage) (protocol.RawMessage, error) {
	if len(args) == 0 {
		return theirs, nil
	}
	out := newMembers()
	for _, m := range jsonspan.Members(theirs) {
		name, value := m.Name, m.Value
		if i := slices.IndexFunc(args, func(a Arg) bool { return a.Theirs == m.Name }); i >= 0 {
			var err error
			if value, err = args[i].Form.toOurs(m.Value); err != nil {
				return nil, fmt.Errorf("%s: %w", shown(m.Name), err)
			}
			name = args[i].Ours
		}
		if err := out.add(name, value); err != nil {
			return nil, err
		}
	}
	if path := pathOfPatch(args, theirs); path != nil {
		if err := out.add("path", path); err != nil {
			return nil, err
		}
	}
	return out.object.Object(), nil
}

// members is an object of which each member may be given once.
type members struct {
	object jsonspan.ObjectWriter
	seen   map[string]bool
}

func newMembers() *members { return &members{seen: map[string]bool{}} }

func (m *members) add(name string, value protocol.RawMessage) error {
	if m.seen[name] {
		return fmt.Errorf("%s is given twice, by two names", shown(name))
	}
	m.seen[name] = true
	m.object.Set(jsonspan.Quote(name), value)
	return nil
}

// argsBack gives the members of our args the agent's names and forms. was is the args of
// the agent's own call, nil if there is none.
func argsBack(args []Arg, was, ours protocol.RawMessage) (protocol.RawMessage, error) {
	if len(args) == 0 {
		return ours, nil
	}
	if jsonspan.Kind(ours) != '{' {
		return nil, fmt.Errorf("the args are %s where an object is expected", jsonspan.KindName(ours))
	}
	out := newMembers()
	ofPatch := pathOfPatch(args, was)
	for _, m := range jsonspan.Members(ours) {
		if m.Name == "path" && ofPatch != nil {
			if !jsonspan.Equal(m.Value, ofPatch) {
				return nil, errors.New("the path is that of the patch, and changes with it only")
			}
			continue
		}
		arg := argBack(args, was, m.Name)
		before := jsonspan.Get(was, arg.Theirs)
		value, err := arg.Form.back(before, m.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shown(m.Name), err)
		}
		if err := out.add(arg.Theirs, value); err != nil {
			return nil, err
		}
	}
	return out.object.Object(), nil
}

// argBack is how a member of our args is written there.
func argBack(args []Arg, was protocol.RawMessage, name string) Arg {
	first := Arg{Theirs: name, Ours: name}
	found := false
	for _, a := range args {
		switch {
		case a.Ours != name:
		case jsonspan.Get(was, a.Theirs) != nil:
			return a
		case !found:
			first, found = a, true
		}
	}
	if jsonspan.Get(was, name) != nil && !slices.ContainsFunc(args, func(a Arg) bool { return a.Theirs == name }) {
		return Arg{Theirs: name, Ours: name} // it came with our name
	}
	return first
}
