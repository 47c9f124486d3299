package main

import (
	"slices"

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

// commands returns all commands. Those of a group are in the order of the help.
func commands(p *parts) []command {
	version := versionName()
	trust := &trustcmd.Commands{Console: p.console, Project: p.project}
	log := &logcmd.Commands{Console: p.console, Project: p.project}
	serve := &servecmd.Commands{Version: version, Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes, Signals: p.signals}
	events := &eventcmd.Commands{Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes}
	bridge := &bridgecmd.Commands{Console: p.console, Opener: p.opener, Closers: p.closers}
	mcp := &mcpcmd.Commands{Console: p.console, Opener: p.opener}
	agents := &installcmd.Commands{Console: p.console, Project: p.project, Processes: p.opener.Processes}
	hooks := &hookcmd.Commands{Release: version, Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes, Builtin: builtinHooks}
	news := &newcmd.Commands{Console: p.console, Project: p.project}
	return slices.Concat([]command{
		{"write", hooks.Init()}, {"write", news.New()}, {"write", hooks.Examples()}, {"write", events.Try()}, {"write", events.Test()},
		{"allow", hooks.List()}, {"allow", hooks.Check()}, {"allow", trust.Trust()},
		{"allow", trust.Untrust()}, {"allow", trust.Disable()}, {"allow", trust.Enable()},
		{"agents", agents.Install()}, {"agents", agents.Verify()}, {"agents", agents.Uninstall()}, {"agents", mcp.MCP()}, {"agents", bridge.Bridge()},
	}, agentCommands(p), []command{
		{"ask", events.Fire()}, {"ask", serve.Serve()},
		{"inside", hooks.Get()}, {"inside", hooks.Reply()}, {"allow", log.Log()},
		{"more", hooks.Schema()}, {"more", hooks.Version()},
	})
}
