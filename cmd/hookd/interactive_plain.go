//go:build !lean

package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// plainChat is a conversation line by line: for terminals that can do no more,
// and output that goes elsewhere.
type plainChat struct {
	c        *conversation
	commands *chatCommands
	lines    *terminal.Lines
	abort    atomic.Pointer[context.CancelCauseFunc] // of the turn that runs
	armed    atomic.Int64                            // when an interrupt came last, Unix nanoseconds
	view     *runView
}

// runPlain is the conversation without a terminal that can be drawn on. What is
// asked goes to stderr, what is answered to stdout.
func (a *app) runPlain(ctx context.Context, flags *runFlags) error {
	lines := a.console.Lines()
	c, err := a.converse(ctx, flags, terminalApprover{a.console.Err, lines}, nil)
	if err != nil {
		return err
	}
	ctx, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	ask := terminalApprover{a.console.Err, lines}
	p := &plainChat{c: c, commands: &chatCommands{c: c, tell: func(text string) { a.console.Out.Raw(text + "\n") }, ask: ask.Approve}, lines: lines, view: newRunView(a.console.Out)}
	p.view.echoed = true
	defer a.signals.TakeInterrupts(func() { p.interrupt(quit) })()
	err = p.talk(ctx)
	ended := c.end(ctx, nil, p.view)
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
		quit(errAborted)
	case abort != nil:
		(*abort)(errAborted)
	default:
		p.c.a.console.Err.Print("\nagain within %d s to end hookd\n› ", int(againWithin.Seconds()))
	}
}

func (p *plainChat) talk(ctx context.Context) error {
	for {
		p.c.a.console.Err.Print("› ")
		line, open, err := p.lines.Next(ctx)
		if err != nil || !open {
			p.c.a.console.Err.Print("\n")
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
			answer := p.commands.answer(ctx, commandEffect{name, strings.TrimSpace(args)}, p.c.a.console.Out.Width, p.c.a.console.Out.Color)
			p.c.a.console.Out.Raw(answer + "\n")
			return false, nil
		case "compact":
			return false, p.turn(ctx, p.commands.starts(commandEffect{name, strings.TrimSpace(args)}))
		}
		if near := nearCommand(name); near != "" {
			p.c.a.console.Err.Print("there is no /%s; did you mean /%s?\n", show.Line(name), near)
			return false, nil
		}
	}
	if text == "" {
		return false, nil
	}
	return false, p.turn(ctx, func(ctx context.Context) (*agentloop.Run, error) { return p.c.loop.Run(ctx, text) })
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
		p.c.a.console.Err.Print("%s %s\n", p.c.a.console.Err.In(show.Bad, "✗"), show.OneLine(err.Error()))
		return nil
	}
	p.view.begin(time.Now())
	_, unseen := p.c.watch(run, p.view)
	p.view.end(run.Result())
	p.c.loop.Idle(context.WithoutCancel(ctx), run.Result())
	return unseen
}
