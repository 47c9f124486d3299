package conversation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hookd-dev/hookd/agentloop/mcp"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/executor/process"
)

// containedRunner runs the commands of the loop's own tools as hooks are run:
// contained, and ended with everything they started, even if hookd is killed.
type containedRunner struct{ runtime *process.Runtime }

func (r containedRunner) Run(ctx context.Context, command tool.Command, out io.Writer) (tool.Ended, error) {
	path, err := tool.LookPath(command.Argv[0], command.Env)
	if err != nil {
		return tool.Ended{}, err
	}
	result := r.runtime.Run(ctx, &process.Command{
		Path: path, Argv: command.Argv, Dir: command.Dir, Env: command.Env,
		Merge: true, StdoutTail: 1, // what is kept is out's to say
		Stream: func(piece []byte) { out.Write(piece) },
	})
	return tool.Ended{Exit: result.ExitCode, Signal: result.Signal, Left: result.Left}, result.Err
}

// containedStart starts the program of a server as hooks are started: contained,
// and ended with everything it started, even if hookd is killed.
func containedStart(runtime *process.Runtime) func(context.Context, mcp.Program) (*mcp.Process, error) {
	return func(ctx context.Context, p mcp.Program) (*mcp.Process, error) {
		// A name is never looked for in the working directory: a project that nobody allowed
		// may hold a program of that name.
		path, err := tool.LookPath(p.Argv[0], p.Env)
		if err != nil {
			return nil, err
		}
		child, err := runtime.Start(ctx, &process.Command{Path: path, Argv: p.Argv, Dir: p.Dir, Env: p.Env})
		if err != nil {
			return nil, err
		}
		return &mcp.Process{In: child.Stdin, Out: child.Stdout, Done: child.Done(), End: func(patience time.Duration) mcp.Ending {
			return endingOf(child.End(patience))
		}}, nil
	}
}

func endingOf(r process.Result) mcp.Ending {
	ending := mcp.Ending{Text: fmt.Sprintf("exit code %d", r.ExitCode), Stderr: string(r.Stderr), Left: r.Left.String()}
	var unstarted *process.StartError
	switch {
	case errors.As(r.Err, &unstarted):
		ending.Text = unstarted.Error()
	case r.Err != nil:
		ending.Text = "it was ended"
	case r.Signal != "":
		ending.Text = "ended by " + r.Signal
	}
	return ending
}
