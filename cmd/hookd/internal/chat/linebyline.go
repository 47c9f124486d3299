package chat

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// lineByLine shows a dialog on a terminal that can do no more than print lines, and on
// output that goes elsewhere. What is asked goes to stderr, and so does what is wrong with
// a line of the person; what is answered goes to stdout.
type lineByLine struct {
	console *cli.Console
	talk    *dialog
	driver  *driver
	lines   *terminal.Lines
	aside   func(print func())
	msgs    chan any
	over    chan struct{} // closed when nobody takes messages any more
	waits   bool          // for a line, or for the answer of a command
}

// lineMsg is a line that the person typed; open is false at the end of input.
type lineMsg struct {
	text string
	open bool
}

// runLineByLine holds one conversation line by line and returns how the person ended it.
func runLineByLine(ctx context.Context, hooks *engine.Opener, flags *conversation.Flags) (ending, error) {
	console := hooks.Console
	lines := console.Lines()
	approver := question.NewLineByLine(console.Err, lines)
	c, err := conversation.Open(ctx, hooks, flags, approver, nil)
	if err != nil {
		return "", err
	}
	view := runview.NewTextPrinter(console.Out, runview.Options{Echoed: true})
	l := &lineByLine{
		console: console, lines: lines, aside: c.Engine.Aside, msgs: make(chan any), over: make(chan struct{}),
		talk: &dialog{
			now: time.Now, isRecipe: c.IsRecipe, callable: func() []string { return callable(c) },
			painter: painter{
				p: console.Out, view: view,
				say:  func(text string) { console.Out.Raw(text + "\n") },
				warn: func(mark, text string) { console.Err.Print("%s\n", marked(console.Err, mark, text)) },
			},
		},
	}
	head := &header{c: c}
	for _, text := range []string{head.draw(console.Err), replay(console.Err, c.Session.ID(), c.Session.State().Messages)} {
		if text != "" {
			console.Err.Print("%s\n", text)
		}
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.driver = &driver{
		ctx: work, c: c, tell: l.tell, size: func() (int, bool) { return console.Out.Width, console.Out.Color },
	}
	l.driver.commands = &commands{c: c, header: head, tell: func(text string) { l.tell(noteMsg(text)) }, ask: approver.Approve}
	defer hooks.Signals.TakeInterrupts(func() { l.tell(interruptMsg{}) })()
	l.run(work)
	l.finish(func() { stop(conversation.ErrAborted) })
	ended := c.End(work, nil, view)
	if ctx.Err() != nil {
		return l.talk.ending, context.Cause(ctx)
	}
	if l.talk.ending == beginsAnew { // hooks that nobody waits for end with their conversation
		ended = errors.Join(ended, c.Engine.Close(ctx))
	}
	return l.talk.ending, ended
}

// tell hands over what happened.
func (l *lineByLine) tell(msg any) {
	select {
	case l.msgs <- msg:
	case <-l.over:
	}
}

// run shows the dialog until it ends.
func (l *lineByLine) run(ctx context.Context) {
	for l.talk.ending == "" {
		if !l.talk.running && !l.waits {
			l.waits = true
			l.console.Err.Print("› ")
			l.driver.work.Go(func() {
				if text, open, err := l.lines.Next(ctx); err == nil {
					l.tell(lineMsg{text, open})
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
			l.talk.ending = hasInterrupted
		}
	}
}

// finish shows what the work still yields until it is over. stop ends the work where the
// person interrupted the conversation, or does so now.
func (l *lineByLine) finish(stop func()) {
	if l.talk.ending == hasInterrupted {
		stop()
	}
	go func() {
		l.driver.work.Wait()
		close(l.over)
	}()
	for {
		select {
		case msg := <-l.msgs:
			if _, isInterrupt := msg.(interruptMsg); isInterrupt {
				stop()
				continue
			}
			l.update(msg)
		case <-l.over:
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
			return l.talk.end(hasQuit)
		}
		if text := strings.TrimSpace(msg.text); text != "" {
			return l.talk.send(text)
		}
	case interruptMsg:
		effects, quiet := l.talk.interrupt()
		switch {
		case l.talk.ending != "" && l.waits:
			l.console.Err.Print("\n")
		case quiet:
			l.console.Err.Print("\nagain within %d s to end hookd\n› ", int(againWithin.Seconds()))
		}
		return effects
	case yieldMsg:
		l.aside(func() { l.talk.shown(msg.Update) })
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
