package bridgecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// Commands are hookd bridge.
type Commands struct {
	Console *cli.Console
	Project *places.Project
	Opener  *engine.Opener
}

// ownShare is the part of the agent's limit within which hookd answers. Nearly every agent
// lets the tool run when its own limit ends the hook.
const ownShare = 0.8

func (cmd *Commands) Bridge() *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use:   "bridge AGENT [EVENT]",
		Short: "Answer another agent's hook call: what its hook settings start",
		Long: `Read an event as another agent writes it on stdin, run the hooks for it, and
answer in that agent's own words and with its exit codes.

Agents: ` + strings.Join(agentNames(), ", ") + `.
EVENT is the agent's own name of the event, for agents that do not write it.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			agent := dialect.Find(args[0])
			if agent == nil {
				return cli.Usage("unknown-agent", "hookd knows no agent "+show.Line(args[0]), "one of "+strings.Join(agentNames(), ", "))
			}
			b := bridge{cmd: cmd, agent: agent, limit: limit}
			if len(args) > 1 {
				b.event = args[1]
			}
			answer := b.answer(c.Context())
			cmd.leaveMark(agent.Name, b.event)
			return b.write(answer)
		},
	}
	c.Flags().DurationVar(&limit, "limit", 0, "the agent's own `limit` for its hooks, if its settings state one")
	return c
}

func agentNames() (names []string) {
	for _, a := range dialect.Agents {
		names = append(names, a.Name)
	}
	return names
}

// bridge answers one call.
type bridge struct {
	cmd   *Commands
	agent *dialect.Agent
	event string        // the agent's name of it, "" until it was read
	limit time.Duration // the agent's own, 0 if its settings state none
}

var errLate = errors.New("hookd's hooks did not answer in time")

func (b *bridge) answer(ctx context.Context) dialect.Answer {
	began := time.Now()
	stdin, err := io.ReadAll(io.LimitReader(b.cmd.Console.In, protocol.DefaultEventSize+1))
	if err != nil {
		return b.refuse(fmt.Errorf("what %s wrote to stdin cannot be read: %w", b.agent.Title, err))
	}
	call, err := b.agent.Read(b.event, stdin, protocol.DecodeLimits{Size: protocol.DefaultEventSize, Depth: protocol.DefaultDepth})
	if err != nil {
		return b.refuse(err)
	}
	b.event = call.Row.Name
	limit := call.Row.Limit
	if b.limit > 0 {
		limit = b.limit
	}
	ctx, cancel := context.WithDeadlineCause(ctx, began.Add(time.Duration(float64(limit)*ownShare)), errLate)
	defer cancel()
	outcome, err := b.fire(ctx, call)
	if err != nil {
		return b.refuse(err)
	}
	return call.Answer(&outcome)
}

func (b *bridge) fire(ctx context.Context, call *dialect.Call) (protocol.Outcome, error) {
	e, err := b.cmd.Opener.Open(ctx, engine.Options{})
	if err != nil {
		return protocol.Outcome{}, err
	}
	event := call.Event
	event.Protocol, event.ID, event.Time = protocol.Version, protocol.NewID(), time.Now().UTC()
	event.NotAsked = e.ImportedFrom(b.agent.Name) // it runs them itself
	event.Project, event.Agent.Depth = e.Project(), event.Agent.Depth+hookenv.ProcessDepth()
	if event.Cwd == "" { // the agent does not say it
		if event.Cwd, err = os.Getwd(); err != nil {
			return protocol.Outcome{}, places.NoDirectory()
		}
	}
	event.Data = protocol.Complete(event.Spec(), event.Data)
	if err := protocol.CheckEvent(&event); err != nil {
		return protocol.Outcome{}, err
	}
	call.Event = event
	outcome, err := e.Fire(ctx, event)
	if err != nil {
		return protocol.Outcome{}, context.Cause(ctx)
	}
	return outcome, nil
}

// refuse answers a call that could not be decided.
func (b *bridge) refuse(err error) dialect.Answer {
	return b.agent.Refuse(b.event, err)
}

func (b *bridge) write(a dialect.Answer) error {
	for _, lost := range a.Lost {
		b.cmd.Console.Note(lost, "")
	}
	if a.Stderr != "" {
		fmt.Fprintln(b.cmd.Console.Err.W, show.Visible(a.Stderr))
	}
	if _, err := b.cmd.Console.Out.W.Write(a.Stdout); err != nil {
		return err
	}
	if a.Exit != 0 {
		return cli.ExitCode(a.Exit)
	}
	return nil
}
