package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/chat"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/jsonsession"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/sessionscmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// command is hookd run.
type command struct {
	opener  *engine.Opener
	console *cli.Console
}

func (cmd *command) new() *cobra.Command {
	flags := &conversation.Flags{}
	var pairs []string
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Run the agent loop on a prompt, or in a conversation, with your hooks in it",
		Long: `Run the agent loop on a prompt (or on what stdin holds), with your hooks in it.
On a terminal and without a prompt it is a conversation; /help lists its commands.
With --json and without a prompt, stdin carries prompts: one JSON object a line.

The models anthropic:NAME and openai:NAME need a key in ANTHROPIC_API_KEY or
OPENAI_API_KEY; with the setting agent.baseUrl, openai:NAME is a model of Ollama,
llama.cpp, vLLM or another server with that interface. The model scripted:FILE
plays the turns of a YAML file; hookd examples writes some. With --record a
run's model traffic is kept in a file, from which replay:FILE plays it back
offline. Commands (bash), writes and tools of MCP servers ask before they run. Where
nobody can be asked they are refused, unless --allow or the setting
agent.approval.tools names them. Exit code 2 means that hooks refused or stopped
the run, 1 that it failed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if flags.Args, err = recipeArgs(pairs); err != nil {
				return err
			}
			return cmd.runHow(c.Context(), flags, args)
		},
	}
	flags.Model.AddFlags(c)
	c.Flags().StringVar(&flags.System, "system", conversation.System, "system text `TEXT`")
	c.Flags().BoolVar(&flags.Follow, "continue", false, "go on with the session of this project that was used last")
	c.Flags().BoolVar(&flags.Follow, "follow", false, "the same as --continue, for recipes")
	cli.NameFlag(c.Flags(), &flags.Resume, "resume", "", "go on with session `ID`, or the one whose ID begins so")
	cli.NameFlag(c.Flags(), &flags.Recipe, "recipe", "r", "run the recipe `NAME` instead of a prompt")
	c.Flags().StringArrayVar(&pairs, "arg", nil, "an argument of the recipe, `KEY=VALUE`; may be given several times")
	c.Flags().Var(&flags.Allow, "allow", "let `TOOLS` run without asking, by name, kind or glob: bash,write. Hooks still decide")
	cli.NameFlag(c.Flags(), &flags.Schema, "schema", "", "hold the final answer to the JSON Schema in `FILE`; after two further tries the run is stopped")
	cli.Exclusive(c, "continue", "resume")
	cli.Exclusive(c, "follow", "resume")
	_ = c.RegisterFlagCompletionFunc("resume", sessionscmd.Complete)
	cmd.console.JSONFlag(c)
	return c
}

func recipeArgs(pairs []string) (map[string]string, error) {
	args := map[string]string{}
	for _, pair := range pairs {
		key, value, given := strings.Cut(pair, "=")
		if !given || key == "" {
			return nil, cli.Usage("usage", "--arg "+pair+" is not KEY=VALUE", "--arg path=README.md")
		}
		args[key] = value
	}
	return args, nil
}

// runHow finds out which kind of run is meant.
func (cmd *command) runHow(ctx context.Context, flags *conversation.Flags, args []string) error {
	switch {
	case flags.Recipe != "" && len(args) > 0:
		return cli.Usage("usage", "a recipe takes no prompt", "--arg KEY=VALUE gives it arguments")
	case flags.Recipe != "":
		return cmd.runOnce(ctx, flags, "")
	case len(args) == 0 && cmd.console.JSON:
		return jsonsession.Run(ctx, cmd.opener, flags)
	case len(args) == 0 && terminal.IsTerminal(cmd.console.In):
		return chat.Run(ctx, cmd.opener, flags)
	}
	prompt, err := cmd.prompt(args)
	if err != nil {
		return err
	}
	return cmd.runOnce(ctx, flags, prompt)
}

// prompt returns the argument, or all of stdin.
func (cmd *command) prompt(args []string) (string, error) {
	if len(args) == 1 {
		if strings.TrimSpace(args[0]) == "" {
			return "", emptyPrompt()
		}
		return args[0], nil
	}
	text, err := io.ReadAll(io.LimitReader(cmd.console.In, 16<<20))
	if err != nil {
		return "", cli.Failed("read", fmt.Errorf("read the prompt: %w", err), "")
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", emptyPrompt()
	}
	return strings.TrimSpace(string(text)), nil
}

func emptyPrompt() error { return cli.Usage("usage", "the prompt is empty", `hookd run "what to do"`) }

// runOnce works on one prompt or recipe.
func (cmd *command) runOnce(ctx context.Context, flags *conversation.Flags, prompt string) error {
	var late engine.Late
	if cmd.console.JSON {
		late = runview.ForProgram(cmd.console)
	}
	c, err := conversation.Open(ctx, cmd.opener, flags, question.AtTerminal(cmd.console), late)
	if err != nil {
		return err
	}
	run, err := c.Begin(ctx, flags, agentloop.Prompt{Text: prompt})
	if err != nil {
		return errors.Join(err, c.Session.Close())
	}
	view := runview.NewTextPrinter(cmd.console.Out, runview.Options{})
	var w conversation.Printer = view
	if cmd.console.JSON {
		w = runview.NewJSONPrinter(cmd.console.Out)
	}
	ended, unseen := c.Watch(run, w)
	ended = c.End(ctx, ended, w)
	if unseen != nil {
		return cli.Failed("run", unseen, "")
	}
	if cmd.console.JSON {
		if err := c.Engine.Close(ctx); err != nil { // observers have lines, too, and this one is the last
			cmd.console.Note(show.OneLine(err.Error()), "")
		}
		if err := runview.NewJSONPrinter(cmd.console.Out).End(run.Result(), ended); err != nil {
			return err
		}
	} else {
		view.End(run.Result())
		view.ReportEnd(ended)
	}
	err = conversation.Exit(ctx, run.Result(), ended)
	if reason := run.Result().StopReason; err == nil && flags.Schema != "" && reason != "done" && reason != "length" {
		return cli.ExitCode(cli.ExitRefused) // no answer was held to the schema
	}
	return err
}
