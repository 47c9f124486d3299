package acpcmd

import (
	"context"
	"errors"
	"os"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/guarded"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor/acpproxy"
	"github.com/hookd-dev/hookd/executor/hookenv"
)

// guard runs an agent under guard.
func (cmd *Commands) guard(ctx context.Context, mode string, argv []string) error {
	cwd, err := os.Getwd()
	if err != nil {
		return places.NoDirectory()
	}
	e, err := cmd.Opener.Open(ctx, engine.Options{LongLived: true, HooksOnly: true})
	if err != nil {
		return err
	}
	agent, err := guarded.Start(cmd.Opener, guarded.What{Code: "acp-agent", Name: "the agent"}, argv, cwd)
	if err != nil {
		return err
	}
	t := &guarded.Teller{Console: cmd.Console, Engine: e}
	h := &hooks{ctx: ctx, opener: cmd.Opener, own: e, cwd: cwd, opened: map[string]*engine.Engine{}}
	err = acpproxy.Run(ctx, guarded.Client(cmd.Opener), agent.Process(), acpproxy.Options{
		Open: h.of, Server: server, Mode: mode, Cwd: cwd, Depth: hookenv.ProcessDepth(),
		Tell: t.Outcome, Note: func(text string) { t.Note(text, "") },
	})
	agent.Flush()
	switch {
	case errors.Is(err, signals.ErrInterrupted):
		return err
	case err != nil:
		return cli.ErrOutput
	}
	return agent.Failure()
}
