package chat

import (
	"context"
	"sync"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
)

// driver carries out the effects of a dialog without waiting for them, and tells what comes
// of them as messages.
type driver struct {
	ctx      context.Context
	c        *conversation.Conversation
	commands *commands
	tell     func(msg any)
	size     func() (width int, color bool) // of what shows the answers of commands
	onPanic  func()                         // gives the terminal back, nil for nothing

	work    sync.WaitGroup
	between sync.Mutex // held while something is done between two turns
	abort   context.CancelCauseFunc
}

func (d *driver) obey(e effect) {
	switch e := e.(type) {
	case promptEffect:
		d.begin(func(ctx context.Context) (*agentloop.Run, error) {
			return d.c.Loop.RunPrompt(ctx, agentloop.Prompt{Text: e.text, Source: e.source})
		})
	case shellEffect:
		d.begin(func(ctx context.Context) (*agentloop.Run, error) { return d.c.RunCommand(ctx, e.command) })
	case recipeEffect:
		d.begin(func(ctx context.Context) (*agentloop.Run, error) { return d.c.RunRecipe(ctx, e.name, e.args) })
	case commandEffect:
		if e.name == "compact" {
			d.begin(func(ctx context.Context) (*agentloop.Run, error) { return d.c.Compact(ctx, e.args) })
			return
		}
		width, color := d.size()
		d.work.Go(func() { d.tell(toldMsg(d.commands.answer(d.ctx, e, width, color))) })
	case abortEffect:
		d.end()
	case idleEffect:
		d.work.Go(func() {
			d.between.Lock()
			defer d.between.Unlock()
			d.c.Loop.Idle(d.ctx, e.last)
		})
	}
}

// end aborts the turn that runs, if there is one.
func (d *driver) end() {
	if d.abort != nil {
		d.abort(conversation.ErrAborted)
	}
}

// begin lets a turn run; what it shows comes as messages.
func (d *driver) begin(start func(context.Context) (*agentloop.Run, error)) {
	ctx, abort := context.WithCancelCause(d.ctx)
	d.abort = abort
	d.work.Go(func() {
		defer d.restoreTerminal()
		defer abort(nil)
		d.between.Lock()
		run, err := start(ctx)
		d.between.Unlock()
		if err != nil {
			d.tell(endedMsg{err: err, notStarted: true})
			return
		}
		for y := range run.Events() {
			d.tell(yieldMsg{y})
		}
		err = run.Wait()
		d.tell(endedMsg{result: run.Result(), err: err})
	})
}

// restoreTerminal gives the terminal back before a panic ends the process.
func (d *driver) restoreTerminal() {
	if p := recover(); p != nil {
		if d.onPanic != nil {
			d.onPanic()
		}
		panic(p)
	}
}
