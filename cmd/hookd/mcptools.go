//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/mcp"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// serversPatience is how long the first prompt waits for MCP servers that are
// still starting, from the start of hookd. A model that is asked before its
// tools are there says that it has none.
const serversPatience = 3 * time.Second

// mcpServers starts the MCP servers of the settings and has them ended with
// everything else. Without any it returns nil. The settings of a snapshot hold
// only servers that may be started.
func (a *app) mcpServers(engine *engine, settings *schema.Settings) *mcp.Servers {
	if len(settings.Agent.MCPServers) == 0 {
		return nil
	}
	var list []mcp.Server
	for _, name := range slices.Sorted(maps.Keys(settings.Agent.MCPServers)) {
		s := settings.Agent.MCPServers[name]
		list = append(list, mcp.Server{Name: name, Type: s.Type, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers})
	}
	env := executor.AllowedEnv(executor.EnvConfig{Environ: os.Environ(), Project: engine.root, Names: settings.Agent.Tools.Env})
	servers := mcp.Connect(context.Background(), list, mcp.Options{
		Project: engine.root,
		Start:   containedStart(a.processes, engine.root, env),
		Notify: func(n mcp.Notice) {
			engine.progress.Aside(func() { a.note("MCP server "+n.Server+" "+n.Text, n.Remedy) })
		},
	})
	a.atEnd(func() error { servers.Close(); return nil })
	return servers
}

// joinServers makes the servers' tools a source of the loop's, and has the first prompt
// wait a little for those that are still starting.
func (a *app) joinServers(engine *engine, servers *mcp.Servers, sources *[]tool.Source, features *[]provider.Provider) {
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
			late := servers.Settle(ctx, serversPatience)
			told.Do(func() {
				if len(late) > 0 {
					engine.progress.Aside(func() {
						a.note(plural(len(late), "MCP server")+" still starting: "+joinLines(late), "the tools join at the next step when they are there")
					})
				}
			})
			return protocol.Reply{}, nil
		},
	}}})
}

// containedStart starts the program of a server as hooks are started: contained,
// and ended with everything it started, even if hookd is killed.
func containedStart(runtime *process.Runtime, root string, env []string) func(context.Context, mcp.Program) (*mcp.Process, error) {
	return func(ctx context.Context, p mcp.Program) (*mcp.Process, error) {
		own := slices.Clone(env)
		for _, name := range slices.Sorted(maps.Keys(p.Env)) {
			own = slices.DeleteFunc(own, func(v string) bool { return strings.HasPrefix(v, name+"=") })
			own = append(own, name+"="+p.Env[name])
		}
		path, err := programPath(p.Argv[0], root, own)
		if err != nil {
			return nil, err
		}
		child, err := runtime.Start(ctx, &process.Command{Path: path, Argv: p.Argv, Dir: root, Env: own})
		if err != nil {
			return nil, err
		}
		return &mcp.Process{In: child.Stdin, Out: child.Stdout, Done: child.Done(), End: func(patience time.Duration) mcp.Ending {
			return endingOf(child.End(patience))
		}}, nil
	}
}

// programPath finds a server's program: a path is of the project's folder, a
// mere name is looked up on the PATH that the program gets.
func programPath(command, root string, env []string) (string, error) {
	if !filepath.IsAbs(command) && strings.ContainsRune(command, '/') {
		return filepath.Join(root, command), nil
	}
	return tool.LookPath(command, env)
}

func endingOf(r process.Result) mcp.Ending {
	ending := mcp.Ending{Text: fmt.Sprintf("exit code %d", r.ExitCode), Stderr: string(r.Stderr)}
	var unstarted *process.StartError
	switch {
	case errors.As(r.Err, &unstarted):
		ending.Text = unstarted.Error()
	case r.Err != nil:
		ending.Text = "it was ended"
	case r.Signal != "":
		ending.Text = "ended by " + r.Signal
	}
	return ending
}
