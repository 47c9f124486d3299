package acpterminal

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// Options are what a [Runner] needs of the connection to the editor.
type Options struct {
	Peer    *peer.Peer
	Life    context.Context // of the connection
	Go      func(func())    // runs what may outlive a command; the connection's end waits for it
	Session func() string   // the id of the session

	// Embed puts a terminal into a tool call of an agent, for the person.
	Embed func(ctx context.Context, agent, call, terminal string)

	// Note tells the person once why commands are not shown in terminals.
	Note func(text string)
}

// Runner runs commands as another Runner does, and has the editor show each in a terminal. A
// command is not shown there while it runs if hooks may still withhold or change its result.
type Runner struct {
	local   tool.Runner
	options Options
	off     atomic.Bool // no terminal came for a command of this session
	untold  atomic.Bool // the editor did not say that what ran in a terminal had ended
}

// Works reports whether a screen can be known on this system: who is at the other end of a socket
// must be told.
func Works() bool { return runtime.GOOS == "linux" || runtime.GOOS == "darwin" }

// New returns a runner of commands.
func New(local tool.Runner, options Options) *Runner { return &Runner{local: local, options: options} }

// errClosed is why a command ends whose terminal is gone.
var errClosed = &tool.Error{Kind: protocol.CallFailed, Text: "the person ended it: its terminal in the editor was closed"}

// Run runs a command to its end.
func (r *Runner) Run(ctx context.Context, command tool.Command, out io.Writer) (tool.Ended, error) {
	if r.off.Load() || !tool.IsShown(ctx) {
		return r.local.Run(ctx, command, out)
	}
	t, err := r.open(ctx, command.Dir)
	switch {
	case err != nil && ctx.Err() != nil:
		return tool.Ended{}, context.Cause(ctx)
	case err != nil:
		r.goOnWithout(err)
		return r.local.Run(ctx, command, out)
	}
	r.options.Embed(ctx, tool.AgentID(ctx), tool.CallID(ctx), t.id)
	ended, err := r.runShown(ctx, t.screen, command, out)
	r.end(ctx, t)
	return ended, err
}

// goOnWithout notes that no terminal came. No further one is waited for.
func (r *Runner) goOnWithout(err error) {
	if r.off.Swap(true) || r.options.Life.Err() != nil || errors.Is(err, peer.ErrEnded) {
		return
	}
	r.options.Note("commands are not shown in terminals of the editor: " + err.Error() + ". They run all the same; hookd acp --terminal=false does not try")
}

// runShown runs a command and shows its output on a screen. The end of the screen ends it.
func (r *Runner) runShown(ctx context.Context, s *screen, command tool.Command, out io.Writer) (tool.Ended, error) {
	working, cancel := context.WithCancelCause(ctx)
	hurried := make(chan struct{})
	stop := context.AfterFunc(working, func() {
		defer close(hurried)
		s.hurry()
	})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.closed:
			cancel(errClosed)
		case <-working.Done():
		}
	}()
	_, _ = s.Write([]byte("$ " + commandLine(command.Argv) + "\n"))
	ended, err := r.local.Run(working, command, io.MultiWriter(out, s))
	if !stop() {
		<-hurried
	}
	s.end(endingOf(ended, err))
	cancel(nil)
	<-watched
	return ended, err
}

// commandLine is a command as a person reads it.
func commandLine(argv []string) string {
	line := strings.Join(argv, " ")
	if len(argv) == 3 && argv[1] == "-c" { // of a shell
		line = argv[2]
	}
	return show.Visible(line)
}

func endingOf(ended tool.Ended, err error) ending {
	failure, isTool := errors.AsType[*tool.Error](err)
	switch {
	case isTool && failure.Kind == protocol.CallTimeout:
		return ending{1, "ended: it took too long"}
	case errors.Is(err, context.Canceled):
		return ending{1, "ended"}
	case err != nil:
		return ending{1, "ended: " + err.Error()}
	case ended.Signal != "":
		return ending{1, "ended by " + ended.Signal}
	case len(ended.Left) > 0:
		return ending{ended.Exit, "what it left running was ended with it: " + strings.Join(ended.Left, ", ")}
	}
	return ending{Exit: ended.Exit}
}
