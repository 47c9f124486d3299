package acpagent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/agentloop/mcp"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// session is a conversation with a client.
type session struct {
	agent *Agent
	id    string // "" until it is opened, for a new one
	life
	opened
	screen
	choices choices

	mu      sync.Mutex
	turn    *turn         // that runs, or waits for the session to be opened
	settled chan struct{} // closed when the change is made that was asked for last; nil: there was none
	closing bool
	titled  bool
}

// life is how far a session is.
type life struct {
	ctx     context.Context // of all of it
	cancel  context.CancelCauseFunc
	after   <-chan struct{} // another session of this id is gone; nil: there was none
	ready   chan struct{}   // closed when it is opened, or cannot be
	failure error           // why it cannot be used
	gone    chan struct{}   // closed when nothing of it is left
}

// opened is what a session holds once it is ready.
type opened struct {
	c           *conversation.Conversation
	closers     *cli.Closers
	console     *cli.Console
	clientHooks []protocol.GoHook
	folders     []string // besides the project's
}

// screen is what the client shows of a session. What is shown is shown in order, under its lock.
type screen struct {
	viewing sync.Mutex
	view    *acpview.View
	notes   notes // that were not told yet
	known   bool  // the client knows the session
}

func newSession(a *Agent, id string) *session {
	s := &session{agent: a, id: id, life: life{ready: make(chan struct{}), gone: make(chan struct{})}, opened: opened{closers: &cli.Closers{}}}
	s.ctx, s.cancel = context.WithCancelCause(a.ctx)
	s.choices.mode.Store(&modes[0])
	client := &a.client.Load().ClientCapabilities
	s.view = acpview.New(acpview.Options{Notices: client.TakesNotices(), Compactions: client.TakesCompactions(), ReadFile: s.readFile})
	return s
}

// open opens the conversation of a session.
func (s *session) open(params *acp.OpenParams, servers []mcp.Server) error {
	if s.after != nil {
		<-s.after
	}
	a := s.agent
	a.opening.Lock()
	defer a.opening.Unlock()
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	opener := *a.options.Opener
	project := *opener.Project
	project.Cwd = params.Cwd
	s.console = &cli.Console{In: opener.Console.In, Out: opener.Console.Out, Err: &show.Printer{W: opener.Console.Err.W}, JSON: true}
	s.console.NoteTo(s.note)
	if a.options.Note != "" {
		s.console.Note(a.options.Note, "")
	}
	opener.Console, opener.Project, opener.Closers = s.console, &project, s.closers

	flags := a.options.Flags
	if params.SessionID != "" {
		state, err := places.StateDir()
		if err != nil {
			return err
		}
		if _, err := store.HeaderOf(places.Conversations(state), params.SessionID); err != nil {
			return cli.Usage("no-session", "there is no session "+show.Line(show.Shorten(params.SessionID, 100)), "session/list lists those that can go on")
		}
		flags.Resume = params.SessionID
	}
	s.clientHooks, s.folders = a.hooks.all(), followed(params.AdditionalDirectories)
	flags.Host = conversation.Host{
		Servers: servers, Hooks: s.clientHooks, Folders: s.folders, Editor: s.editor(), Commands: inTerminals(s),
		Allows: func() []toolname.Allowed { return s.choices.mode.Load().allows },
	}
	c, err := conversation.Open(s.ctx, &opener, &flags, s, s.late)
	if err != nil {
		s.discard()
		return err
	}
	s.c, s.id = c, c.Session.ID()
	s.choices.c = c
	return nil
}

// followed returns the folders that a client hands in, links followed as they lead now: where one leads
// later was not handed in.
func followed(folders []string) (list []string) {
	for _, folder := range folders {
		if _, real, err := fsutil.Folder(folder); err == nil { // else opening says what is wrong with it
			folder = real
		}
		list = append(list, folder)
	}
	return list
}

// editor returns the client's files, nil if it offers none.
func (s *session) editor() tool.Editor {
	fs := s.agent.client.Load().ClientCapabilities.FS
	if !fs.ReadTextFile && !fs.WriteTextFile {
		return nil
	}
	return &editor{agent: s.agent, session: func() string { return s.id }, reads: fs.ReadTextFile, writes: fs.WriteTextFile}
}

// discard ends what was begun for a session that is not opened.
func (s *session) discard() {
	if s.c != nil {
		_ = s.c.End(s.ctx, context.Canceled, nil)
	}
	_ = s.closers.Close(s.console)
}

// failed says that a session cannot be used. It was not opened, or is discarded.
func (s *session) failed(err error) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.failure = err
	close(s.ready)
	s.agent.sessions.remove(s)
	s.cancel(nil)
	close(s.gone)
}

