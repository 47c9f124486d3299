package conversation

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/mcp"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// serversWait is how long the first prompt waits for MCP servers that are
// still starting, from the start of hookd. A model that is asked before its
// tools are there says that it has none.
const serversWait = 3 * time.Second

// mcpServers starts the MCP servers of the settings, and those of the host. They end with the
// command. It returns nil if there are none. The settings of a snapshot hold only servers that
// may be started. folders are those of the session besides its project.
func (o *opening) mcpServers(e *engine.Engine, settings *schema.Settings, list []mcp.Server, folders []string) *mcp.Servers {
	for _, name := range slices.Sorted(maps.Keys(settings.Agent.MCPServers)) {
		s := settings.Agent.MCPServers[name]
		list = append(list, mcp.Server{Name: name, Type: s.Type, Command: s.Command, Args: s.Args, Dir: s.Dir, Environ: s.Environ, Env: s.Env, URL: s.URL, Headers: s.Headers})
	}
	if len(list) == 0 {
		return nil
	}
	servers := mcp.Connect(context.Background(), list, mcp.Options{
		Project: e.Root, Also: folders,
		Start: containedStart(o.hooks.Processes.Runtime()),
		Notify: func(n mcp.Notice) {
			remedy := n.Remedy
			if _, ours := settings.Agent.MCPServers[n.Server]; !ours && remedy != "" {
				remedy = "it was handed in by the client: look at it in the settings of your editor"
			}
			e.Aside(func() { o.console.Note("MCP server "+n.Server+" "+n.Text, remedy) })
		},
	})
	o.hooks.Closers.Add(func() error { servers.Close(); return nil })
	return servers
}

// addServers makes the tools of the servers a source of the loop, and lets the first
// prompt wait a little for servers that are still starting.
func (o *opening) addServers(e *engine.Engine, servers *mcp.Servers, sources *[]tool.Source, features *[]provider.Provider) {
	if servers == nil {
		return
	}
	var told sync.Once
	*sources = append(*sources, servers)
	*features = append(*features, provider.Provider{Name: "mcp", Hooks: []protocol.GoHook{{
		Name:        "mcp-servers",
		Description: "waits a little for MCP servers that are still starting",
		Events:      []protocol.EventName{protocol.PromptSubmit},
		Watches:     true,
		Func: func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
			late := servers.WaitStarted(ctx, serversWait)
			told.Do(func() {
				if len(late) > 0 {
					e.Aside(func() {
						o.console.Note(text.Count(len(late), "MCP server")+" still starting: "+strings.Join(late, " "), "the tools join at the next step when they are there")
					})
				}
			})
			return protocol.Reply{}, nil
		},
	}}})
}
