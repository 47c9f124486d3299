package hookcmd

import (
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// Commands are the commands around writing hooks. Their fields are what they share.
type Commands struct {
	Release   func() string
	Console   *cli.Console
	Project   *places.Project
	Opener    *engine.Opener
	Processes *engine.Processes
	Builtin   func(*loader.Snapshot) ([]protocol.GoHook, error) // hooks of the agent loop, nil in the lean program
}
