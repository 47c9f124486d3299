package bridgecmd

import (
	"context"
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
	"github.com/hookd-dev/hookd/executor/bridge"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
)

// Commands are hookd bridge.
type Commands struct {
	Console *cli.Console
	Opener  *engine.Opener
	Closers *cli.Closers
}

// Bridge returns hookd bridge.
func (cmd *Commands) Bridge() *cobra.Command {
	var limit, left time.Duration
	var start string
	c := &cobra.Command{
		Use:   "bridge AGENT [EVENT]",
		Short: "Answer another agent's hook call: what its hook settings start",
		Long: `Read an event as another agent writes it on stdin, run the hooks for it, and
answer in that agent's own words and with its exit codes.

Agents: ` + strings.Join(agentNames(), ", ") + `.
EVENT is the agent's own name of the event, for agents that do not write it.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			began := time.Now()
			agent := hosts.Find(args[0])
			if agent == nil {
				return cli.Usage("unknown-agent", "hookd knows no agent "+show.Line(args[0]), "one of "+strings.Join(agentNames(), ", "))
			}
			call := bridge.Call{Agent: agent, Limit: limit, Began: began, Depth: hookenv.ProcessDepth()}
			if len(args) > 1 {
				call.Event = args[1]
			}
			if c.Flags().Changed("left") {
				call.Until = began.Add(left)
			}
			if start != "" {
				cmd.startDaemonAtEnd(c.Context(), start)
			}
			reply := cmd.answer(c.Context(), call)
			cmd.leaveMark(agent.Name, reply.Event)
			return cmd.write(reply)
		},
	}
	c.Flags().DurationVar(&limit, "limit", 0, "the agent's own `limit` for its hooks, if its settings state one")
	c.Flags().DurationVar(&left, "left", 0, "the time until the answer is due")
	cli.NameFlag(c.Flags(), &start, "start", "", "start a daemon on this `SOCKET` for the next event")
	for _, ofMessenger := range []string{"left", "start"} {
		_ = c.Flags().MarkHidden(ofMessenger)
	}
	return c
}

func agentNames() (names []string) {
	for _, a := range hosts.All {
		names = append(names, a.Name)
	}
	return names
}

// answer reads the input and has the hooks of the project decide it.
func (cmd *Commands) answer(ctx context.Context, call bridge.Call) bridge.Reply {
	var err error
	if call.Input, err = cmd.readInput(ctx, &call); err != nil {
		return call.Refuse(fmt.Errorf("what %s wrote to stdin cannot be read: %w", call.Agent.Title, err))
	}
	if call.Cwd, err = os.Getwd(); err != nil {
		return call.Refuse(places.NoDirectory())
	}
	return bridge.Answer(ctx, call, func(ctx context.Context) (bridge.Hooks, error) {
		return cmd.Opener.Open(ctx, engine.Options{})
	})
}

// readInput reads stdin to its end, but not past the time when the answer is due.
func (cmd *Commands) readInput(ctx context.Context, call *bridge.Call) ([]byte, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, call.Due(), bridge.ErrLate)
	defer cancel()
	type input struct {
		text []byte
		err  error
	}
	read := make(chan input, 1)
	go func() { // it ends with the process if the agent never closes stdin
		text, err := io.ReadAll(io.LimitReader(cmd.Console.In, protocol.DefaultEventSize+1))
		read <- input{text, err}
	}()
	select {
	case in := <-read:
		return in.text, in.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (cmd *Commands) write(r bridge.Reply) error {
	_, _ = cmd.Console.Err.W.Write(r.Stderr) // an agent that does not read it reads the answer all the same
	if _, err := cmd.Console.Out.W.Write(r.Stdout); err != nil {
		return err
	}
	if r.Exit != 0 {
		return cli.ExitCode(r.Exit)
	}
	return nil
}
