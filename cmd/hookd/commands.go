package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/bridgecmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/eventcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/hookcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/installcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/logcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/mcpcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/newcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/servecmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
)

// command is one command, and the group of the help that shows it.
type command struct {
	group, name string
	make        func() *cobra.Command
}

// commands returns all commands. Those of a group are in the order of the help.
func commands(p *parts) []command {
	trust := &trustcmd.Commands{Console: p.console, Project: p.project}
	log := &logcmd.Commands{Console: p.console, Project: p.project}
	serve := &servecmd.Commands{Version: versionName, Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes, Signals: p.signals}
	events := &eventcmd.Commands{Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes}
	bridge := &bridgecmd.Commands{Console: p.console, Opener: p.opener, Closers: p.closers}
	mcp := &mcpcmd.Commands{Console: p.console, Opener: p.opener, ReadSchema: readSchema}
	acp := &acpcmd.Commands{Console: p.console, Opener: p.opener, Agent: acpAgent(p)}
	agents := &installcmd.Commands{Console: p.console, Project: p.project, Processes: p.opener.Processes}
	hooks := &hookcmd.Commands{Release: versionName, Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes, Builtin: builtinHooks}
	news := &newcmd.Commands{Console: p.console, Project: p.project}
	return slices.Concat([]command{
		{"write", "init", hooks.Init}, {"write", "new", news.New}, {"write", "examples", hooks.Examples}, {"write", "try", events.Try}, {"write", "test", events.Test},
		{"allow", "list", hooks.List}, {"allow", "check", hooks.Check}, {"allow", "trust", trust.Trust},
		{"allow", "untrust", trust.Untrust}, {"allow", "disable", trust.Disable}, {"allow", "enable", trust.Enable},
		{"agents", "install", agents.Install}, {"agents", "verify", agents.Verify}, {"agents", "uninstall", agents.Uninstall}, {"agents", "acp", acp.ACP}, {"agents", "mcp", mcp.MCP}, {"agents", "bridge", bridge.Bridge},
	}, agentCommands(p), []command{
		{"ask", "fire", events.Fire}, {"ask", "serve", serve.Serve},
		{"inside", "get", hooks.Get}, {"inside", "reply", hooks.Reply}, {"allow", "log", log.Log},
		{"more", "schema", hooks.Schema}, {"more", "version", hooks.Version},
	})
}
