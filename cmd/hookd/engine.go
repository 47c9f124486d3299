package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// openOptions say what a command needs of an engine.
type openOptions struct {
	longLived bool // hooks are ended by a guardian should hookd be killed; changes are followed
	explain   bool // hooks that do not match are listed too
}

// engine is the hooks of one project, ready to decide events.
type engine struct {
	executor *executor.Executor
	source   executor.Source
	root     string // working directory of hooks
	stateDir string // "" if there is none: nothing is recorded
	progress *show.Progress
	late     lateRuns
	working  hooksAtEvents // now
	cuts     hooksAtEvents
	app      *app
	closing  sync.Once
}

// lateRuns are the runs of hooks that nobody waits for.
type lateRuns struct {
	mu   sync.Mutex
	list []protocol.Run
}

// isLate reports whether nobody waited for a hook at an event, so that its run is in
// no outcome.
func isLate(ev *protocol.Event, h *executor.Hook) bool {
	spec := ev.Spec()
	atNotice := spec != nil && spec.Kind == protocol.Notice
	return atNotice || h.Mode == protocol.Audit || h.Can == protocol.CanObserve && !h.Required
}

func (l *lateRuns) add(ev *protocol.Event, h *executor.Hook, run protocol.Run) {
	if !isLate(ev, h) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, run)
}

func (l *lateRuns) runs() []protocol.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// open loads the hooks of the project that the command runs in.
func (a *app) open(ctx context.Context, options openOptions) (*engine, error) {
	rt, err := a.runtime(options.longLived)
	if err != nil {
		return nil, err
	}
	e := &engine{stateDir: a.stateDirOrWarn(), app: a}
	if options.longLived {
		watcher, err := loader.Watch(ctx, a.loaderOptions(rt))
		if err != nil {
			return nil, noProject(err)
		}
		a.atEnd(func() error { watcher.Close(); return nil })
		a.tellOnce(watcher.Snapshot(), true)
		e.source = watcher
	} else {
		snapshot, err := loader.Load(ctx, a.loaderOptions(rt))
		if err != nil {
			return nil, noProject(err)
		}
		a.tellOnce(snapshot, false)
		e.source = snapshot.Set
	}
	e.root = e.project()
	if e.root == "" {
		if e.root, err = os.Getwd(); err != nil {
			return nil, noDirectory()
		}
	}
	e.progress = show.StartProgress(a.err)
	e.executor = executor.New(e.source, executor.Options{
		StateDir: e.stateDir, Depth: hookenv.ProcessDepth(), Explain: options.explain, Progress: a.watchHooks(e),
	})
	a.abort.Store(&hurry{a.endNow})
	a.atEnd(func() error {
		if err := e.close(ctx); err != nil {
			return lost{err}
		}
		return nil
	})
	return e, nil
}

// close waits for the hooks of events that were due, as long as hooks.drain says. No
// end of ctx cuts them off, only a second signal: who ended the run did not end its
// account. What went wrong is told to the first who closes.
func (e *engine) close(ctx context.Context) (err error) {
	e.closing.Do(func() {
		waiting := time.AfterFunc(noticeable, func() {
			if errors.Is(context.Cause(ctx), errInterrupted) {
				e.tellWaiting()
			}
		})
		err = e.executor.Close(e.app.unhurried)
		waiting.Stop()
		if _, told := errors.AsType[executor.ToldError](err); told {
			err = nil
		}
		e.progress.Stop()
		e.app.tellCuts(&e.cuts, e.app.unhurried.Err() != nil)
	})
	return err
}

// noticeable is how long a person waits for an end before asking why.
const noticeable = time.Second

// tellWaiting says what the end waits for.
func (e *engine) tellWaiting() {
	if names := e.working.String(); names != "" {
		e.progress.Aside(func() { e.app.note("waiting for "+names, "a second interrupt ends that") })
	}
}

func (a *app) loaderOptions(rt *process.Runtime) loader.Options {
	return loader.Options{Project: a.project, Runtime: rt, Program: ownProgram(), Pool: a.pool, OnNotice: func(f schema.Finding) { a.note(f.Message, f.Remedy) }}
}

// project is the root of the project, "" without one.
func (e *engine) project() string { return e.source.Current().Project }

func (e *engine) settings() *schema.Settings { return &e.source.Current().Settings }

// forcedOf are the caps of forced continuations by hooks of an origin.
func (e *engine) forcedOf(origin protocol.Origin) (row, total int) {
	own := e.source.Current().SettingsOf(origin)
	return own.MaxForced, own.MaxForcedTotal
}

// fire decides one event, with the name of a slow hook on the terminal.
func (e *engine) fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	outcome, err := e.executor.Fire(ctx, event)
	if err != nil {
		return outcome, context.Cause(ctx)
	}
	return outcome, nil
}

// watchHooks shows the hooks at work, and prints what observers have to say
// when nobody waits for them any more.
func (a *app) watchHooks(e *engine) executor.Progress {
	progress := e.progress
	return executor.Progress{
		Started: func(ev *protocol.Event, h *executor.Hook) {
			progress.Begin(h.Name)
			e.working.add(ev, h)
		},
		Finished: func(ev *protocol.Event, h *executor.Hook, run protocol.Run) {
			progress.End(h.Name)
			e.working.remove(ev, h)
			e.late.add(ev, h, run)
			if a.late != nil && isLate(ev, h) {
				a.late(ev, &run, nil)
			}
		},
		Cut: e.cuts.add,
		Notice: func(ev *protocol.Event, n protocol.HookText) {
			if a.late != nil {
				a.late(ev, nil, &n)
				return
			}
			progress.Aside(func() {
				a.err.Print("%s%s: %s\n", a.err.In(show.Name, "· "), whoSays(a.err, &n), show.Line(n.Text))
			})
		},
	}
}

// stateDirOrWarn is the folder of records and sessions. Without one hooks still
// decide; only nothing is kept.
func (a *app) stateDirOrWarn() string {
	dir, err := executor.StateDir()
	if err != nil {
		a.note("nothing is recorded: "+err.Error(), "make $XDG_STATE_HOME (or ~/.local/state) a folder that you can write to")
		return ""
	}
	return dir
}

// listing describes the hooks as they stand.
func (a *app) listing(ctx context.Context) (daemon.Listing, error) {
	snapshot, err := a.look(ctx)
	if err != nil {
		return daemon.Listing{}, err
	}
	return describe(snapshot), nil
}

// look loads what there is, to show it.
func (a *app) look(ctx context.Context) (*loader.Snapshot, error) {
	rt, err := a.runtime(false)
	if err != nil {
		return nil, err
	}
	snapshot, err := loader.Load(ctx, a.loaderOptions(rt))
	if err != nil {
		return nil, noProject(err)
	}
	judgeDocuments(snapshot)
	return snapshot, nil
}

func describe(s *loader.Snapshot) daemon.Listing {
	listing := daemon.Describe(s.Set, s.Findings)
	for _, info := range s.Settings {
		listing.Settings = append(listing.Settings, daemon.ListedSettings{Source: info.Layer, File: info.File, State: string(info.State)})
	}
	for i := range listing.Hooks {
		listing.Hooks[i].DescribedBy = string(s.Hooks[i].DescribedBy)
	}
	return listing
}
