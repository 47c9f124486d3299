package conversation

import (
	"context"
	"io"

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
