package main

import (
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// app is what the commands are made of.
type app struct {
	builtin   func(*loader.Snapshot) ([]protocol.GoHook, error)
	version   string
	console   *cli.Console
	project   *places.Project
	signals   *signals.Handler
	closers   *cli.Closers
	processes *engine.Processes
	opener    *engine.Opener
}
