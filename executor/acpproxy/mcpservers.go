package acpproxy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Server is an MCP server that a client hands to an agent.
type Server struct {
	Name    string
	Project string   // root of the project whose hooks count, "" for that of its working directory
	Folders []string // of the session, as [Options.Open] gets them

	Command string // of a program
	Args    []string

	URL     string   // of one that is reached by an address
	Headers []string // NAME: VALUE
}

// guardServers returns a request with its MCP servers under guard: those that are programs
// start through hookd mcp. Of the others the person is told. of says whose they are.
func (o *Options) guardServers(m *relay.Message, p *params, of Server) ([]byte, error) {
	raw := p.raw
	if list := p.get("mcpServers"); !isNothing(list) {
		if jsonspan.Kind(list) != '[' {
			return nil, errors.New("mcpServers is " + jsonspan.KindName(list) + ", not a list")
		}
		servers, err := eachElement(list, func(server protocol.RawMessage) (protocol.RawMessage, error) { return o.guardServer(server, of) })
		if err != nil {
			return nil, err
		}
		if string(servers) != string(list) {
			raw = relay.Replace(raw, "mcpServers", servers)
		}
	}
	if meta := p.get("_meta"); !isNothing(meta) {
		guarded, err := o.guardMeta(meta, of, 0)
		if err != nil {
			return nil, fmt.Errorf("in _meta: %w", err)
		}
		if string(guarded) != string(meta) {
			raw = relay.Replace(raw, "_meta", guarded)
		}
		o.noteOptions(meta)
	}
	if string(raw) == string(p.raw) {
		return p.line(m), nil
	}
	return m.With("params", raw), nil
}

// guardServer returns an MCP server that starts through hookd mcp. of says whose it is.
func (o *Options) guardServer(server protocol.RawMessage, of Server) (protocol.RawMessage, error) {
	if jsonspan.Kind(server) != '{' {
		return nil, errors.New("mcpServers has " + jsonspan.KindName(server) + " where a server is expected")
	}
	if err := unambiguous(server, []string{"type", "name", "command", "args", "env", "url", "headers"}); err != nil {
		return nil, err
	}
	name, command := jsonspan.Text(jsonspan.Get(server, "name")), jsonspan.Get(server, "command")
	if !isNothing(command) && jsonspan.Kind(command) != '"' {
		return nil, errors.New("the command of an MCP server is " + jsonspan.KindName(command) + ", not a text")
	}
	if !isNothing(command) && !isNothing(jsonspan.Get(server, "url")) {
		return nil, fmt.Errorf("the MCP server %q has a command and a url: agents differ in which they take", name)
	}
	if isNothing(command) { // of whatever type it says it is: some agents go by the command
		how := jsonspan.Text(jsonspan.Get(server, "type"))
		switch address := jsonspan.Text(jsonspan.Get(server, "url")); {
		case strings.HasPrefix(address, "acp:"): // a member of a proxy chain serves it, over the chain
			how = "acp"
		case (how == "http" || how == "sse") && strings.TrimSpace(name) != "":
			of.Name = name
			return o.guardWeb(server, of)
		}
		if how == "" {
			how = "no command"
		}
		o.note(fmt.Sprintf("the MCP server %q (%s) is not guarded: hookd guards servers that are programs, and those of the types http and sse", name, how))
		return server, nil
	}
	if strings.TrimSpace(name) == "" {
		return nil, errors.New("an MCP server has no name")
	}
	args, err := argsOf(server)
	if err != nil {
		return nil, err
	}
	if server, err = withOwnVariables(server); err != nil {
		return nil, err
	}
	of.Name, of.Command, of.Args = name, jsonspan.Text(command), args
	return started(server, o.Server(of)), nil
}

// started returns a server that a command line starts.
func started(server protocol.RawMessage, line []string) protocol.RawMessage {
	args := []protocol.RawMessage{}
	for _, word := range line[1:] {
		args = append(args, jsonspan.Quote(word))
	}
	return relay.Replace(relay.Replace(server, "command", jsonspan.Quote(line[0])), "args", jsonspan.JoinList(args))
}

