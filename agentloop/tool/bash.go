package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// BashOptions are the settings of [Bash].
type BashOptions struct {
	Project string        // absolute path: the working directory
	Env     []string      // the whole environment; nil: [Env] of ours
	Timeout time.Duration // of one command; 0: 120 s
	Output  int64         // bytes kept, half from the head, half from the tail; 0: 32 KiB
	Runner  Runner        // nil: [Sessions]
}

type bashArgs struct {
	Command string `json:"command" jsonschema:"the command line, run by bash -c in the project folder"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"seconds after which the command is ended; at most the configured limit"`
}

// Bash is the tool that runs a shell command. It starts in the project folder
// but is not confined to it: a shell command can reach whatever the user can.
// Hooks at tool-call-start are what limits it.
func Bash(o BashOptions) Tool {
	o.Timeout = cmp.Or(o.Timeout, 120*time.Second)
	o.Output = cmp.Or(o.Output, 32<<10)
	if o.Env == nil {
		o.Env = Env(os.Environ(), o.Project)
	}
	if o.Runner == nil {
		o.Runner = Sessions{}
	}
	description := fmt.Sprintf("Runs a command line with bash in the project folder and returns its output and exit code. "+
		"It is ended after %s with everything it started. What it leaves in the background is ended when it ends, and the result says so: start a server and use it in one command. There is no terminal and no input.", o.Timeout)
	return New(Description{Name: "bash", Description: description, Kind: protocol.KindShell}, o.run)
}

func (o BashOptions) run(ctx context.Context, args bashArgs) (protocol.Result, error) {
	limit := o.Timeout
	if args.Timeout > 0 && args.Timeout < int(limit/time.Second) {
		limit = time.Duration(args.Timeout) * time.Second
	}
	timedOut := &Error{Kind: protocol.CallTimeout}
	limited, cancel := context.WithTimeoutCause(ctx, limit, timedOut)
	defer cancel()

	output := newClip(o.Output)
	ended, err := o.Runner.Run(limited, Command{Argv: []string{"bash", "-c", args.Command}, Dir: o.Project, Env: o.Env}, io.MultiWriter(output, showing(ctx)))
	switch {
	case errors.Is(err, timedOut):
		return protocol.Result{}, &Error{protocol.CallTimeout, withOutput(fmt.Sprintf("timed out after %s", limit), output)}
	case err != nil && output.total > 0 && ctx.Err() == nil: // it broke off
		return protocol.Result{}, &Error{protocol.CallFailed, withOutput(err.Error(), output)}
	case err != nil:
		return protocol.Result{}, err
	}
	text := output.String()
	switch {
	case ended.Signal != "":
		text = withOutput("ended by "+ended.Signal, output)
	case text == "":
		text = fmt.Sprintf("no output, exit code %d", ended.Exit) // models refuse empty results
	}
	result := protocol.Result{Content: protocol.TextContent(text), IsError: ended.Exit != 0, ExitCode: &ended.Exit, Left: ended.Left}
	if len(ended.Left) > 0 {
		result.Content = append(result.Content, protocol.TextContent("\n"+leftText(ended.Left))...)
	}
	return result, nil
}

// leftText tells the model that what it started in the background is gone.
func leftText(left []string) string {
	const most = 5
	names := slices.Compact(slices.Sorted(slices.Values(left)))
	if len(names) > most {
		names = append(names[:most], "…")
	}
	subject := fmt.Sprintf("%d processes that the command left running were", len(left))
	if len(left) == 1 {
		subject = "1 process that the command left running was"
	}
	return fmt.Sprintf("[%s ended with it: %s. Nothing goes on after a command: start a program and use it in one and the same command. "+
		"A program for the whole session is an MCP server, which the user can add to agent.mcpServers.]", subject, strings.Join(names, ", "))
}

func withOutput(text string, output *clip) string {
	if output.total == 0 {
		return text
	}
	return text + "; output so far:\n" + output.String()
}
