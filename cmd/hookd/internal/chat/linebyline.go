package chat

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// plainChat is a conversation line by line: for terminals that can do no more,
// and output that goes elsewhere.
type plainChat struct {
	c        *conversation.Conversation
	commands *chatCommands
	lines    *terminal.Lines
	abort    atomic.Pointer[context.CancelCauseFunc] // of the turn that runs
	armed    atomic.Int64                            // when an interrupt came last, Unix nanoseconds
	view     *runview.View
}

// runPlain is the conversation without a terminal that can be drawn on. What is
// asked goes to stderr, what is answered to stdout.
func runPlain(ctx context.Context, hooks *engine.Opener, flags *conversation.Flags) error {
	console := hooks.Console
	lines := console.Lines()
	c, err := conversation.Open(ctx, hooks, flags, question.NewLineByLine(console.Err, lines), nil)
	if err != nil {
		return err
	}
	ctx, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	ask := question.NewLineByLine(console.Err, lines)
	p := &plainChat{c: c, commands: &chatCommands{c: c, tell: func(text string) { console.Out.Raw(text + "\n") }, ask: ask.Approve}, lines: lines, view: runview.New(console.Out)}
	p.view.Echoed = true
	defer hooks.Signals.TakeInterrupts(func() { p.interrupt(quit) })()
	err = p.talk(ctx)
	ended := c.End(ctx, nil, p.view)
	if cause := context.Cause(ctx); errors.Is(cause, signals.ErrInterrupted) && err == nil {
		err = cause
	}
	return errors.Join(err, ended)
}

// interrupt aborts the turn; the second one, or one between turns, ends hookd.
func (p *plainChat) interrupt(quit context.CancelCauseFunc) {
	now := time.Now().UnixNano()
	again := now-p.armed.Swap(now) < int64(againWithin)
	abort := p.abort.Load()
	switch {
	case again:
		quit(conversation.ErrAborted)
	case abort != nil:
		(*abort)(conversation.ErrAborted)
	default:
		p.c.Hooks.Console.Err.Print("\nagain within %d s to end hookd\n› ", int(againWithin.Seconds()))
	}
}

func (p *plainChat) talk(ctx context.Context) error {
	for {
		p.c.Hooks.Console.Err.Print("› ")
		line, open, err := p.lines.Next(ctx)
		if err != nil || !open {
			p.c.Hooks.Console.Err.Print("\n")
			return nil
		}
		quit, err := p.line(ctx, strings.TrimSpace(line))
		if quit || err != nil {
			return err
		}
	}
}

// line is a line that the person typed: a command or a prompt.
func (p *plainChat) line(ctx context.Context, text string) (quit bool, err error) {
	name, args, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	if strings.HasPrefix(text, "/") {
		switch name {
		case "quit", "exit":
			return true, nil
		case "hooks", "help", "model", "sessions", "trust":
			answer := p.commands.answer(ctx, commandEffect{name, strings.TrimSpace(args)}, p.c.Hooks.Console.Out.Width, p.c.Hooks.Console.Out.Color)
			p.c.Hooks.Console.Out.Raw(answer + "\n")
			return false, nil
		case "compact":
			return false, p.turn(ctx, p.commands.starts(commandEffect{name, strings.TrimSpace(args)}))
		}
		if near := nearCommand(name); near != "" {
			p.c.Hooks.Console.Err.Print("there is no /%s; did you mean /%s?\n", show.Line(name), near)
			return false, nil
		}
	}
	if text == "" {
		return false, nil
	}
	return false, p.turn(ctx, func(ctx context.Context) (*agentloop.Run, error) { return p.c.Loop.Run(ctx, text) })
}

// turn works on a prompt until it has ended. Only output that cannot be written
// is an error.
func (p *plainChat) turn(ctx context.Context, start func(context.Context) (*agentloop.Run, error)) error {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	p.abort.Store(&abort)
	defer p.abort.Store(nil)
	run, err := start(ctx)
	if err != nil {
		p.c.Hooks.Console.Err.Print("%s %s\n", p.c.Hooks.Console.Err.In(show.Bad, "✗"), show.OneLine(err.Error()))
		return nil
	}
	p.view.Begin(time.Now())
	_, unseen := p.c.Watch(run, p.view)
	p.view.End(run.Result())
	p.c.Loop.Idle(context.WithoutCancel(ctx), run.Result())
	return unseen
}
