package hookcmd

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/shellhook"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/schema"
)

// Get returns hookd get.
func (cmd *Commands) Get() *cobra.Command {
	return &cobra.Command{
		Use:   "get NAME...",
		Short: "Print values of the event on stdin, for hooks in a shell",
		Long: `Print values of the event on stdin, for hooks in a shell.

  command=$("$HOOKD" get data.args.command) || exit 1

One NAME prints its value. Several print an assignment for each, quoted for a
shell; the variable has the name of the last member, or the one before a "=":

  values=$("$HOOKD" get data.args.command host=agent.host) || exit 1
  eval "$values"

NAME is a path of members (data.calls.0.name) or a JSON Pointer. The content of a
result or message (data.result.content) is all its text. A value that is missing,
null, another list or an object, or that holds a NUL, ends it with code 1 and
without output; after NAME? a missing one is empty. Keep the assignment and its
"|| exit 1" on one line: that is what refuses when a value cannot be read.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, names []string) error {
			return asShellFault(shellhook.Get(names, cmd.Console.In, mustBeRead{to: os.Stdout}), "get")
		},
	}
}

// Reply returns hookd reply.
func (cmd *Commands) Reply() *cobra.Command {
	answer := &shellhook.Answer{}
	c := &cobra.Command{
		Use:   "reply ACTION [TEXT]",
		Short: "Print the reply of a hook, made of any text",
		Long: `Print a hook's reply, made of any text.

  "$HOOKD" reply block --reason "no: $command"
  printf '%s\n' "$output" | tail -n 30 | "$HOOKD" reply block

ACTION is block, stop, ask, continue, modify, allow or observe. TEXT is the
reason, as --reason is. Without either, block, stop, ask and continue read it
from stdin where it is no terminal, and not in a resident hook, whose next event
comes there. A text that is - is on stdin. Bytes that are no UTF-8 become U+FFFD;
of a text that is too long the end stays.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			answer.Action = args[0]
			if len(args) == 2 {
				if answer.Reason != "" {
					return cli.Usage("usage", "the reason is given twice", "give TEXT or --reason")
				}
				answer.Reason = args[1]
			}
			answer.Stdin = cmd.Console.In
			answer.Piped = !terminal.IsTerminal(cmd.Console.In) && os.Getenv(hookenv.VarMode) != string(schema.Resident)
			return asShellFault(answer.Write(mustBeRead{to: os.Stdout}), "reply")
		},
	}
	c.Flags().StringVar(&answer.Reason, "reason", "", "`TEXT` that the model and the person read")
	c.Flags().StringVar(&answer.Context, "context", "", "`TEXT` for the model")
	c.Flags().StringVar(&answer.Notice, "notice", "", "`TEXT` for the person")
	c.Flags().StringArrayVar(&answer.Set, "set", nil, "`NAME=TEXT` that modify, ask or continue change, as data.args.command=ls")
	c.Flags().StringVar(&answer.ID, "id", "", "`ID` of the event, for standby and resident hooks")
	return c
}

// mustBeRead is a stdout that what is written must reach: a guard whose value or reply
// is lost has to fail.
type mustBeRead struct{ to *os.File }

func (m mustBeRead) Write(text []byte) (int, error) {
	if terminal.IsClosed(m.to) {
		return 0, errors.New("stdout is closed")
	}
	return m.to.Write(text)
}

func asShellFault(err error, code string) error {
	if wrong, isUsage := errors.AsType[*shellhook.UsageError](err); isUsage {
		return cli.Usage("usage", wrong.Message, wrong.Hint)
	}
	if err != nil {
		return cli.Failed(code, err, "")
	}
	return nil
}
