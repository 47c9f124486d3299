package toolname

import (
	"cmp"
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
	Server string // of an MCP server's tool, or whose resource is read; "" where the call does not say it
	Args   protocol.RawMessage

	// MayBe are the kinds that the tool may be of where its name proves none: Kind, which
	// is only likely, and those that its args could be for. Matchers take it for each.
	MayBe []protocol.ToolKind
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
	tool := toolOf(agent, name)
	if jsonspan.Kind(args) == '"' && tool != nil && IsPatch(name) {
		args = textAsArgs(args)
	}
	if jsonspan.Kind(args) != '{' {
		return Call{}, fmt.Errorf("the args of %s are %s where an object is expected", shown(name), jsonspan.KindName(args))
	}
	if is := ofServer(agent, name); is.tool {
		if is.sure {
			name = serverName(is.server, is.name)
		}
		call := Call{Name: name, Kind: protocol.KindMCP, Server: is.server, Args: args}
		if !is.proven {
			call.MayBe = mayBe(call.Kind, args)
		}
		return call, nil
	}
	kind, _ := Kind(name)
	call := Call{Name: name, Kind: kind, Args: args}
	if tool == nil {
		// What other agents call so proves nothing of this one.
		if hasTable(agent) && (len(kindsOf(name, "")) > 0 || namesBare(agent)) {
			call.MayBe = mayBe(kind, args)
		}
		return call, nil
	}
	var err error
	if call.Args, err = argsToOurs(tool.argsOf(agent), args); err != nil {
		return Call{}, fmt.Errorf("the args of %s: %w", shown(name), err)
	}
	if tool.Ours == "" && IsPatch(name) && !slices.ContainsFunc(tool.Args, func(a Arg) bool { return jsonspan.Get(args, a.Theirs) != nil }) {
		return Call{}, fmt.Errorf("the call of %s has no patch, and so hooks could not see what it changes", shown(name))
	}
	verbs := verbsOf(agent, name)
	if verbs == nil {
		call.Name = cmp.Or(tool.Ours, name)
		if call.Kind == protocol.KindMCP {
			call.Server = jsonspan.Text(jsonspan.Get(call.Args, "server"))
		}
		return call, nil
	}
	ours, said := verbs.ours(args)
	switch kind := jsonspan.Kind(jsonspan.Get(args, verbs.Member)); {
	case said && kind != '"', !said && tool.Ours == "":
		return Call{}, fmt.Errorf("the call of %s has no %s that is a text, and so hooks could not see what it does", shown(name), verbs.Member)
	case !said:
		ours = tool.Ours
	}
	if ours == "" {
		return call, nil // and of several kinds, if its verbs are
	}
	call.Name = ours
	call.Kind, _ = Kind(ours)
	if said {
		call.Args = without(call.Args, verbs.Member)
	}
	return call, nil
}

// textAsArgs are the args of a call that has a patch and nothing else.
func textAsArgs(text protocol.RawMessage) protocol.RawMessage {
	var out jsonspan.ObjectWriter
	out.Set([]byte(`"input"`), text)
	return out.Object()
}

// without returns an object without a member.
func without(object protocol.RawMessage, member string) protocol.RawMessage {
	list := jsonspan.ReadMemberList(object)
	list.Remove(member)
	return list.JSON()
}

// ToTheirs returns a call with hookd's names and forms as an agent writes it: as a call of
// the tool that does the same there. A tool that the agent has no match for keeps its
// name and args.
func ToTheirs(agent, name string, args protocol.RawMessage) (string, protocol.RawMessage, error) {
	if server, tool, is := cutServer(name); is {
		return theirServerName(agent, server, tool), args, nil
	}
	i := slices.IndexFunc(Vocabulary, func(t Tool) bool { return t.isOf(agent) && t.Ours == name })
	if i < 0 {
		i = slices.IndexFunc(Vocabulary, func(t Tool) bool { return t.isOf(agent) && t.canBe(agent, name) })
	}
	if i < 0 {
		return name, args, nil
	}
	theirs, err := AsTheirs(agent, Vocabulary[i].Name, name, args)
	return Vocabulary[i].Name, theirs, err
}

// canBe reports whether calls of an agent's tool can be calls of one of hookd's.
func (t *Tool) canBe(agent, ours string) bool {
	verbs := verbsOf(agent, t.Name)
	return t.Ours == ours || verbs != nil && verbs.word(ours) != ""
}

// AsTheirs returns the args of a call of one of hookd's tools as a call of an agent's tool
// has them, which is one of [TheirNames].
func AsTheirs(agent, theirs, ours string, args protocol.RawMessage) (protocol.RawMessage, error) {
	tool := toolOf(agent, theirs)
	if tool == nil {
		return args, nil
	}
	own := tool.argsOf(agent)
	out, err := argsBack(own, nil, args)
	if err == nil && IsPatch(theirs) {
		out = asPatch(own, out)
	}
	if verbs := verbsOf(agent, theirs); err == nil && verbs != nil && jsonspan.Get(out, verbs.Member) == nil {
		if word := verbs.word(ours); word != "" {
			out = withMember(out, 0, verbs.Member, jsonspan.Quote(word))
		}
	}
	return out, err
}

