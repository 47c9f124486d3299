package servecmd

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// projectOpener makes the engines of a daemon, one for each project.
type projectOpener struct {
	console  *cli.Console
	runtime  *process.Runtime
	pool     *exechook.Pool
	stateDir string
	log      *slog.Logger
	found    loader.Projects
	callers  *callers
}

// noProjectAt marks the key of an engine without a project: it has the hooks of
// the user and the machine only, and works in the folder that follows the mark.
const noProjectAt = "no project at "

// withMark separates a project in the key of an engine from others whose hooks hold, too.
const withMark = "\x00with "

// withOthers returns the key of a project together with others.
func withOthers(project string, also []string) string {
	return strings.Join(append([]string{project}, also...), withMark)
}

// resolve names the project that a session belongs to.
func (o *projectOpener) resolve(project, cwd string) (string, error) {
	if project == "" && cwd == "" {
		var err error
		if cwd, err = os.Getwd(); err != nil {
			return "", places.NoDirectory()
		}
	}
	root, err := o.rootOf(project, cwd)
	if err != nil {
		return "", err
	}
	if root != "" {
		return root, nil
	}
	return noProjectAt + cwd, nil
}

// rootOf returns the root of a project that is named, or that a folder lies in, "" outside
// of any.
func (o *projectOpener) rootOf(project, cwd string) (string, error) {
	if project == "" {
		return o.found.Of(cwd)
	}
	found, err := loader.OpenTrust(loader.Options{Project: project, Cwd: cwd})
	if err != nil {
		return "", err
	}
	return found.Project(), nil
}

// verifying tells hookd verify that a hook call of an agent came to this daemon.
func (o *projectOpener) verifying(caller daemon.Caller) (token string, answered func(agent, event string)) {
	marker := guest.TakeMarker(o.stateDir, caller.Environ)
	if marker.Token() == "" {
		return "", func(string, string) {}
	}
	return marker.Token(), func(agent, event string) {
		if err := marker.Leave(guest.Mark{Agent: agent, Event: event, Program: places.Program(), Daemon: true}); err != nil {
			o.log.Warn("hookd verify does not hear of this call", "error", err)
		}
	}
}

// open starts the engine of a project.
func (o *projectOpener) open(ctx context.Context, key, cwd string) (daemon.Engine, error) {
	s := &projectEngine{console: o.console, changed: make(chan struct{}, 1), log: o.log}
	s.aside = executor.Progress{Notice: s.logNotice, Cut: s.logCut}
	project, environ, err := o.callers.environOf(key)
	if err != nil {
		return nil, err
	}
	s.check.environ = environ
	options := loader.Options{
		Project: project, Cwd: cwd, Environ: environ, Runtime: o.runtime, Program: places.Program(), Pool: o.pool,
		OnChange: func(snapshot *loader.Snapshot) {
			o.callers.learn(project, snapshot.Set)
			s.tellChanged(snapshot)
		},
		OnNotice: func(f schema.Finding) { o.log.Warn(f.Message, "remedy", f.Remedy, "file", f.File) },
	}
	if folder, isNone := strings.CutPrefix(project, noProjectAt); isNone {
		options.Project, options.Cwd = "", folder
	} else {
		named := strings.Split(project, withMark)
		options.Project, options.Also = named[0], named[1:]
	}
	watcher, err := loader.Watch(context.WithoutCancel(ctx), options)
	if err != nil {
		return nil, err
	}
	s.watcher = watcher
	for _, f := range watcher.Snapshot().Findings {
		if engine.IsTold(f) {
			o.log.Warn(f.Message, "file", f.File, "remedy", f.Remedy)
		}
	}
	if names := watcher.Snapshot().Unallowed; len(names) > 0 {
		o.log.Warn("hooks of the project do not run, nobody allowed them", "project", project, "hooks", names)
	}
	s.executor = executor.New(watcher, executor.Options{StateDir: o.stateDir, Depth: hookenv.ProcessDepth(), Progress: s.aside})
	s.guest = guest.New(watcher, engine.GuestOptions(o.stateDir))
	return s, nil
}

