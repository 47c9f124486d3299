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
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
)

// Run talks with the person at the terminal until one of them ends it.
func Run(ctx context.Context, hooks *engine.Opener, flags *conversation.Flags) error {
	talk := runFullScreen
	if !terminal.IsTerminal(hooks.Console.Out.W) || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		talk = runLineByLine
	}
	for {
		how, err := talk(ctx, hooks, flags)
		if err != nil || how != beginsAnew || ctx.Err() != nil {
			return err
		}
		flags.Anew()
	}
}

// runFullScreen holds one conversation and returns how the person ended it.
func runFullScreen(ctx context.Context, hooks *engine.Opener, flags *conversation.Flags) (ending, error) {
	console := hooks.Console
	notes, again := console.Err.W.(*terminal.SwappableWriter)
	if !again {
		notes = terminal.NewSwappableWriter(console.Err.W) // before anybody writes to it
		console.Err.W = notes
	}
	f := &fullScreen{console: console, notes: notes, screen: newScreen(console.Out.Width, console.Out.Color), printer: newPrintQueue()}
	c, err := conversation.Open(ctx, hooks, flags, f, nil)
	if err != nil {
		return "", err
	}
	f.screen.talk.isRecipe, f.screen.talk.callable = c.IsRecipe, func() []string { return callable(c) }
	f.screen.known = known{hookAtWork: c.Engine.Progress().Slowest, root: c.Engine.Root}
	head := &header{c: c}
	f.screen.aside(head.draw(f.screen.talk.p))
	f.screen.aside(replay(f.screen.talk.p, c.Session.ID(), c.Session.State().Messages))
	if c.Engine.StateDir != "" {
		f.screen.history = openHistory(c.Engine.StateDir, c.Engine.Project())
	}
	tell := func(msg any) { f.program.Send(msg) }
	f.driver = &driver{
		ctx: ctx, c: c, tell: tell, onPanic: f.kill,
		commands: &commands{c: c, header: head, tell: func(text string) { tell(noteMsg(text)) }, ask: f.Approve},
		size:     func() (int, bool) { return f.screen.talk.p.Width, f.screen.talk.p.Color },
	}
	err = f.run(ctx, c)
	if f.screen.talk.ending == beginsAnew { // hooks that nobody waits for end with their conversation
		err = errors.Join(err, c.Engine.Close(ctx))
	}
	return f.screen.talk.ending, err
}

// fullScreen joins a screen to a terminal and to the agent: it turns what happens into
// messages for the screen, and carries out what the screen wants.
type fullScreen struct {
	console *cli.Console
	screen  *screen
	driver  *driver
	program *tea.Program
	printer *printQueue
	notes   *terminal.SwappableWriter // what goes to stderr
}

func (f *fullScreen) run(ctx context.Context, c *conversation.Conversation) error {
	f.console.StopLines() // a review of guards has read them
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithInput(f.console.In), tea.WithOutput(terminal.File(f.console.Out.W))}
	if !f.console.Out.Color {
		options = append(options, tea.WithColorProfile(colorprofile.NoTTY))
	}
	f.program = tea.NewProgram(teaModel{f}, options...)
	// As long as the screen is drawn, notes and late words of hooks go above it.
	c.Engine.Progress().Stop()
	back := f.notes.Swap(f)
	defer back()
	restore := terminal.Restorer(f.console.In)
	defer restore()
	c.Hooks.Signals.OnExit(restore)
	defer c.Hooks.Signals.TakeInterrupts(func() { f.program.Send(interruptMsg{}) })()
	var printing sync.WaitGroup
	printing.Go(func() { f.printer.run(f.program) })
	_, err := f.program.Run()
	back() // a program that has ended prints nothing any more
	f.driver.end()
	f.printer.close()
	printing.Wait()
	f.driver.work.Wait()
	if errors.Is(err, tea.ErrProgramPanic) {
		err = cli.Failed("terminal", err, "")
	} else if err != nil && ctx.Err() != nil {
		err = nil // a signal
	}
	ended := c.End(ctx, nil, nil)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err = errors.Join(err, ended); err == nil && f.screen.talk.turns > 0 {
		c.NoteResume(f.screen.talk.ending == beginsAnew)
	}
	return err
}

// kill gives the terminal back at once.
func (f *fullScreen) kill() {
	f.program.Kill()
	f.program.Wait()
}

// obey carries out what the screen wants, without waiting for anything.
func (f *fullScreen) obey(e effect) {
	switch e := e.(type) {
	case printEffect:
		f.printer.add(tea.Println(string(e))())
	case answerEffect:
		e.to <- e.answer
	case quitEffect:
		f.printer.add(tea.QuitMsg{}) // after all that is still to be printed
	default:
		f.driver.obey(e)
	}
}

// teaModel is the screen as Bubble Tea drives it.
type teaModel struct{ *fullScreen }

func (m teaModel) Init() tea.Cmd { return tick() }

type tickMsg time.Time

func tick() tea.Cmd {
	return tea.Tick(100*time.Millisecond, func(t time.Time) tea.Msg { return tickMsg(t) })
}

func (m teaModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, resized := msg.(tea.WindowSizeMsg); resized { // the library says 80 to 24 for nothing
		if width, height, known := terminal.Size(m.console.Out.W); known && (width == 0 || height == 0) {
			msg = tea.WindowSizeMsg{Width: width, Height: height}
		}
	}
	for _, e := range m.screen.update(msg) {
		m.obey(e)
	}
	if _, ticked := msg.(tickMsg); ticked {
		return m, tick()
	}
	return m, nil
}

func (m teaModel) View() tea.View {
	view := tea.NewView(m.screen.view())
	view.Cursor = m.screen.cursor()
	return view
}

// Approve shows a question and waits for the person. What was typed before the
// question stands there is no answer.
func (f *fullScreen) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	terminal.FlushInput(f.console.In)
	select {
	case <-time.After(question.Settling):
	case <-ctx.Done():
		return agentloop.Answer{}, context.Cause(ctx)
	}
	reply := make(chan agentloop.Answer, 1)
	f.program.Send(askMsg{q, reply})
	select {
	case answer := <-reply:
		return answer, nil
	case <-ctx.Done():
		f.program.Send(withdrawMsg{reply})
		return agentloop.Answer{}, context.Cause(ctx)
	}
}

// Write prints what would go to stderr above the chat.
func (f *fullScreen) Write(text []byte) (int, error) {
	f.program.Send(noteMsg(strings.TrimRight(string(text), "\n")))
	return len(text), nil
}
