//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func newRun(a *app) *cobra.Command {
	flags := &runFlags{}
	var pairs []string
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "run the agent loop on a prompt, or in a conversation, with your hooks in it",
		Long: `Run the agent loop on a prompt (or on what stdin holds), with your hooks in it.
On a terminal and without a prompt it is a conversation; /help says what it knows.
With --json and without a prompt, stdin carries prompts: one JSON object a line.

The models anthropic:NAME and openai:NAME need a key in ANTHROPIC_API_KEY or
OPENAI_API_KEY; with the setting agent.baseUrl, openai:NAME is a model of Ollama,
llama.cpp, vLLM or another server with that interface. The model scripted:FILE
plays the turns of a YAML file; hookd examples writes some. With --record a
run's model traffic is kept in a file, from which replay:FILE plays it back
offline. Commands (bash), writes and tools of MCP servers ask before they run; where
nobody can be asked they are refused, unless --allow or the setting
agent.approval.tools names them. Exit code 2 says that hooks refused or stopped the run, 1 that it
failed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if flags.args, err = recipeArgs(pairs); err != nil {
				return err
			}
			return a.runHow(c.Context(), flags, args)
		},
	}
	flags.model.flags(c)
	c.Flags().StringVar(&flags.system, "system", "You are a careful software engineer at work in the user's project.", "system text `TEXT`")
	c.Flags().BoolVar(&flags.follow, "continue", false, "go on with the session of this project that was used last")
	c.Flags().BoolVar(&flags.follow, "follow", false, "the same as --continue, for recipes")
	cli.NameFlag(c.Flags(), &flags.resume, "resume", "", "go on with session `ID`, or the one whose ID begins so")
	cli.NameFlag(c.Flags(), &flags.recipe, "recipe", "r", "run the recipe `NAME` instead of a prompt")
	c.Flags().StringArrayVar(&pairs, "arg", nil, "an argument of the recipe, `KEY=VALUE`; may be given several times")
	c.Flags().Var(&flags.allow, "allow", "let `TOOLS` run without asking, by name, kind or glob: bash,write. Hooks still decide")
	cli.NameFlag(c.Flags(), &flags.schema, "schema", "", "hold the final answer to the JSON Schema in `FILE`; after two further tries the run is stopped")
	cli.Exclusive(c, "continue", "resume")
	cli.Exclusive(c, "follow", "resume")
	_ = c.RegisterFlagCompletionFunc("resume", a.completeSessions)
	a.console.JSONFlag(c)
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
func (a *app) runHow(ctx context.Context, flags *runFlags, args []string) error {
	switch {
	case flags.recipe != "" && len(args) > 0:
		return cli.Usage("usage", "a recipe takes no prompt", "--arg KEY=VALUE gives it arguments")
	case flags.recipe != "":
		return a.runOnce(ctx, flags, "")
	case len(args) == 0 && a.console.JSON:
		return a.runDriven(ctx, flags)
	case len(args) == 0 && terminal.IsTerminal(a.console.In):
		return a.runInteractive(ctx, flags)
	}
	prompt, err := a.prompt(args)
	if err != nil {
		return err
	}
	return a.runOnce(ctx, flags, prompt)
}

// prompt is the argument, or all of stdin.
func (a *app) prompt(args []string) (string, error) {
	if len(args) == 1 {
		if strings.TrimSpace(args[0]) == "" {
			return "", emptyPrompt()
		}
		return args[0], nil
	}
	text, err := io.ReadAll(io.LimitReader(a.console.In, 16<<20))
	if err != nil {
		return "", cli.Failed("read", fmt.Errorf("read the prompt: %w", err), "")
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", emptyPrompt()
	}
	return strings.TrimSpace(string(text)), nil
}

func emptyPrompt() error { return cli.Usage("usage", "the prompt is empty", `hookd run "what to do"`) }

// watcher prints what a run yields.
type watcher interface {
	see(agentloop.Yield) error
}

// runOnce works on one prompt or recipe.
func (a *app) runOnce(ctx context.Context, flags *runFlags, prompt string) error {
	var late engine.Late
	if a.console.JSON {
		late = a.forProgram()
	}
	c, err := a.converse(ctx, flags, a.approver(), late)
	if err != nil {
		return err
	}
	run, err := c.begin(ctx, flags, agentloop.Prompt{Text: prompt})
	if err != nil {
		return errors.Join(err, c.session.Close())
	}
	view := newRunView(a.console.Out)
	var w watcher = view
	if a.console.JSON {
		w = runLines{a.console.Out}
	}
	ended, unseen := c.watch(run, w)
	ended = c.end(ctx, ended, w)
	if unseen != nil {
		return cli.Failed("run", unseen, "")
	}
	if a.console.JSON {
		if err := c.engine.Close(ctx); err != nil { // observers have lines, too, and this one is the last
			a.console.Note(show.OneLine(err.Error()), "")
		}
		if err := (runLines{a.console.Out}).end(run.Result(), ended); err != nil {
			return err
		}
	} else {
		view.end(run.Result())
		view.untoldEnd(ended)
	}
	err = runExit(ctx, run.Result(), ended)
	if reason := run.Result().StopReason; err == nil && flags.schema != "" && reason != "done" && reason != "length" {
		return cli.ExitCode(cli.ExitRefused) // no answer was held to the schema
	}
	return err
}

// runExit turns the end of a run into an exit code. What went wrong was printed
// as the event agent-error already.
func runExit(ctx context.Context, result agentloop.Result, ended error) error {
	var refusal *agentloop.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(ended, &refusal) && (refusal.Cause == "blocked" || refusal.Cause == "failure"), ended == nil && result.StopReason == "hook":
		return cli.ExitCode(cli.ExitRefused)
	case ended != nil:
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// loopOptions are a loop as the settings have it. The settings are the caller's own
// copy: what of them has no effect is taken out.
func (a *app) loopOptions(e *engine.Engine, settings *schema.Settings, m model.Model, session *store.Session, flags *runFlags) (agentloop.Options, error) {
	answer, err := flags.answerSchema()
	if err != nil {
		return agentloop.Options{}, err
	}
	recipes := a.recipeLibrary(e)
	a.settleCompaction(recipes, settings)
	root := e.Root
	folder := fileToolsFolder(e)
	consent, err := a.consent(flags, settings)
	if err != nil {
		return agentloop.Options{}, err
	}
	features, err := providers(&featureInput{
		Settings: settings, root: root, guarded: []string{".acai", e.StateDir}, folder: folder, answer: answer, skills: skillsOf(e),
	})
	if err != nil {
		return agentloop.Options{}, err
	}
	bash := tool.BashOptions{
		Project: root, Timeout: settings.Agent.Tools.Bash.Timeout, Output: settings.Agent.Tools.Bash.Output,
		// The very list that hooks get (protocol, section 2). It carries the mark of
		// an agent run: nothing that the agent starts can grant trust, and an agent
		// in an agent is counted.
		Env:    hookenv.Allowed(hookenv.Config{Environ: os.Environ(), Project: root, Names: settings.Agent.Tools.Env}),
		Runner: containedRunner{a.processes.Runtime()}, // open made it
	}
	consent.own(features)
	var sources []tool.Source
	a.joinServers(e, a.mcpServers(e, settings), &sources, &features)
	hooks, compaction := settings.Hooks, settings.Agent.Compaction
	return agentloop.Options{
		Gate:      e.Executor(),
		Model:     m,
		Tools:     append(tool.Files(folder), tool.Bash(bash)),
		Sources:   sources,
		Session:   session,
		System:    flags.system,
		Providers: features, NoDefaults: true, // the settings say which there are
		Recipes: recipes,
		Project: e.Project(),
		Cwd:     root,
		Agent:   protocol.Agent{ID: "main", Depth: hookenv.ProcessDepth(), Host: "hookd"},
		Compaction: agentloop.Compaction{
			Compaction: protocol.Compaction{Auto: compaction.Auto, Threshold: compaction.Threshold},
			KeepFirst:  compaction.KeepFirst, KeepLast: compaction.KeepLast,
		},
		Consent:         agentloop.Consent{Asks: consent.asks, Remedy: consent.remedy},
		ApprovalTimeout: settings.Agent.Approval.Timeout,
		Limits: agentloop.Limits{
			ToolCalls: settings.Agent.Limits.ToolCalls,
			Forced:    noneIfZero(hooks.MaxForced), ForcedTotal: noneIfZero(hooks.MaxForcedTotal),
			ForcedOf: e.ForcedOf,
			Depth:    noneIfZero(settings.Agent.Subagents.Depth),
		},
		OnToolBlock: hooks.OnToolBlock,
	}, nil
}

// noneIfZero is a setting where 0 is none as the loop writes that: its own 0 is
// the default.
func noneIfZero(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (l runLines) end(result agentloop.Result, ended error) error {
	line := resultLine{Kind: "result", Response: result.Response, StopReason: result.StopReason, Continued: result.Continued, Usage: result.Usage}
	if ended != nil {
		line.Error = ended.Error()
	}
	return l.line(line)
}