// projectEngine is one project of the daemon.
type projectEngine struct {
	watcher  *loader.Watcher
	executor *executor.Executor
	guest    *guest.Role
	changed  chan struct{}
	log      *slog.Logger
	began    bool              // the first snapshot is no change; only the watcher's goroutine writes it
	aside    executor.Progress // what no answer to a client holds
	cutOff   engine.HooksCutOff
	console  *cli.Console
	check    callerCheck
	notes    startNotes
}

// logNotice writes to the log what a hook says after its event has gone on. What is
// part of a run, logRun writes.
func (s *projectEngine) logNotice(ev *protocol.Event, n protocol.HookText) {
	if n.Failure == "" && !n.Warning {
		s.log.Warn(n.Text, "hook", n.Hook, "source", n.Source, "event", ev.Event)
	}
}

func (s *projectEngine) logCut(ev *protocol.Event, h *executor.Hook) {
	s.cutOff.Add(ev, h)
	s.log.Warn("a hook was cut off by the end", "hook", h.Name, "event", ev.Event, "session", ev.Session.ID)
}

func (s *projectEngine) tellChanged(snapshot *loader.Snapshot) {
	if !s.began {
		s.began = true
		return
	}
	s.log.Info("another set of hooks is active", "project", snapshot.Set.Project, "generation", snapshot.Set.Generation, "hooks", len(snapshot.Set.Hooks), "findings", len(snapshot.Findings))
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *projectEngine) Fire(ctx context.Context, event protocol.Event, progress daemon.Progress) (protocol.Outcome, error) {
	gate := s.executor.WithProgress(executor.Progress{
		Started: func(_ *protocol.Event, h *executor.Hook) { progress.Started(h.Name, h.Layer) },
		Finished: func(ev *protocol.Event, _ *executor.Hook, run protocol.Run) {
			s.logRun(ev, &run)
			progress.Finished(run)
		},
		Notice: s.aside.Notice,
		Cut:    s.aside.Cut,
	})
	gate = s.guest.For(gate, &event)
	return gate.Fire(ctx, event)
}

// logRun logs what one hook did: at debug all of them, as warnings those that could not
// be asked and those of whose answers something is to be said.
func (s *projectEngine) logRun(ev *protocol.Event, run *protocol.Run) {
	if run.Failure == "" && len(run.Warnings) == 0 && !s.log.Enabled(context.Background(), slog.LevelDebug) {
		return // of the usual run nothing is said
	}
	log := s.log.With("hook", run.Hook, "source", run.Source, "event", ev.Event, "session", ev.Session.ID)
	if run.Failure != "" {
		log.Warn("a hook could not be asked", "failure", run.Failure, "rule", run.Rule, "detail", run.Detail, "stderr", show.LastLines(run.Stderr, 3))
	} else {
		log.Debug("a hook answered", "action", run.Action, "would", run.Would, "reason", run.Reason, "tookMs", run.TookMs)
	}
	for _, w := range run.Warnings {
		log.Warn(w)
	}
}

func (s *projectEngine) List() daemon.Listing { return engine.Describe(s.watcher.Snapshot()) }

func (s *projectEngine) Reload(ctx context.Context) error {
	_, err := s.watcher.Reload(ctx)
	return err
}

func (s *projectEngine) ImportedFrom(agent string) []protocol.HookRef {
	return s.watcher.Current().ImportedFrom(agent)
}

// StartNotes returns what hookd bridge prints when it has loaded these hooks.
func (s *projectEngine) StartNotes() []byte {
	snapshot := s.watcher.Snapshot()
	s.notes.mu.Lock()
	defer s.notes.mu.Unlock()
	if s.notes.of != snapshot {
		s.notes.of, s.notes.text = snapshot, engine.StartNotes(snapshot)
	}
	return s.notes.text
}

// startNotes are those of the snapshot that they were last wanted for.
type startNotes struct {
	mu   sync.Mutex
	of   *loader.Snapshot
	text []byte
}

func (s *projectEngine) Forget(session string) { s.executor.Forget(session) }

func (s *projectEngine) Changed() <-chan struct{} { return s.changed }

func (s *projectEngine) Close(ctx context.Context) error {
	defer s.watcher.Close()
	err := s.executor.Close(ctx)
	s.cutOff.Note(s.console, ctx.Err() != nil)
	return err
}

// Drain is how long the observers of this project may take at the end.
func (s *projectEngine) Drain() time.Duration { return s.executor.Drain() }
