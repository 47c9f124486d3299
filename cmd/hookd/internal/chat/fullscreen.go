package chat

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/sessionscmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// Run is hookd run without a prompt on a terminal.
func Run(ctx context.Context, hooks *engine.Opener, flags *conversation.Flags) error {
	console := hooks.Console
	if !terminal.IsTerminal(console.Out.W) || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return runPlain(ctx, hooks, flags)
	}
	notes := terminal.NewSwappableWriter(console.Err.W) // before anybody writes to it
	console.Err.W = notes
	t := &terminalChat{notes: notes, chat: newChat(console.Out.Width, console.Out.Color), printer: newPrinter()}
	c, err := conversation.Open(ctx, hooks, flags, t, nil)
	if err != nil {
		return err
	}
	t.c = c
	t.commands = &chatCommands{c: c, tell: func(text string) { t.program.Send(toldMsg(text)) }, ask: t.Approve}
	return t.run(ctx)
}

// terminalChat joins the chat to a terminal and to the agent: it turns what
// happens into messages for the chat, and carries out what the chat wants.
type terminalChat struct {
	chat     *chat
	c        *conversation.Conversation
	commands *chatCommands
	program  *tea.Program
	printer  *printQueue
	notes    *terminal.SwappableWriter // what goes to stderr
	turn     sync.WaitGroup
	between  sync.Mutex // of what is done between two turns
	ctx      context.Context
	abort    context.CancelCauseFunc
}

func (t *terminalChat) run(ctx context.Context) error {
	console := t.c.Hooks.Console
	t.ctx = ctx
	console.StopLines() // a review of guards has read them
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithInput(console.In), tea.WithOutput(terminal.File(console.Out.W))}
	if !console.Out.Color {
		options = append(options, tea.WithColorProfile(colorprofile.NoTTY))
	}
	t.program = tea.NewProgram(teaModel{t}, options...)
	// While the chat is on the screen, notes and late words of hooks go above it.
	progress := t.c.Engine.Progress()
	progress.Stop()
	back := t.notes.Swap(t)
	defer back()
	restore := terminal.Restorer(console.In)
	defer restore()
	t.c.Hooks.Signals.OnExit(restore)
	defer t.c.Hooks.Signals.TakeInterrupts(func() { t.program.Send(interruptMsg{}) })()
	var printing sync.WaitGroup
	printing.Go(func() { t.printer.run(t.program) })
	_, err := t.program.Run()
	back() // a program that has ended prints nothing any more
	if t.abort != nil {
		t.abort(conversation.ErrAborted)
	}
	t.printer.close()
	printing.Wait()
	t.turn.Wait()
	if errors.Is(err, tea.ErrProgramPanic) {
		err = cli.Failed("terminal", err, "")
	} else if err != nil && ctx.Err() != nil {
		err = nil // a signal
	}
	ended := t.c.End(ctx, nil, nil)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err = errors.Join(err, ended); err == nil && t.chat.turns > 0 {
		t.c.NoteResume()
	}
	return err
}

// teaModel is what the library drives.
type teaModel struct{ *terminalChat }

func (m teaModel) Init() tea.Cmd { return tick() }

type tickMsg time.Time

func tick() tea.Cmd {
	return tea.Tick(100*time.Millisecond, func(t time.Time) tea.Msg { return tickMsg(t) })
}

func (m teaModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	for _, e := range m.chat.update(msg) {
		m.obey(e)
	}
	if _, ticked := msg.(tickMsg); ticked {
		return m, tick()
	}
	return m, nil
}

func (m teaModel) View() tea.View {
	view := tea.NewView(m.chat.view())
	view.Cursor = m.chat.cursor()
	return view
}

// obey carries out what the chat wants, without waiting for anything.
func (t *terminalChat) obey(e effect) {
	switch e := e.(type) {
	case printEffect:
		t.printer.add(tea.Println(string(e))())
	case promptEffect:
		t.begin(func(ctx context.Context) (*agentloop.Run, error) {
			return t.c.Loop.RunPrompt(ctx, agentloop.Prompt{Text: e.text, Source: e.source})
		})
	case commandEffect:
		if start := t.commands.starts(e); start != nil {
			t.begin(start)
			return
		}
		width, color := t.chat.width, t.chat.color
		t.turn.Go(func() { t.program.Send(toldMsg(t.commands.answer(t.ctx, e, width, color))) })
	case abortEffect:
		if t.abort != nil {
			t.abort(conversation.ErrAborted)
		}
	case answerEffect:
		e.to <- e.answer
	case idleEffect:
		t.turn.Go(func() {
			t.between.Lock()
			defer t.between.Unlock()
			t.c.Loop.Idle(t.ctx, e.last)
		})
	case quitEffect:
		t.printer.add(tea.QuitMsg{}) // behind all that is still to be printed
	}
}

