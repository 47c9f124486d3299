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
	"github.com/hookd-dev/hookd/executor/acpproxy/chain"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// guard runs an agent under guard.
func (cmd *Commands) guard(ctx context.Context, mode string, argv []string) error {
	s, err := cmd.setUp(ctx, mode)
	if err != nil {
		return guarded.Unstarted(ctx, cmd.Console, err)
	}
	agent, err := guarded.Start(cmd.Opener, guarded.What{Code: "acp-agent", Name: "the agent"}, argv, s.options.Cwd)
	if err != nil {
		return guarded.Unstarted(ctx, cmd.Console, err)
	}
	err = s.run(ctx, guarded.Client(cmd.Opener), agent.Process())
	agent.Flush()
	if err != nil {
		return err
	}
	return agent.Failure()
}

// join guards the successor in a proxy chain.
func (cmd *Commands) join(ctx context.Context, mode string) error {
	s, err := cmd.setUp(ctx, mode)
	if err != nil {
		return guarded.Unstarted(ctx, cmd.Console, err)
	}
	member := chain.Join(guarded.Client(cmd.Opener), chain.Options{Note: s.options.Note})
	return s.run(ctx, member.Client(), member.Successor())
}

// setup is a proxy before it runs.
type setup struct{ options acpproxy.Options }

func (cmd *Commands) setUp(ctx context.Context, mode string) (*setup, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, places.NoDirectory()
	}
	e, err := cmd.Opener.Open(ctx, engine.Options{LongLived: true, HooksOnly: true})
	if err != nil {
		return nil, err
	}
	t := &guarded.Teller{Console: cmd.Console, Engine: e}
	if other, remedy := engine.OtherHome(); other != "" {
		t.Note(other, remedy)
	}
	h := newHooks(ctx, cmd.Opener, e, cwd)
	return &setup{acpproxy.Options{
		Open: h.of, Server: h.server, Mode: mode, Cwd: cwd, Depth: hookenv.ProcessDepth(),
		Tell: t.Outcome, Note: func(text string) { t.Note(text, "") },
	}}, nil
}

func (s *setup) run(ctx context.Context, client relay.Stream, agent *proxied.Process) error {
	err := acpproxy.Run(ctx, client, agent, s.options)
	if err != nil && !errors.Is(err, signals.ErrInterrupted) {
		return cli.ErrOutput
	}
	return err
}
