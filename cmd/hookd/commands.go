package main

import (
	"slices"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/eventcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/hookcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/logcmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/servecmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
)

// commands are all commands, in the order of the help.
func commands(a *app) []command {
	trust := &trustcmd.Commands{Console: a.console, Project: a.project}
	log := &logcmd.Commands{Console: a.console, Project: a.project}
	serve := &servecmd.Commands{Version: a.version, Console: a.console, Project: a.project, Opener: a.opener, Processes: a.processes, Signals: a.signals}
	events := &eventcmd.Commands{Console: a.console, Project: a.project, Opener: a.opener, Processes: a.processes}
	hooks := &hookcmd.Commands{Release: a.version, Console: a.console, Project: a.project, Opener: a.opener, Processes: a.processes, Builtin: a.builtin}
	return slices.Concat([]command{
		{"hooks", hooks.Init()}, {"hooks", hooks.New()}, {"hooks", hooks.Examples()}, {"hooks", events.Try()},
		{"hooks", hooks.List()}, {"hooks", hooks.Check()}, {"hooks", trust.Trust()},
		{"hooks", trust.Untrust()}, {"hooks", trust.Disable()}, {"hooks", trust.Enable()},
		{"events", events.Fire()}, {"hooks", hooks.Get()}, {"hooks", hooks.Reply()},
	}, agentCommands(a), []command{
		{"events", serve.Serve()}, {"events", log.Log()},
		{"more", hooks.Schema()}, {"more", hooks.Version()},
	})
}