// guardWeb returns an MCP server that is reached by an address as a program that reaches it
// under guard. The address and the headers, which may hold keys, are variables that only the server
// has: a command line is for everybody to see, and hooks need neither.
func (o *Options) guardWeb(server protocol.RawMessage, of Server) (protocol.RawMessage, error) {
	address, headers := jsonspan.Get(server, "url"), jsonspan.Get(server, "headers")
	if jsonspan.Kind(address) != '"' {
		return nil, fmt.Errorf("the url of the MCP server %q is no text", of.Name)
	}
	if !isNothing(headers) && jsonspan.Kind(headers) != '[' {
		return nil, errors.New("the headers of an MCP server are " + jsonspan.KindName(headers) + ", not a list")
	}
	const address0, header0 = "MCP_SERVER_URL", "MCP_SERVER_HEADER_"
	env := []protocol.RawMessage{object(texts("name", proxied.ServerVariable+address0), member{"value", address})}
	of.URL = "${" + address0 + "}"
	for i, header := range jsonspan.Elements(headers) {
		name, value := jsonspan.Get(header, "name"), jsonspan.Get(header, "value")
		if err := unambiguous(header, []string{"name", "value"}); err != nil {
			return nil, err
		}
		if jsonspan.Kind(name) != '"' || jsonspan.Kind(value) != '"' {
			return nil, fmt.Errorf("the MCP server %q has a header without a name or a value", of.Name)
		}
		if strings.ContainsAny(jsonspan.Text(name), "{}: \t\r\n") { // hookd mcp would put in variables
			return nil, fmt.Errorf("the MCP server %q has the header %s, whose name is none", of.Name, name)
		}
		variable := header0 + strconv.Itoa(i+1)
		env = append(env, object(texts("name", proxied.ServerVariable+variable), member{"value", value}))
		of.Headers = append(of.Headers, jsonspan.Text(name)+": ${"+variable+"}")
	}
	server = started(jsonspan.Without(server, "type", "url", "headers", "args", "env", "command"), o.Server(of))
	return relay.Replace(server, "env", jsonspan.JoinList(env)), nil
}

// argsOf returns the args of a server.
func argsOf(server protocol.RawMessage) (args []string, err error) {
	list := jsonspan.Get(server, "args")
	if !isNothing(list) && jsonspan.Kind(list) != '[' {
		return nil, errors.New("the args of an MCP server are " + jsonspan.KindName(list) + ", not a list")
	}
	for _, arg := range jsonspan.Elements(list) {
		if jsonspan.Kind(arg) != '"' {
			return nil, errors.New("the args of an MCP server have " + jsonspan.KindName(arg) + " where a text is expected")
		}
		args = append(args, jsonspan.Text(arg))
	}
	return args, nil
}

// withOwnVariables returns a server whose variables hookd mcp in front of it hands on to it
// ([proxied.ServerVariable]): under their own names they would be those of hookd and of its
// hooks, and could change where these find programs, settings and keys. One that has the prefix
// already comes from a guard in front of this one.
func withOwnVariables(server protocol.RawMessage) (protocol.RawMessage, error) {
	env := jsonspan.Get(server, "env")
	if isNothing(env) {
		return server, nil
	}
	if jsonspan.Kind(env) != '[' {
		return nil, errors.New("the env of an MCP server is " + jsonspan.KindName(env) + ", not a list")
	}
	variables := jsonspan.Elements(env)
	for i, variable := range variables {
		if jsonspan.Kind(variable) != '{' {
			return nil, errors.New("the env of an MCP server has " + jsonspan.KindName(variable) + " where an object is expected")
		}
		if err := unambiguous(variable, []string{"name", "value"}); err != nil {
			return nil, err
		}
		written, value := jsonspan.Get(variable, "name"), jsonspan.Get(variable, "value")
		name := jsonspan.Text(written)
		if jsonspan.Kind(written) != '"' || name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(jsonspan.Text(value), "\x00") {
			return nil, fmt.Errorf("the MCP server %q has the variable %.100s, which no environment can hold: a name is a text without =, and neither it nor the value has a NUL",
				jsonspan.Text(jsonspan.Get(server, "name")), jsonspan.Quote(name))
		}
		if !strings.HasPrefix(name, proxied.ServerVariable) {
			variables[i] = relay.Replace(variable, "name", jsonspan.Quote(proxied.ServerVariable+name))
		}
	}
	return relay.Replace(server, "env", jsonspan.JoinList(variables)), nil
}

// Agents take more from the _meta of a request that opens a session. Claude's takes nearly all
// options of its SDK (_meta.claudeCode.options): MCP servers, also those of its sub-agents, and what
// makes it ask less.

// mostDepth bounds how deep servers are looked for.
const mostDepth = 16

// guardMeta returns a part of _meta with the MCP servers in it under guard, wherever they stand.
func (o *Options) guardMeta(value protocol.RawMessage, of Server, depth int) (protocol.RawMessage, error) {
	if depth > mostDepth {
		return value, nil
	}
	if jsonspan.Kind(value) == '[' {
		return eachElement(value, func(e protocol.RawMessage) (protocol.RawMessage, error) { return o.guardMeta(e, of, depth+1) })
	}
	return eachMember(value, func(m jsonspan.Member) (protocol.RawMessage, error) {
		if strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(m.Name), "mcpServers") {
			return o.guardConfigs(m.Value, of)
		}
		return o.guardMeta(m.Value, of, depth+1)
	})
}

// eachElement returns a list with other elements, and the same bytes where these are the same.
func eachElement(list protocol.RawMessage, to func(protocol.RawMessage) (protocol.RawMessage, error)) (protocol.RawMessage, error) {
	elements, changed := jsonspan.Elements(list), false
	for i, was := range elements {
		element, err := to(was)
		if err != nil {
			return nil, err
		}
		changed = changed || string(element) != string(was)
		elements[i] = element
	}
	if !changed {
		return list, nil
	}
	return jsonspan.JoinList(elements), nil
}

