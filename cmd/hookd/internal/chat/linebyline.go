package chat

import (
	"context"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// lineByLine paints a dialog on a terminal that can do no more than print lines, and on
// output that goes elsewhere. What is asked goes to stderr, what is answered to stdout.
type lineByLine struct {
	console *cli.Console
	talk    *dialog
	driver  *driver
	lines   *terminal.Lines
	aside   func(print func())
	msgs    chan any
	waits   bool // for a line, or for the answer of a command
}

// lineMsg is a line that the person typed; open is false at the end of input.
type lineMsg struct {
	text string
	open bool
}

// runLineByLine talks with the person line by line.
func runLineByLine(ctx context.Context, hooks *engine.Opener, flags *conversation.Flags) error {
	console := hooks.Console
	lines := console.Lines()
	approver := question.NewLineByLine(console.Err, lines)
	c, err := conversation.Open(ctx, hooks, flags, approver, nil)
	if err != nil {
		return err
	}
	say := func(text string) { console.Out.Raw(text + "\n") }
	view := runview.New(console.Out, runview.Options{Echoed: true})
	l := &lineByLine{
		console: console, lines: lines, aside: c.Engine.Aside, msgs: make(chan any),
		talk: &dialog{p: console.Out, view: view, say: say, now: time.Now},
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tell := func(msg any) {
		select {
		case l.msgs <- msg:
		case <-work.Done():
		}
	}
	l.driver = &driver{
		ctx: work, c: c, tell: tell, commands: &commands{c: c, tell: func(text string) { tell(noteMsg(text)) }, ask: approver.Approve},
		size: func() (int, bool) { return console.Out.Width, console.Out.Color },
	}
	defer hooks.Signals.TakeInterrupts(func() { tell(interruptMsg{}) })()
	l.run(work, tell)
	stop(conversation.ErrAborted)
	l.driver.work.Wait()
	ended := c.End(ctx, nil, view)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return ended
}

// run paints until the dialog ends.
func (l *lineByLine) run(ctx context.Context, tell func(any)) {
	for !l.talk.ending {
		if !l.talk.running && !l.waits {
			l.waits = true
			l.console.Err.Print("› ")
			l.driver.work.Go(func() {
				if text, open, err := l.lines.Next(ctx); err == nil {
					tell(lineMsg{text, open})
				}
			})
		}
		select {
		case msg := <-l.msgs:
			for _, e := range l.update(msg) {
				_, isCommand := e.(commandEffect)
				l.waits = l.waits || isCommand && !l.talk.running
				l.driver.obey(e)
			}
		case <-ctx.Done():
			l.console.Err.Print("\n")
			return
		}
	}
}

// update takes what happened and returns what is to be done.
func (l *lineByLine) update(msg any) (effects []effect) {
	switch msg := msg.(type) {
	case lineMsg:
		l.waits = false
		if !msg.open {
			l.console.Err.Print("\n")
			return l.talk.quit()
		}
		if text := strings.TrimSpace(msg.text); text != "" {
			return l.talk.send(text)
		}
	case interruptMsg:
		effects, quiet := l.talk.interrupt()
		if quiet {
			l.console.Err.Print("\nagain within %d s to end hookd\n› ", int(againWithin.Seconds()))
		}
		return effects
	case yieldMsg:
		l.aside(func() { l.talk.view.See(msg.Update) })
	case endedMsg:
		l.aside(func() { effects, _ = l.talk.ended(msg) })
	case noteMsg:
		l.talk.say(string(msg))
	case toldMsg:
		l.waits = false
		if msg != "" {
			l.talk.say(string(msg))
		}
	}
	return effects
}
