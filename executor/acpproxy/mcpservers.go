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
	if kind := jsonspan.Get(server, "type"); jsonspan.Kind(command) != '"' || !isNothing(kind) && jsonspan.Text(kind) != "stdio" {
		how := jsonspan.Text(kind)
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
	before := o.Server(name, project, jsonspan.Text(command), args)
	if before == nil {
		return server, nil
	}
	line := before[1:len(before):len(before)]
	all := []protocol.RawMessage{}
	for _, word := range append(line, jsonspan.Text(command)) {
		all = append(all, jsonspan.Quote(word))
	}
	all = append(all, jsonspan.Elements(jsonspan.Get(server, "args"))...)
	return relay.Replace(relay.Replace(server, "command", jsonspan.Quote(before[0])), "args", jsonspan.JoinList(all)), nil
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
	for _, variable := range jsonspan.Elements(jsonspan.Get(server, "env")) {
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
	upper := strings.ToUpper(name)
	return slices.Contains([]string{"HOME", "USERPROFILE", "GODEBUG"}, upper) || strings.HasPrefix(upper, "XDG_") || strings.HasPrefix(upper, "HOOK")
}