// TheirNames are all names by which an agent calls the tool that does what one of ours
// does, the one that [ToTheirs] writes first. A tool that the agent has no match for keeps
// its name; then the agent's tools of the same kind come after it, for what matchers mean
// that list the agent's own. kind is the tool's own where the event tells it.
func TheirNames(agent, name string, kind protocol.ToolKind) []string {
	if server, tool, is := cutServer(name); is {
		names := []string{}
		for _, form := range ServerNames {
			if form.isOf(agent) {
				names = append(names, form.spell(server, tool))
			}
		}
		return append(names, name)
	}
	var names, several, alike []string
	kinds, known := kindsOf(name, kind), knownTools()[name]
	for i := range Vocabulary {
		t := &Vocabulary[i]
		switch {
		case !t.isOf(agent):
		case t.Name == name || t.Ours == name:
			names = append(names, t.Name)
		case t.canBe(agent, name):
			several = append(several, t.Name)
		case t.Kind != protocol.KindOther && t.Kind != protocol.KindMCP && common(knownTools()[t.Name].kinds, kinds):
			alike = append(alike, t.Name)
		}
	}
	switch names = append(names, several...); {
	case names == nil:
		return append([]string{name}, alike...)
	case known != nil && (known.patch || len(known.does) > 1): // it may be any of them
		return append(names, alike...)
	}
	return names
}

func theirServerName(agent, server, tool string) string {
	for _, form := range ServerNames {
		if form.isOf(agent) {
			return form.spell(server, tool)
		}
	}
	return serverName(server, tool)
}

// asPatch gives the patch in a call's args the agent's own name, and leaves out what the
// patch says itself.
func asPatch(own []Arg, args protocol.RawMessage) protocol.RawMessage {
	member, _ := filesMember(filesNamed(own, args))
	list := jsonspan.ReadMemberList(args)
	list.Remove(member)
	first := own[slices.IndexFunc(own, func(a Arg) bool { return a.Form == Patch })].Theirs
	for _, a := range own {
		if text := list.Get(a.Theirs); a.Form == Patch && text != nil && list.Get(first) == nil {
			list.Remove(a.Theirs)
			list.Set(first, text)
		}
	}
	return list.JSON()
}

// Back returns args with hookd's names and forms, which hooks changed, as the agent's own
// call has them: name and was are that call. Of several names that stand for one of ours
// it is the one that the call came with, and what did not change keeps its bytes.
func Back(agent, name string, was, args protocol.RawMessage) (protocol.RawMessage, error) {
	tool := toolOf(agent, name)
	if tool == nil {
		return args, nil
	}
	if jsonspan.Kind(was) == '"' && IsPatch(name) {
		out, err := argsBack(tool.argsOf(agent), textAsArgs(was), args)
		return jsonspan.Get(out, "input"), err
	}
	out, err := argsBack(tool.argsOf(agent), was, args)
	verbs := verbsOf(agent, name)
	if err != nil || verbs == nil {
		return out, err
	}
	if _, said := verbs.ours(was); !said {
		return out, nil
	}
	word := jsonspan.Get(was, verbs.Member)
	switch now := jsonspan.Get(out, verbs.Member); {
	case now == nil:
		at := slices.IndexFunc(jsonspan.Members(was), func(m jsonspan.Member) bool { return m.Name == verbs.Member })
		return withMember(out, at, verbs.Member, word), nil
	case !jsonspan.Equal(now, word):
		return nil, fmt.Errorf("%s says what the call of %s is, and cannot be changed", verbs.Member, shown(name))
	}
	return out, nil
}

// withMember returns an object with one more member, at a place among the others.
func withMember(object protocol.RawMessage, at int, name string, value protocol.RawMessage) protocol.RawMessage {
	out := newMembers()
	for i, m := range jsonspan.Members(object) {
		if i == at {
			out.object.Set(jsonspan.Quote(name), value)
		}
		out.object.Set(jsonspan.Quote(m.Name), m.Value)
	}
	if at >= len(jsonspan.Members(object)) {
		out.object.Set(jsonspan.Quote(name), value)
	}
	return out.object.Object()
}

// Has reports whether the table has a tool of that name for an agent.
func Has(agent, name string) bool { return toolOf(agent, name) != nil }

// IsPatch reports whether a tool takes a patch, which both writes and edits files.
func IsPatch(name string) bool {
	known := knownTools()[name]
	return known != nil && known.patch
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
	files := filesNamed(args, theirs)
	if len(files) == 0 {
		return out.object.Object(), nil
	}
	member, value := filesMember(files)
	for _, name := range []string{"path", "paths"} {
		switch given := jsonspan.Get(out.object.Object(), name); {
		case given == nil:
		case name == member && jsonspan.Equal(given, value):
			return out.object.Object(), nil
		default:
			return nil, fmt.Errorf("%s is given besides the files that the call itself names, and so hooks could not see which are meant", name)
		}
	}
	if err := out.add(member, value); err != nil {
		return nil, err
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
	derived, files := filesMember(filesNamed(args, was))
	if jsonspan.Get(was, derived) != nil {
		derived = "" // it is the agent's own
	}
	for _, m := range jsonspan.Members(ours) {
		if m.Name == derived && derived != "" {
			if !jsonspan.Equal(m.Value, files) {
				return nil, fmt.Errorf("%s is what the call names elsewhere, and changes with it only", derived)
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
