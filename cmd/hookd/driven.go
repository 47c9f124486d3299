//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
)

// runDriven is hookd run --json without a prompt: a program writes a JSON object
// a line to stdin, and reads one a line from stdout. See docs/run-json.md. The
// exit code is that of the last turn.
func (a *app) runDriven(ctx context.Context, flags *runFlags) error {
	late := a.forProgram()
	d := &driven{out: &drivenLines{lines: runLines{a.console.Out}}, asked: map[string]chan agentloop.Answer{}}
	c, err := a.converse(ctx, flags, d, late)
	if err != nil {
		return err
	}
	d.c = c
	if err := d.out.line(sessionOpened{"session", c.session.ID(), c.session.Path(), c.engine.Project(), model.Origin(c.model), len(c.loop.Messages())}); err != nil {
		return errors.Join(cli.Failed("output", err, ""), c.session.Close())
	}
	d.drive(ctx, a.console.In)
	if err := c.end(ctx, nil, d.out); err != nil {
		return cli.Failed("session", err, "")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(d.exit, errAborted) {
		return cli.ExitCode(cli.ExitFailed)
	}
	return d.exit
}

// driven is a conversation with a program.
type driven struct {
	c   *conversation
	out *drivenLines

	mu    sync.Mutex
	asked map[string]chan agentloop.Answer // the open questions
	abort context.CancelCauseFunc          // of the turn that runs
	queue []agentloop.Prompt               // what waits for its end
	turns sync.WaitGroup
	ended bool // the input has
	exit  error
}

// drive obeys the input until it ends; what was asked for before is still done.
func (d *driven) drive(ctx context.Context, in io.Reader) {
	lines := make(chan drivenLine)
	go readDriven(in, lines) // a read of stdin cannot be taken back
	for {
		select {
		case <-ctx.Done():
			d.turns.Wait()
			return
		case line, open := <-lines:
			if !open {
				d.hangUp()
				d.turns.Wait()
				return
			}
			if fault := d.obey(ctx, line); fault != nil {
				d.out.line(errorLine{"error", fault.Code, fault.Message, fault.Hint, line.number})
			}
		}
	}
}

// obey carries out a line of input. A fault says why it does nothing.
func (d *driven) obey(ctx context.Context, line drivenLine) *cli.Fault {
	if line.err != nil {
		return cli.Usage("bad-input", fmt.Sprintf("line %d cannot be read: %v", line.number, line.err), "")
	}
	input, fault := decodeDriven(line.text)
	switch {
	case fault != nil:
		return fault
	case input.Prompt != nil:
		d.prompt(ctx, agentloop.Prompt{Text: *input.Prompt, Attachments: input.Attachments})
		return nil
	case input.Abort:
		return d.abortTurn()
	default:
		return d.answer(input.Answer)
	}
}

// prompt begins a turn, or has it wait for the one that runs.
func (d *driven) prompt(ctx context.Context, prompt agentloop.Prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.abort != nil {
		prompt.Source = "follow-up"
		d.queue = append(d.queue, prompt)
		return
	}
	turn, abort := context.WithCancelCause(ctx)
	d.abort = abort
	d.turns.Go(func() {
		for next := &prompt; next != nil; {
			d.turn(turn, *next)
			turn, next = d.next(ctx)
		}
	})
}

// next is the prompt that waits longest, and the context of its turn.
func (d *driven) next(ctx context.Context) (context.Context, *agentloop.Prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abort(nil)
	d.abort = nil
	if len(d.queue) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	next := d.queue[0]
	d.queue = d.queue[1:]
	turn, abort := context.WithCancelCause(ctx)
	d.abort = abort
	return turn, &next
}

func (d *driven) turn(ctx context.Context, prompt agentloop.Prompt) {
	run, err := d.c.loop.RunPrompt(ctx, prompt)
	if err != nil {
		d.exit = cli.ExitCode(cli.ExitFailed)
		d.out.line(resultLine{Kind: "result", Error: err.Error()})
		return
	}
	for y := range run.Events() {
		d.out.see(y) // an output that is gone ends the command by itself
	}
	err = run.Wait()
	if d.waits() {
		if y, told := d.c.loop.Idle(context.WithoutCancel(ctx), run.Result()); told {
			d.out.see(y)
		}
	}
	d.exit = runExit(ctx, run.Result(), err)
	d.out.mu.Lock()
	defer d.out.mu.Unlock()
	d.out.lines.end(run.Result(), err)
}

// waits reports whether nothing is to be done after this turn.
func (d *driven) waits() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue) == 0 && !d.ended
}

// abortTurn ends the turn that runs, and what waits for it.
func (d *driven) abortTurn() *cli.Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = nil
	if d.abort == nil {
		return cli.Usage("not-running", "no turn runs", "")
	}
	d.abort(errAborted)
	return nil
}
