package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Engine runs the hooks of one project. The daemon shares it between the
// sessions of the project and closes it when none has used it for a while.
type Engine interface {
	// Fire asks the hooks of one event. The error is non-nil for one reason
	// only: ctx ended. Progress may be called from other goroutines, also after
	// Fire returned (observers finish late).
	Fire(ctx context.Context, event protocol.Event, progress Progress) (protocol.Outcome, error)

	// List describes the hooks as they stand now.
	List() Listing

	// Reload reads everything anew, and returns when that is active.
	Reload(ctx context.Context) error

	// Changed gets a value whenever another set of hooks has become active.
	Changed() <-chan struct{}

	// Close waits for observers and leaves no process running. When ctx ends it
	// stops waiting and kills.
	Close(ctx context.Context) error
}

// Forgetter is an [Engine] that keeps something of each session in memory.
type Forgetter interface {
	// Forget is called when a session is over.
	Forget(session string)
}

// Drainer is an [Engine] that says how long its observers may take at its end. Without
// it that is [Options.Drain].
type Drainer interface {
	Drain() time.Duration
}

// Progress is told about each hook of an event as it begins and ends. Both
// functions are set.
type Progress struct {
	Started  func(hook string, layer protocol.Layer)
	Finished func(run protocol.Run)
}

// Options configure a [Server]. Only Open is required.
type Options struct {
	// Open starts the engine of a project. The project is what Resolve returned.
	Open func(ctx context.Context, project, cwd string) (Engine, error)

	// Resolve finds the root of the project that a session names, or that its
	// working directory lies in. It is what makes two sessions share an engine.
	// Without it the project's name itself, or else the directory, is the root.
	Resolve func(project, cwd string) (string, error)

	// ResolveCaller does so for a caller of bridge/event, whose projects are those of several
	// folders, the first of which counts most: the engine's hooks must decide as they would in
	// the caller's own process. It fails if none can. Without it that is what Resolve returns.
	ResolveCaller func(folders []string, caller Caller) (string, error)

	// Verifying returns the token of hookd verify, if that waits for this call of
	// bridge/event, and what is called when it was answered. Without it nothing is verified.
	Verifying func(caller Caller) (token string, answered func(agent, event string))

	Project, Cwd string // what initialize lists hooks of when it names nothing

	Version string // of the program, for initialize

	Limits Limits

	Linger time.Duration // how long the daemon waits at its end for one more event to end, default 1s
	Drain  time.Duration // how long all events may take at its end, default 10s
	Idle   time.Duration // how long an unused engine is kept, default 30s

	// EndUnused ends the daemon when nobody has been connected for so long, 0 never.
	EndUnused time.Duration
	// Outdated reports, at each new connection, whether the daemon must make room for a
	// newer one: it ends then.
	Outdated func() bool

	Log slog.Handler // besides the notification log; never stdout. Default: discarded
}

// Limits bound what clients may ask for. Zero values mean the defaults.
type Limits struct {
	Line        int64 // longest line that is read, in bytes, default 32 MiB
	Pending     int64 // bytes that a connection may hold, in and out, default 64 MiB
	Parallel    int   // events of one connection that run at once, default 64
	Connections int   // connections at once, default 64
	Engines     int   // engines that are kept, default 32; those in use may be more
}

func (o *Options) setDefaults() {
	setDefault(&o.Limits.Line, rpc.DefaultLimit)
	setDefault(&o.Limits.Pending, 64<<20)
	setDefault(&o.Limits.Parallel, 64)
	setDefault(&o.Limits.Connections, 64)
	setDefault(&o.Limits.Engines, 32)
	setDefault(&o.Linger, time.Second)
	setDefault(&o.Drain, 10*time.Second)
	setDefault(&o.Idle, 30*time.Second)
	if o.Verifying == nil {
		o.Verifying = func(Caller) (string, func(string, string)) { return "", func(string, string) {} }
	}
	if o.Log == nil {
		o.Log = slog.DiscardHandler
	}
	if o.Resolve == nil {
		o.Resolve = func(project, cwd string) (string, error) {
			if project == "" {
				project = cwd
			}
			return project, nil
		}
	}
	if o.ResolveCaller == nil {
		o.ResolveCaller = func(folders []string, _ Caller) (string, error) { return o.Resolve("", folders[0]) }
	}
}

func setDefault[T int | int64 | time.Duration](value *T, to T) {
	if *value == 0 {
		*value = to
	}
}
