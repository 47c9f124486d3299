package conversation

import (
	"context"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/mcp"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema"
)

// Host is what a program that drives a conversation, such as an editor, brings along. What it
// hands in is the person's wish, as --allow and the user's settings are.
type Host struct {
	// Servers are MCP servers whose tools join the others. Of their environment only Env is
	// set.
	Servers []mcp.Server

	// Hooks are hooks that the host answers itself.
	Hooks []protocol.GoHook

	// Folders are other folders that the person works in, absolute paths. The file tools may touch
	// what is in them as if it were the project's. What a person allowed of the projects that they lie
	// in counts, as what was allowed of a project further up does.
	Folders []string

	// Editor has files open that the file tools read and write; nil: there is none.
	Editor tool.Editor

	// Commands returns what runs the loop's commands, made of what would run them without the
	// host; nil: that one. Whatever it shows of them, it leaves them to that one.
	Commands func(tool.Runner) tool.Runner

	// Allows returns the tools that the person lets run without the loop's own question for
	// now; nil: none. It may be called from several goroutines.
	Allows func() []toolname.Allowed
}

// openHooks opens the hooks of the session's own folder, and of other folders. Where the own one lies
// in no project, that of another one counts, and the session works in its own all the same.
func (o *opening) openHooks(ctx context.Context, options engine.Options, folders []string) (*engine.Engine, error) {
	if len(folders) == 0 {
		e, err := o.hooks.Open(ctx, options)
		if err == nil {
			o.project = e.Project()
		}
		return e, err
	}
	own, err := o.hooks.Project.WorkingDir()
	if err == nil {
		o.project, err = o.hooks.Project.Root(ctx)
	}
	if err != nil {
		return nil, err
	}
	options.Folders = append([]string{own}, folders...)
	e, err := o.hooks.Open(ctx, options)
	if err == nil && o.project == "" {
		e.Root = own
	}
	return e, err
}

// hostServers returns the servers of a host, with the environment that commands of the loop
// have. A server with the name of one of the settings is left out: that one has its tools' names.
func (o *opening) hostServers(settings *schema.Settings, servers []mcp.Server, environ []string) (list []mcp.Server) {
	taken := func(name string) bool {
		for other := range settings.Agent.MCPServers {
			if toolname.PrefixOf(other) == toolname.PrefixOf(name) {
				return true
			}
		}
		return slices.ContainsFunc(list, func(s mcp.Server) bool { return toolname.PrefixOf(s.Name) == toolname.PrefixOf(name) })
	}
	for _, s := range servers {
		if taken(s.Name) {
			o.console.Note("MCP server "+s.Name+" of the client is not started: there is one of that name already", "give one of them another name")
			continue
		}
		s.Environ = environ
		list = append(list, s)
	}
	return list
}
