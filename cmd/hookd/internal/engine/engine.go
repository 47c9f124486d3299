package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Engine is the hooks of one project, ready to decide events.
type Engine struct {
	Root     string // working directory of hooks
	StateDir string // "" if there is none: nothing is recorded

	executor *executor.Executor
	guest    *guest.Role
	source   executor.Source
	watcher  *loader.Watcher // nil where changes are not followed
	observer *Observer
	opener   *Opener
	closing  sync.Once
}

// Close waits for the hooks of events that are due, as long as hooks.drain says. The end
// of ctx does not cut them off, only a second signal does: a person who ends a run did not
// end the account of it. The first call returns what went wrong.
func (e *Engine) Close(ctx context.Context) (err error) {
	e.closing.Do(func() {
		waiting := time.AfterFunc(noticeable, func() {
			if errors.Is(context.Cause(ctx), signals.ErrInterrupted) {
				e.noteWaiting()
			}
		})
		forced := e.opener.Signals.Forced()
		err = e.executor.Close(forced)
		waiting.Stop()
		if _, told := errors.AsType[executor.ToldError](err); told {
			err = nil
		}
		e.observer.Progress.Stop()
		e.observer.cutOff.Note(e.opener.Console, forced.Err() != nil)
	})
	return err
}

// noticeable is how long a person waits for an end before asking why.
const noticeable = time.Second

// noteWaiting says what the end waits for.
func (e *Engine) noteWaiting() {
	if names := e.observer.working.String(); names != "" {
		e.Aside(func() { e.opener.Console.Note("waiting for "+names, "a second interrupt ends that") })
	}
}

// Aside runs print so that what it prints does not mix with the progress line.
func (e *Engine) Aside(print func()) { e.observer.Progress.Aside(print) }

// Progress returns the line that shows the hooks at work.
func (e *Engine) Progress() *show.Progress { return e.observer.Progress }

// LateRuns returns the runs that ended after the outcome of their event.
func (e *Engine) LateRuns() []protocol.Run { return e.observer.LateRuns.Runs() }

// Project returns the root of the project, "" without one.
func (e *Engine) Project() string { return e.source.Current().Project }

// Settings returns the settings in force. They must not be changed.
func (e *Engine) Settings() *schema.Settings { return &e.source.Current().Settings }

// ImportedFrom returns the hooks that were read from the settings of one agent.
func (e *Engine) ImportedFrom(agent string) []protocol.HookRef {
	return e.source.Current().ImportedFrom(agent)
}

// HooksFor returns the hooks of an event, in running order.
func (e *Engine) HooksFor(event protocol.EventName) []*executor.Hook {
	return e.source.Current().For(event)
}

// Watcher returns what follows the changes of files, nil for an engine that does not.
func (e *Engine) Watcher() *loader.Watcher { return e.watcher }

// ForcedOf returns the limits of forced continuations by hooks of an origin.
func (e *Engine) ForcedOf(origin protocol.Origin) (row, total int) {
	own := e.source.Current().SettingsOf(origin)
	return own.MaxForced, own.MaxForcedTotal
}

// Executor returns what decides the events: the gate of an agent loop.
func (e *Engine) Executor() *executor.Executor { return e.executor }

// Begin gives an event of another agent its place; see [protocol.EventGate].
func (e *Engine) Begin(ctx context.Context, event protocol.Event) func() (protocol.Outcome, error) {
	gate := e.guest.For(e.executor.Gate(), &event)
	return gate.Begin(ctx, event)
}

// MayChange reports whether a hook that may block or change an event of another agent could
// match it.
func (e *Engine) MayChange(event protocol.Event) bool {
	return e.guest.For(e.executor.Gate(), &event).MayChange(event)
}

// Refuses returns the name of a hook that refuses an event of another agent whatever else it
// says than the tool; see [executor.Executor.Refuses].
func (e *Engine) Refuses(event protocol.Event) string {
	return e.guest.For(e.executor.Gate(), &event).Refuses(event)
}

// Fire decides one event, one of another agent as the guest role says.
func (e *Engine) Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	gate := e.guest.For(e.executor.Gate(), &event)
	return gate.Fire(ctx, event)
}