// eachMember returns an object with other values of its members. What is no object stays as it is.
func eachMember(object protocol.RawMessage, to func(jsonspan.Member) (protocol.RawMessage, error)) (protocol.RawMessage, error) {
	if jsonspan.Kind(object) != '{' {
		return object, nil
	}
	for _, m := range jsonspan.Members(object) {
		value, err := to(m)
		if err != nil {
			return nil, err
		}
		if string(value) != string(m.Value) {
			object = relay.Replace(object, m.Name, value)
		}
	}
	return object, nil
}

// guardConfigs returns MCP servers under guard: an object of them by their names, or a list of such
// objects, of servers with a name, and of names of servers that stand elsewhere.
func (o *Options) guardConfigs(value protocol.RawMessage, of Server) (protocol.RawMessage, error) {
	byName := func(object protocol.RawMessage) (protocol.RawMessage, error) {
		return eachMember(object, func(m jsonspan.Member) (protocol.RawMessage, error) { return o.guardConfig(m.Name, m.Value, of) })
	}
	switch {
	case isNothing(value):
		return value, nil
	case jsonspan.Kind(value) == '{':
		return byName(value)
	case jsonspan.Kind(value) != '[':
		return nil, errors.New("mcpServers is " + jsonspan.KindName(value) + ", neither an object nor a list")
	}
	return eachElement(value, func(e protocol.RawMessage) (protocol.RawMessage, error) {
		if jsonspan.Get(e, "command") != nil || jsonspan.Get(e, "url") != nil {
			return o.guardConfig("", e, of)
		}
		return byName(e)
	})
}

// guardConfig returns an MCP server under guard that has its name elsewhere, "" if it has it itself,
// and whose variables and headers may be objects.
func (o *Options) guardConfig(name string, server protocol.RawMessage, of Server) (protocol.RawMessage, error) {
	if jsonspan.Kind(server) != '{' {
		return nil, fmt.Errorf("the MCP server %q is %s", name, jsonspan.KindName(server))
	}
	env, headers := jsonspan.Get(server, "env"), jsonspan.Get(server, "headers")
	asObjects := jsonspan.Kind(env) == '{' || jsonspan.Kind(headers) == '{' || name != "" && isNothing(env) && isNothing(headers)
	as := server
	if name != "" {
		as = relay.Replace(as, "name", jsonspan.Quote(name))
	}
	for _, member := range []string{"env", "headers"} {
		if pairs := jsonspan.Get(as, member); jsonspan.Kind(pairs) == '{' {
			as = relay.Replace(as, member, pairsList(pairs))
		}
	}
	guarded, err := o.guardServer(as, of)
	if err != nil {
		return nil, err
	}
	if string(guarded) == string(as) { // it is not guarded
		return server, nil
	}
	if list := jsonspan.Get(guarded, "env"); asObjects && jsonspan.Kind(list) == '[' {
		guarded = relay.Replace(guarded, "env", pairsObject(list))
	}
	if name != "" && jsonspan.Get(server, "name") == nil {
		guarded = jsonspan.Without(guarded, "name")
	}
	return guarded, nil
}

func pairsList(pairs protocol.RawMessage) protocol.RawMessage {
	list := []protocol.RawMessage{}
	for _, m := range jsonspan.Members(pairs) {
		list = append(list, object(texts("name", m.Name), member{"value", m.Value}))
	}
	return jsonspan.JoinList(list)
}

func pairsObject(list protocol.RawMessage) protocol.RawMessage {
	pairs := jsonspan.MemberList{}
	for _, pair := range jsonspan.Elements(list) {
		pairs.Set(jsonspan.Text(jsonspan.Get(pair, "name")), jsonspan.Get(pair, "value"))
	}
	return pairs.JSON()
}

// unguardedOptions are options of Claude's agent by which it gets MCP servers from elsewhere, asks
// less, or leaves out hooks of its own settings.
var unguardedOptions = []string{"allowedTools", "allowDangerouslySkipPermissions", "extraArgs", "managedSettings", "permissionMode", "plugins", "sandbox", "settings", "settingSources"}

// noteOptions tells the person what in _meta hookd does not look into.
func (o *Options) noteOptions(meta protocol.RawMessage) {
	var names []string
	for _, m := range jsonspan.Members(jsonspan.Find(meta, "/claudeCode/options")) {
		if slices.Contains(unguardedOptions, m.Name) && !isNothing(m.Value) {
			names = append(names, m.Name)
		}
	}
	if len(names) > 0 {
		o.note("the editor opens a session with " + strings.Join(names, ", ") + " in _meta.claudeCode.options: these pass, and may have the agent ask less, start MCP servers that are not guarded, or leave out hooks of its own settings")
	}
}
