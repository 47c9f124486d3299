package acpproxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// guardServers returns a request with its MCP servers under guard: those that are programs
// start through hookd mcp. Of the others the person is told.
func (o *Options) guardServers(m *relay.Message, p *params, project string) ([]byte, error) {
	list := p.get("mcpServers")
	if isNothing(list) {
		return p.line(m), nil
	}
	if jsonspan.Kind(list) != '[' {
		return nil, errors.New("mcpServers is " + jsonspan.KindName(list) + ", not a list")
	}
	servers, changed := jsonspan.Elements(list), false
	for i, server := range servers {
		guarded, err := o.guardServer(server, project)
		if err != nil {
			return nil, err
		}
		changed = changed || string(guarded) != string(server)
		servers[i] = guarded
	}
	if !changed {
		return p.line(m), nil
	}
	return m.With("params", relay.Replace(p.raw, "mcpServers", jsonspan.JoinList(servers))), nil
}

// guardServer returns an MCP server that starts through hookd mcp.
func (o *Options) guardServer(server protocol.RawMessage, project string) (protocol.RawMessage, error) {
	if jsonspan.Kind(server) != '{' {
		return nil, errors.New("mcpServers has " + jsonspan.KindName(server) + " where a server is expected")
	}
	if err := unambiguous(server, []string{"type", "name", "command", "args", "env", "url"}); err != nil {
		return nil, err
	}
	name, command := jsonspan.Text(jsonspan.Get(server, "name")), jsonspan.Get(server, "command")
	if !isNothing(command) && jsonspan.Kind(command) != '"' {
		return nil, errors.New("the command of an MCP server is " + jsonspan.KindName(command) + ", not a text")
	}
	if isNothing(command) { // of whatever type it says it is: some agents go by the command
		how := jsonspan.Text(jsonspan.Get(server, "type"))
		if how == "" {
			how = "no command"
		}
		o.note(fmt.Sprintf("the MCP server %q (%s) is not guarded: hookd guards servers that are programs", name, how))
		return server, nil
	}
	if strings.TrimSpace(name) == "" {
		return nil, errors.New("an MCP server has no name")
	}
	args, err := argsOf(server)
	if err != nil {
		return nil, err
	}
	line := o.Server(name, project, jsonspan.Text(command), args)
	all := []protocol.RawMessage{}
	for _, word := range line[1:] {
		all = append(all, jsonspan.Quote(word))
	}
	return relay.Replace(relay.Replace(server, "command", jsonspan.Quote(line[0])), "args", jsonspan.JoinList(all)), nil
}

// argsOf returns the args of a server. A variable that would change hookd in front of it is
// an error.
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
	env := jsonspan.Get(server, "env")
	if !isNothing(env) && jsonspan.Kind(env) != '[' {
		return nil, errors.New("the env of an MCP server is " + jsonspan.KindName(env) + ", not a list")
	}
	for _, variable := range jsonspan.Elements(env) {
		if jsonspan.Kind(variable) != '{' {
			return nil, errors.New("the env of an MCP server has " + jsonspan.KindName(variable) + " where an object is expected")
		}
		if err := unambiguous(variable, []string{"name", "value"}); err != nil {
			return nil, err
		}
		if name := jsonspan.Text(jsonspan.Get(variable, "name")); changesHookd(name) {
			return nil, fmt.Errorf("the MCP server %q sets %s, which would change hookd in front of it: set it in the server's own command (env %s=… COMMAND)",
				jsonspan.Text(jsonspan.Get(server, "name")), name, name)
		}
	}
	return args, nil
}

// changesHookd reports whether a variable says where hookd finds hooks, settings and trust, or
// how it works.
func changesHookd(name string) bool {
	name, _, _ = strings.Cut(name, "=") // what follows would be part of the value
	upper := strings.ToUpper(name)
	return slices.Contains([]string{"HOME", "USERPROFILE", "GODEBUG"}, upper) || strings.HasPrefix(upper, "XDG_") || strings.HasPrefix(upper, "HOOK")
}
