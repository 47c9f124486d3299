package acpagent

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/mcp"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// serversOf reads the MCP servers that a client hands in. A server that cannot be one is an
// error with its place; one that does not start is told in the session.
func serversOf(list []acp.MCPServer, dir string) ([]mcp.Server, *rpc.Error) {
	var servers []mcp.Server
	for i := range list {
		given := &list[i]
		wrong := func(what string) ([]mcp.Server, *rpc.Error) {
			path := fmt.Sprintf("/mcpServers/%d", i)
			return nil, rpc.Errorf(rpc.InvalidParams, "MCP server %d (%.100q): %s", i+1, given.Name, what).With("path", path)
		}
		s := mcp.Server{Name: given.Name, Type: given.Type, Dir: dir}
		switch {
		case strings.TrimSpace(given.Name) == "":
			return wrong("it has no name")
		case given.Type == "" || given.Type == "stdio":
			if given.Command == "" {
				return wrong("it has no command")
			}
			if !filepath.IsAbs(given.Command) && filepath.Base(given.Command) != given.Command {
				return wrong(fmt.Sprintf("its command %.200q is a relative path; it must be absolute, or a name that is looked up on PATH", given.Command))
			}
			for _, v := range given.Env {
				if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.Contains(v.Value, "\x00") {
					return wrong(fmt.Sprintf("its env cannot hold the variable %.100q: a name is not empty and has no =, and neither it nor the value has a NUL byte", v.Name))
				}
			}
			s.Type, s.Command, s.Args, s.Env = "stdio", given.Command, given.Args, valuesOf(given.Env)
		case given.Type == "http" || given.Type == "sse":
			if given.URL == "" {
				return wrong("it has no url")
			}
			s.URL, s.Headers = given.URL, valuesOf(given.Headers)
		default:
			return wrong(fmt.Sprintf("hookd knows no transport %.40q; it knows stdio, http and sse", given.Type))
		}
		servers = append(servers, s)
	}
	return servers, nil
}

func valuesOf(list []acp.NamedVariable) map[string]string {
	values := map[string]string{}
	for _, v := range list {
		values[v.Name] = v.Value
	}
	return values
}