// begin lets a turn run; what it yields comes to the chat as messages.
func (t *terminalChat) begin(start func(context.Context) (*agentloop.Run, error)) {
	ctx, abort := context.WithCancelCause(t.ctx)
	t.abort = abort
	t.turn.Go(func() {
		defer t.rescue()
		defer abort(nil)
		t.between.Lock()
		run, err := start(ctx)
		t.between.Unlock()
		if err != nil {
			t.program.Send(endedMsg{err: err})
			return
		}
		for y := range run.Events() {
			t.program.Send(yieldMsg{y})
		}
		err = run.Wait()
		t.program.Send(endedMsg{result: run.Result(), err: err})
	})
}

// rescue gives the terminal back before a panic ends the process.
func (t *terminalChat) rescue() {
	if p := recover(); p != nil {
		t.program.Kill()
		t.program.Wait()
		panic(p)
	}
}

// Approve shows a question and waits for the person. What was typed before the
// question stands there is no answer.
func (t *terminalChat) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	terminal.FlushInput(t.c.Hooks.Console.In)
	select {
	case <-time.After(question.Settling):
	case <-ctx.Done():
		return agentloop.Answer{}, context.Cause(ctx)
	}
	reply := make(chan agentloop.Answer, 1)
	t.program.Send(askMsg{q, reply})
	select {
	case answer := <-reply:
		return answer, nil
	case <-ctx.Done():
		t.program.Send(withdrawMsg{reply})
		return agentloop.Answer{}, context.Cause(ctx)
	}
}

// Write prints what would go to stderr above the chat.
func (t *terminalChat) Write(text []byte) (int, error) {
	t.program.Send(noteMsg(strings.TrimRight(string(text), "\n")))
	return len(text), nil
}

// chatCommands answers the commands of a conversation.
type chatCommands struct {
	c    *conversation.Conversation
	tell func(string) // prints before the answer
	ask  func(context.Context, agentloop.Question) (agentloop.Answer, error)
}

const chatHelp = `/hooks                 the hooks of this project, in running order
/compact [INSTRUCTIONS] put a summary in the place of the conversation
/model [NAME]          say which model answers, or let another one
/sessions              the sessions of this project
/trust                 look at what of this project waits to be allowed
/show N                what is folded behind #N (ctrl-o: the last one)
/help                  this
/quit                  end (or ctrl-d)
Any other line goes to the model; a line that begins with the /NAME of a skill
calls for it. While a turn runs, what you send waits for its end.
enter sends · alt-enter, ctrl-j or a \ before enter begins a new line · ↑ ↓ earlier lines
esc or ctrl-c aborts the turn, twice ends hookd`

// starts is the work that a command begins, nil if it only answers.
func (k *chatCommands) starts(e commandEffect) func(context.Context) (*agentloop.Run, error) {
	if e.name != "compact" {
		return nil
	}
	return func(ctx context.Context) (*agentloop.Run, error) { return k.c.Compact(ctx, e.args) }
}

// answer is what a command prints.
func (k *chatCommands) answer(ctx context.Context, e commandEffect, width int, color bool) string {
	var b strings.Builder
	p := &show.Printer{W: &b, Color: color, Width: width}
	var err error
	switch e.name {
	case "help":
		p.Indented("  ", show.Plain, chatHelp)
	case "hooks":
		err = k.hooks(ctx, p)
	case "model":
		err = k.model(p, e.args)
	case "sessions":
		err = k.sessions(ctx, p)
	case "trust":
		err = k.trust(ctx, p)
	}
	if err != nil {
		p.Print("%s %s\n", p.In(show.Bad, "!"), show.OneLine(err.Error()))
		var fault *cli.Fault
		if errors.As(err, &fault) && fault.Hint != "" {
			p.Print("  %s\n", p.In(show.Quiet, show.OneLine(fault.Hint)))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (k *chatCommands) model(p *show.Printer, name string) error {
	if name != "" {
		if err := k.c.SetModel(name); err != nil {
			return err
		}
	}
	p.Print("%s %s\n", p.In(show.Quiet, "model:"), show.Line(model.Origin(k.c.Model)))
	return nil
}

func (k *chatCommands) hooks(ctx context.Context, p *show.Printer) error {
	if w := k.c.Engine.Watcher(); w != nil {
		report.Listing(p, engine.Describe(w.Snapshot()))
		return nil
	}
	listing, err := k.c.Hooks.Listing(ctx)
	if err == nil {
		report.Listing(p, listing)
	}
	return err
}

func (k *chatCommands) sessions(ctx context.Context, p *show.Printer) error {
	if k.c.Engine.StateDir == "" {
		return cli.Usage("no-state", "no session is kept: there is no state folder", "")
	}
	folder := places.Conversations(k.c.Engine.StateDir)
	list, err := sessionscmd.Here(ctx, k.c.Hooks.Project, folder, false)
	if err != nil {
		return err
	}
	return sessionscmd.ShowTable(p, folder, list, false)
}
