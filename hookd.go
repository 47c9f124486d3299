package hookd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Options say which hooks a [Gate] has. The zero value finds the project of the working
// directory.
type Options struct {
	// Project is the folder of the project. "" searches upwards from the working
	// directory for a folder that has .acai.
	Project string

	// Hooks are hooks of the agent itself, written in Go. They have their places in one
	// running order with those of the files.
	Hooks []protocol.GoHook

	// StateDir is the folder of trust, records and what hooks remember. "" is the
	// user's: $XDG_STATE_HOME/hookd, which the program hookd uses, too.
	StateDir string

	// Program is the absolute path of the program hookd, for hooks in a shell, which
	// read an event by "$HOOKD" get. "" is the hookd on the hooks' PATH.
	Program string

	// OnFinding, unless nil, gets what a person should know of the hook files: what is
	// broken, changed or not allowed, with the remedy. It is called for all findings at
	// the opening and after each change, by one goroutine at a time, and must not block.
	OnFinding func(schema.Finding)

	// OnNotice, unless nil, gets what hooks say to the person after the outcome of their
	// event was returned. It may be called from several goroutines and must not block.
	OnNotice func(event *protocol.Event, notice protocol.HookText)
}

// Gate decides the events of an agent by asking its hooks. It is safe for concurrent use,
// and one gate serves any number of sessions and agents. It is an [protocol.EventGate],
// as package agentloop needs one.
type Gate struct {
	protocol.EventGate
	executor *executor.Executor
	source   executor.Source
	watcher  *loader.Watcher // nil of a static gate

	closing sync.Mutex     // guards closers
	closers []func() error // the last is called first
}

// Open returns a gate with the hooks of a project, of the user and of the machine. ctx
// ends the loading and nothing else: the gate lives until Close. The error says that
// there is no such folder, that no program can be run, or why ctx ended. Broken hook
// files are no error: their events are refused or pass as their rules say, and OnFinding
// is told.
func Open(ctx context.Context, options Options) (*Gate, error) {
	g := &Gate{}
	if err := g.open(ctx, options); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Gate) open(ctx context.Context, options Options) error {
	stateDir := options.StateDir
	if stateDir == "" {
		var err error
		if stateDir, err = executor.StateDir(); err != nil {
			return fmt.Errorf("find the state folder: %w", err)
		}
	}
	// The executor counts hooks at once, by hooks.processes, so the runtime need not.
	runtime, err := process.New(process.Options{LongLived: true, Processes: mostProcesses})
	if err != nil {
		return err
	}
	g.closers = append(g.closers, runtime.Close)
	pool := exechook.NewPool(runtime)
	g.closers = append(g.closers, pool.Close)
	watching, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	g.closers = append(g.closers, func() error { stop(nil); return nil })
	loaded := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	g.watcher, err = loader.Watch(watching, loader.Options{
		Project: options.Project, StateDir: stateDir, Program: options.Program,
		Runtime: runtime, Pool: pool, OnChange: findingsTo(options.OnFinding), OnNotice: options.OnFinding,
	})
	if err != nil {
		return err
	}
	g.closers = append(g.closers, func() error { g.watcher.Close(); return nil })
	if !loaded() {
		return context.Cause(ctx)
	}
	source, err := executor.Join(g.watcher, options.Hooks...)
	if err != nil {
		return err
	}
	g.decideWith(source, executor.Options{
		StateDir: stateDir, Depth: hookenv.ProcessDepth(), Progress: executor.Progress{Notice: options.OnNotice},
	})
	return nil
}

// mostProcesses is more than hooks.processes can be.
const mostProcesses = 4096

func findingsTo(tell func(schema.Finding)) func(*loader.Snapshot) {
	if tell == nil {
		return nil
	}
	return func(snapshot *loader.Snapshot) {
		for _, finding := range snapshot.Findings {
			tell(finding)
		}
	}
}

// Static returns a gate of Go hooks alone. It reads no files, starts no processes and
// keeps nothing on disk. The error names the hooks that cannot be used as they are
// written.
func Static(hooks ...protocol.GoHook) (*Gate, error) {
	set, err := executor.StaticSet(hooks...)
	if err != nil {
		return nil, err
	}
	g := &Gate{}
	g.decideWith(set, executor.Options{})
	return g, nil
}

func (g *Gate) decideWith(source executor.Source, options executor.Options) {
	ruling := &endingSource{Source: source}
	g.source, g.executor = source, executor.New(ruling, options)
	g.EventGate = g.executor
	g.closers = append(g.closers, ruling.end, func() error { return g.executor.Close(context.Background()) })
}

// endingSource is a source of hooks that refuses every event after its end: hooks that
// are asked no more must not let one pass.
type endingSource struct {
	executor.Source
	ended atomic.Pointer[executor.Set]
}

func (s *endingSource) Current() *executor.Set {
	if set := s.ended.Load(); set != nil {
		return set
	}
	return s.Source.Current()
}

func (s *endingSource) end() error {
	set, _ := executor.NewSet(executor.Set{Refuse: &protocol.Failure{
		Kind: protocol.FailAborted, Detail: "the gate was closed", Remedy: "close the gate after its last event",
	}})
	s.ended.Store(set)
	return nil
}

// Fire asks the hooks about one event and returns the outcome, which the agent obeys.
// The error has one reason only: ctx has ended, and the event must not take effect.
// Everything else that goes wrong is in the outcome, and refuses what must not pass
// unchecked. The outcome's event is the one that counts: a hook may have changed it.
func (g *Gate) Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	return g.executor.Fire(ctx, event)
}

// Findings returns what a person should know of the hook files as they are now, with
// file, line and remedy. A static gate has none.
func (g *Gate) Findings() []schema.Finding {
	if g.watcher == nil {
		return nil
	}
	return g.watcher.Snapshot().Findings
}

// Hooks returns the hooks that there are now, in the order in which they are asked, those
// included that cannot run and refuse their events for that.
func (g *Gate) Hooks() []protocol.HookRef {
	var refs []protocol.HookRef
	for _, h := range g.source.Current().Hooks {
		refs = append(refs, protocol.HookRef{Layer: h.Layer, Name: h.Name})
	}
	return refs
}

// Forget drops what hooks keep in memory for a session, and ends its resident processes.
// The agent calls it when a session is over.
func (g *Gate) Forget(session string) { g.executor.Forget(session) }

// Close waits for hooks that are still told of what happened, as long as hooks.drain
// says, ends what runs, and leaves no process running. Events that are fired afterwards
// are refused. The error says what could not be recorded or ended. Close may be called
// again, and by several goroutines: each call returns when the gate is closed.
func (g *Gate) Close() error {
	g.closing.Lock()
	defer g.closing.Unlock()
	var errs []error
	for i := len(g.closers) - 1; i >= 0; i-- {
		errs = append(errs, g.closers[i]())
	}
	g.closers = nil
	return errors.Join(errs...)
}
