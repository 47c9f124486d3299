package bridgecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
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
	"github.com/hookd-dev/hookd/protocol/dialect"
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
		Args: cobra.ArbitraryArgs, // RunE looks at them: a wrong number is answered as a refusal, too
		RunE: func(c *cobra.Command, args []string) error {
			began := time.Now()
			notes := holdNotes(cmd.Console)
			if len(args) < 1 || len(args) > 2 {
				return cmd.refuseUsage(c, notes, errors.New("hookd bridge takes AGENT [EVENT], not "+strconv.Itoa(len(args))+" arguments"))
			}
			agent := hosts.Find(args[0])
			if agent == nil {
				return cmd.refuseUsage(c, notes, errors.New("hookd knows no agent "+args[0]+": one of "+strings.Join(agentNames(), ", ")))
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
			marker := takeMarker()
			call.Marker = marker.Token()
			reply := cmd.answer(c.Context(), call)
			cmd.leaveMark(marker, agent.Name, reply.Event)
			call.Event = reply.Event
			cmd.Opener.EndBy(lastMoment(&call))
			return cmd.write(notes, call.Due(), reply, refusable(&call))
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return cmd.refuseUsage(c, holdNotes(cmd.Console), err) })
	c.Flags().DurationVar(&limit, "limit", 0, "the agent's own `limit` for its hooks, if its settings state one")
	c.Flags().DurationVar(&left, "left", 0, "the time until the answer is due")
	cli.NameFlag(c.Flags(), &start, "start", "", "start a daemon on this `SOCKET` for the next event")
	for _, ofMessenger := range []string{"left", "start"} {
		_ = c.Flags().MarkHidden(ofMessenger)
	}
	return c
}

// lastMoment is when nothing is waited for any more: halfway between the time when the answer
// is due and the agent's limit. An agent that has to end hookd goes on, whatever was answered.
func lastMoment(call *bridge.Call) time.Time {
	due := call.Due()
	return due.Add(due.Sub(call.Began) / 8)
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
	call.Environ = os.Environ()
	return bridge.Answer(ctx, call, func(ctx context.Context, folders []string) (bridge.Hooks, error) {
		return cmd.Opener.Open(ctx, engine.Options{Folders: folders})
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

// refuseUsage refuses a call whose command line cannot be understood: it stands in an
// agent's settings, and nearly every agent takes any other failure for a yes.
func (cmd *Commands) refuseUsage(c *cobra.Command, notes *heldNotes, err error) error {
	reason := show.OneLine(err.Error()) + "; see " + c.CommandPath() + " --help"
	agent, event := named(os.Args[1:], c.Name())
	if agent == nil {
		return cmd.write(notes, time.Now().Add(leastWriting), bridge.Reply{Stderr: []byte("hookd: " + reason + "\n"), Exit: cli.ExitRefused}, true)
	}
	call := bridge.Call{Agent: agent, Event: event}
	return cmd.write(notes, time.Now().Add(leastWriting), call.Refuse(errors.New(reason)), true)
}

// named returns the agent and the event of a command line, as far as it says them: those
// of the words after a command that are no flags. nil is no agent that hookd knows.
func named(words []string, command string) (agent *dialect.Agent, event string) {
	words = words[slices.Index(words, command)+1:]
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, "-"):
		case agent == nil:
			if agent = hosts.Find(word); agent == nil {
				return nil, ""
			}
		case agent.Row(word) != nil:
			return agent, word
		}
	}
	return agent, ""
}
