package jsonsession

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
)

// Run obeys a program that writes a JSON object on each line of stdin and reads one on each
// line of stdout. See docs/run-json.md. The exit code is that of the last turn.
func Run(ctx context.Context, hooks *engine.Opener, flags *conversation.Flags) error {
	console := hooks.Console
	late := runview.ForProgram(console)
	d := &session{out: &output{lines: runview.NewJSONPrinter(console.Out)}, asked: map[string]chan agentloop.Answer{}}
	c, err := conversation.Open(ctx, hooks, flags, d, late)
	if err != nil {
		return err
	}
	d.c = c
	if err := d.out.line(sessionOpened{"session", c.Session.ID(), c.Session.Path(), c.Engine.Project(), model.Origin(c.Model), len(c.Loop.Messages())}); err != nil {
		return errors.Join(cli.Failed("output", err, ""), c.Session.Close())
	}
	d.run(ctx, console.In)
	if err := c.End(ctx, nil, d.out); err != nil {
		return cli.Failed("session", err, "")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(d.exit, conversation.ErrAborted) {
		return cli.ExitCode(cli.ExitFailed)
	}
	return d.exit
}

// session is a conversation with a program.
type session struct {
	c   *conversation.Conversation
	out *output

	mu    sync.Mutex
	asked map[string]chan agentloop.Answer // the open questions
	abort context.CancelCauseFunc          // of the turn that runs
	queue []agentloop.Prompt               // what waits for its end
	turns sync.WaitGroup
	ended bool // the input has
	exit  error
}

// run obeys the input until it ends; what was asked for before is still done.
func (d *session) run(ctx context.Context, in io.Reader) {
	input := make(chan inputLine)
	go readInput(in, input) // a read of stdin cannot be taken back
	for {
		select {
		case <-ctx.Done():
			d.turns.Wait()
			return
		case line, open := <-input:
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
func (d *session) obey(ctx context.Context, line inputLine) *cli.Fault {
	if line.err != nil {
		return cli.Usage("bad-input", fmt.Sprintf("line %d cannot be read: %v", line.number, line.err), "")
	}
	input, fault := decodeInput(line.text)
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
func (d *session) prompt(ctx context.Context, prompt agentloop.Prompt) {
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

// next returns the prompt that waits longest, and the context of its turn.
func (d *session) next(ctx context.Context) (context.Context, *agentloop.Prompt) {
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

func (d *session) turn(ctx context.Context, prompt agentloop.Prompt) {
	run, err := d.c.Loop.RunPrompt(ctx, prompt)
	if err != nil {
		d.exit = cli.ExitCode(cli.ExitFailed)
		d.out.line(runview.ResultLine{Kind: "result", Error: err.Error()})
		return
	}
	for y := range run.Events() {
		d.out.Print(y) // an output that is gone ends the command by itself
	}
	err = run.Wait()
	if d.waits() {
		if y, told := d.c.Loop.Idle(context.WithoutCancel(ctx), run.Result()); told {
			d.out.Print(y)
		}
	}
	d.exit = conversation.Exit(ctx, run.Result(), err)
	d.out.mu.Lock()
	defer d.out.mu.Unlock()
	d.out.lines.End(run.Result(), err)
}

// waits reports whether nothing is to be done after this turn.
func (d *session) waits() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue) == 0 && !d.ended
}

// abortTurn ends the turn that runs, and what waits for it.
func (d *session) abortTurn() *cli.Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = nil
	if d.abort == nil {
		return cli.Usage("not-running", "no turn runs", "")
	}
	d.abort(conversation.ErrAborted)
	return nil
}
