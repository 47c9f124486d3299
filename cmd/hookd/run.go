package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func newRun(a *app) *cobra.Command {
	var choice modelChoice
	var system string
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "run the agent loop on a prompt, with your hooks in it",
		Long: `Run the agent loop on a prompt (or on what stdin holds), with your hooks in it.

The models anthropic:NAME and openai:NAME need a key in ANTHROPIC_API_KEY or
OPENAI_API_KEY; with the setting agent.baseUrl, openai:NAME is a model of Ollama,
llama.cpp, vLLM or another server with that interface. The model scripted:FILE
plays the turns of a YAML file; see examples/project/agent.yaml. With --record a
run's model traffic is kept in a file, from which replay:FILE plays it back
offline. Exit code 2 says that hooks refused or stopped the run, 1 that it
failed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			prompt, err := a.prompt(args)
			if err != nil {
				return err
			}
			return a.run(c.Context(), prompt, choice, system)
		},
	}
	choice.flags(c)
	c.Flags().StringVar(&system, "system", "You are a careful software engineer at work in the user's project.", "system text `TEXT`")
	a.jsonFlag(c)
	return c
}

// prompt is the argument, or all of stdin where it is not a terminal.
func (a *app) prompt(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	if isTerminal(a.stdin) {
		return "", usage("usage", "no prompt", `hookd run "what to do"`)
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, 16<<20))
	if err != nil {
		return "", failed("read", fmt.Errorf("read the prompt: %w", err), "")
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", usage("usage", "the prompt is empty", `hookd run "what to do"`)
	}
	return strings.TrimSpace(string(text)), nil
}

// watcher prints what a run yields.
type watcher interface {
	see(agentloop.Yield) error
}

func (a *app) run(ctx context.Context, prompt string, choice modelChoice, system string) error {
	engine, err := a.open(ctx, openOptions{longLived: true})
	if err != nil {
		return err
	}
	settings := engine.settings()
	m, err := a.chooseModel(choice, settings)
	if err != nil {
		return err
	}
	session, err := a.newSession(engine, m.Name())
	if err != nil {
		return err
	}
	defer session.Close()
	view := newRunView(a.out)
	var w watcher = view
	if a.json {
		w = runLines{a.out}
	}
	options, err := a.loopOptions(engine, settings, m, session, system)
	if err != nil {
		return err
	}
	loop, err := agentloop.New(options)
	if err != nil {
		return failed("run", err, "")
	}
	run, err := loop.Run(ctx, prompt)
	if err != nil {
		return failed("run", err, "")
	}
	for y := range run.Events() {
		engine.progress.Aside(func() { err = errors.Join(err, w.see(y)) })
	}
	ended := run.Wait()
	if err != nil {
		return failed("run", err, "")
	}
	reason := "exit"
	if ctx.Err() != nil {
		reason = "interrupted"
	} else if ended != nil {
		reason = "error"
	}
	if _, err := loop.Close(context.WithoutCancel(ctx), reason); err != nil && ended == nil {
		ended = err
	}
	if a.json {
		if err := (runLines{a.out}).end(run.Result(), ended); err != nil {
			return err
		}
	} else {
		view.end(run.Result())
	}
	return runExit(ctx, run.Result(), ended)
}

// runExit turns the end of a run into an exit code. What went wrong was printed
// as the event agent-error already.
func runExit(ctx context.Context, result agentloop.Result, ended error) error {
	var refusal *agentloop.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(ended, &refusal) && refusal.Cause == "blocked", ended == nil && result.StopReason == "hook":
		return exitCode(exitRefused)
	case ended != nil:
		return exitCode(exitFailed)
	}
	return nil
}

func (a *app) loopOptions(engine *engine, settings *schema.Settings, m model.Model, session *store.Session, system string) (agentloop.Options, error) {
	features, err := providers(&featureInput{settings, engine.root})
	if err != nil {
		return agentloop.Options{}, err
	}
	root := engine.root
	refused := []string{engine.stateDir}
	if home, err := os.UserHomeDir(); err == nil {
		refused = append(refused, filepath.Join(home, ".acai"))
	}
	bash := tool.BashOptions{
		Project: root, Timeout: settings.Agent.Tools.Bash.Timeout, Output: settings.Agent.Tools.Bash.Output,
		// The very list that hooks get (protocol, section 2). It carries the mark of
		// an agent run: nothing that the agent starts can grant trust, and an agent
		// in an agent is counted.
		Env:    executor.AllowedEnv(executor.EnvConfig{Environ: os.Environ(), Project: root, Names: settings.Agent.Tools.Env}),
		Runner: containedRunner{a.processes}, // open made it
	}
	hooks := settings.Hooks
	return agentloop.Options{
		Gate:      engine,
		Model:     m,
		Tools:     append(tool.Files(tool.Folder{Project: root, Refused: refused}), tool.Bash(bash)),
		Session:   session,
		System:    system,
		Providers: features,
		Project:   engine.project(),
		Cwd:       root,
		Agent:     protocol.Agent{ID: "main", Depth: executor.ProcessDepth(), Host: "hookd"},
		Compaction: protocol.Compaction{
			Auto: settings.Agent.Compaction.Auto, Threshold: settings.Agent.Compaction.Threshold,
		},
		Approver:        a.approver(),
		ApprovalTimeout: settings.Agent.Approval.Timeout,
		Limits: agentloop.Limits{
			ToolCalls: settings.Agent.Limits.ToolCalls,
			Forced:    hooks.MaxForced, ForcedTotal: hooks.MaxForcedTotal,
		},
		OnToolBlock: hooks.OnToolBlock,
	}, nil
}

// newSession begins the file that keeps the conversation.
func (a *app) newSession(engine *engine, modelName string) (*store.Session, error) {
	session, err := store.Create(filepath.Join(engine.stateDir, "conversations"), "", store.Header{Project: engine.project(), Model: modelName})
	if err != nil {
		return nil, failed("session", err, "hookd keeps sessions in $XDG_STATE_HOME/hookd; it must be writable")
	}
	return session, nil
}

func (l runLines) end(result agentloop.Result, ended error) error {
	line := resultLine{Kind: "result", Response: result.Response, StopReason: result.StopReason, Continued: result.Continued, Usage: result.Usage}
	if ended != nil {
		line.Error = ended.Error()
	}
	return l.line(line)
}