// wait waits until the session is opened, and reports whether it can be used.
func (s *session) wait(ctx context.Context) bool {
	select {
	case <-s.ready:
		return s.failure == nil
	case <-ctx.Done():
		return false
	}
}

// announce tells the client, which knows the session now, what else there is to know of it.
func (s *session) announce() {
	s.viewing.Lock()
	defer s.viewing.Unlock()
	s.show(s.ctx, s.commands())
	s.known = true
	if s.agent.client.Load().ClientCapabilities.TakesNotices() {
		s.tellNotes(s.ctx)
	}
}

// replay tells the client what was said.
func (s *session) replay() {
	kinds := map[string]protocol.ToolKind{}
	for _, t := range tool.Files(tool.Folder{}) {
		kinds[t.Describe().Name] = t.Describe().Kind
	}
	kinds["bash"] = protocol.KindShell
	messages := s.c.Loop.Messages()
	s.titled = len(messages) > 0
	s.show(s.ctx, s.view.Replay(messages, func(name string) protocol.ToolKind { return kinds[name] })...)
}

// readFile returns what a file of the session's folders holds before a call changes it, as the client
// has it if it has it open, as the tools read it. No other file is shown: the tools refuse to change one.
func (s *session) readFile(path string) (text string, known bool) {
	const most = 1 << 20
	if !slices.ContainsFunc(append([]string{s.c.Engine.Root}, s.folders...), func(folder string) bool { return isIn(folder, path) }) {
		return "", false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return "", false
	}
	content, err := os.ReadFile(path)
	if err != nil || !utf8.Valid(content) {
		return "", false
	}
	if open := s.editor(); open != nil {
		ctx := s.ctx
		if t := s.current(); t != nil {
			ctx = t.ctx
		}
		if text, known, err = open.Read(ctx, path); known || err != nil {
			return text, known
		}
	}
	return string(content), true
}

// isIn reports whether a real path is in a folder.
func isIn(folder, path string) bool {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// show sends updates of the session.
func (s *session) show(ctx context.Context, updates ...any) {
	s.agent.update(ctx, s.id, updates...)
}

// note is something that hookd itself, or a hook that nobody waits for, says to the person.
type note struct {
	severity acpview.Severity
	text     string
}

// note tells the person what hookd has to say about the session.
func (s *session) note(n protocol.HookText) { s.tell(note{acpview.Warning, show.Line(n.Text)}) }

// late tells the person what a hook says that nobody waits for.
func (s *session) late(_ *protocol.Event, run *protocol.Run, notice *protocol.HookText) {
	switch {
	case notice != nil:
		s.tell(note{acpview.Info, "· " + show.Line(notice.Hook) + ": " + show.Line(notice.Text)})
	case run != nil && run.Failure != "":
		s.tell(note{acpview.Warning, "! " + show.Line(run.Hook) + " could not be asked: " + show.Line(run.Detail)})
	}
}

// tell tells a note at once if the client takes notices, or a turn runs in which a message can
// be shown, else with the next turn.
func (s *session) tell(n note) {
	s.viewing.Lock()
	defer s.viewing.Unlock()
	s.notes.add(n)
	if s.known && (s.agent.client.Load().ClientCapabilities.TakesNotices() || s.current().isRunning()) {
		s.tellNotes(s.ctx)
	}
}

// tellNotes tells what was not told yet. The lock of the view must be held.
func (s *session) tellNotes(ctx context.Context) {
	for _, n := range s.notes.take() {
		s.show(ctx, s.view.Says(n.severity, n.text)...)
	}
}

// Bounds of what waits for the next turn: there may be none for days, while hooks that nobody waits
// for go on saying something.
const (
	mostNotes     = 32
	mostNoteBytes = 16 << 10
	mostNoteRunes = 1000 // of one
)

// notes are what was not told yet, the first ones of too many.
type notes struct {
	list    []note
	bytes   int
	leftOut int
}

func (n *notes) add(one note) {
	one.text = show.Shorten(one.text, mostNoteRunes)
	if n.leftOut > 0 || len(n.list) >= mostNotes || n.bytes+len(one.text) > mostNoteBytes {
		n.leftOut++
		return
	}
	n.list = append(n.list, one)
	n.bytes += len(one.text)
}

// take returns the notes and how many were left out, and forgets them.
func (n *notes) take() (list []note) {
	if list = n.list; n.leftOut > 0 {
		list = append(list, note{acpview.Warning, fmt.Sprintf("%d more notes since then are not shown: hookd log has what hooks did", n.leftOut)})
	}
	*n = notes{}
	return list
}
