package main

import (
	"slices"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/bridgecmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/eventcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/hookcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/installcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/logcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/servecmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
)

// commands returns all commands, in the order of the help.
func commands(p *parts) []command {
	version := versionName()
	trust := &trustcmd.Commands{Console: p.console, Project: p.project}
	log := &logcmd.Commands{Console: p.console, Project: p.project}
	serve := &servecmd.Commands{Version: version, Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes, Signals: p.signals}
	events := &eventcmd.Commands{Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes}
	bridge := &bridgecmd.Commands{Console: p.console, Opener: p.opener, Closers: p.closers}
	agents := &installcmd.Commands{Console: p.console, Project: p.project, Processes: p.opener.Processes}
	hooks := &hookcmd.Commands{Release: version, Console: p.console, Project: p.project, Opener: p.opener, Processes: p.opener.Processes, Builtin: builtinHooks}
	return slices.Concat([]command{
		{"hooks", hooks.Init()}, {"hooks", hooks.New()}, {"hooks", hooks.Examples()}, {"hooks", events.Try()}, {"hooks", events.Test()},
		{"hooks", hooks.List()}, {"hooks", hooks.Check()}, {"hooks", trust.Trust()},
		{"hooks", trust.Untrust()}, {"hooks", trust.Disable()}, {"hooks", trust.Enable()},
		{"events", events.Fire()}, {"hooks", hooks.Get()}, {"hooks", hooks.Reply()},
	}, agentCommands(p), []command{
		{"events", serve.Serve()}, {"events", bridge.Bridge()}, {"events", agents.Install()}, {"events", agents.Uninstall()}, {"events", agents.Verify()}, {"events", log.Log()},
		{"more", hooks.Schema()}, {"more", hooks.Version()},
	})
}
