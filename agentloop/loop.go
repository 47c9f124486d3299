package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

// Loop is one agent in one session. It runs one prompt at a time.
type Loop struct {
	options Options
	tools   *toolList
	session protocol.Session

	// What the session holds. Only the goroutine of the running prompt touches
	// these.
	messages  []protocol.Message
	encodings encodings // of messages
	system    string
	turn      int // user prompts so far
	forced    forcing
	started   bool
	refused   error // session-start was stopped: no run in this session

	lineage
	numbers *numbers // of the session's events, shared with the loops that work for this one

	mu      sync.Mutex
	running bool
	closed  bool
}

// Errors of [Loop.Run].
var (
	ErrRunning = errors.New("agent loop: a prompt is running")
	ErrClosed  = errors.New("agent loop: the session is closed")
)

// New returns a loop. It fails without a gate or a model, on tools that share a
// name or have a broken schema, and when a resumed session cannot be repaired.
func New(options Options) (*Loop, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	if err := options.takeProviders(); err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	tools, err := newToolList(&options)
	if err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	l := &Loop{options: options, tools: tools, system: options.System}
	l.tools.last = l.isLast()
	l.numbers = newNumbers()
	if options.Session == nil {
		l.session.ID = protocol.NewID()
	} else {
		l.session = protocol.Session{ID: options.Session.ID(), Transcript: options.Session.Path()}
		if err := l.resume(options.Session.State()); err != nil {
			return nil, fmt.Errorf("agent loop: %w", err)
		}
	}
	if l.options.Source == "" {
		l.options.Source = "startup"
		if len(l.messages) > 0 {
			l.options.Source = "resume"
		}
	}
	return l, nil
}

// resume takes over what a session's file holds. A conversation that no model
// could read, or that no run of ours can have left, is a [store.DamageError].
func (l *Loop) resume(state store.State) error {
	if fault := checkResumed(state.Messages); fault != nil {
		return l.options.Session.Damage(fault.message, fault)
	}
	l.messages, l.turn = state.Messages, state.Turn
	if state.System != nil {
		l.system = *state.System
	}
	if state.Tools != nil {
		l.tools.restore(state.Tools)
	}
	return l.repair()
}

// Session is the session that events name.
func (l *Loop) Session() protocol.Session { return l.session }

// Messages is the conversation so far. It must not be called while a prompt
// runs.
func (l *Loop) Messages() []protocol.Message { return slices.Clone(l.messages) }

// Run begins to work on a prompt of the user. Read the run's events until the
// channel closes, then Wait: a run waits for its watcher as long as ctx lives.
func (l *Loop) Run(ctx context.Context, prompt string) (*Run, error) {
	return l.RunPrompt(ctx, Prompt{Text: prompt})
}

// RunPrompt is [Loop.Run] for a prompt with attachments or of another source.
func (l *Loop) RunPrompt(ctx context.Context, prompt Prompt) (*Run, error) {
	if prompt.Text == "" && len(prompt.Attachments) == 0 {
		return nil, errors.New("agent loop: the prompt is empty")
	}
	return l.start(ctx, func(r *Run) { r.rounds(prompt) })
}

// start begins work in a goroutine of its own, unless other work goes on.
func (l *Loop) start(ctx context.Context, work func(*Run)) (*Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.running:
		return nil, ErrRunning
	}
	l.running = true
	r := newRun(ctx, l)
	go r.drive(work)
	return r, nil
}

// Close ends the session: session-end fires with the reason (exit interrupted
// closed error) if the session ever began, and its number is kept. The yield is
// that event. The session's file is the caller's to close.
func (l *Loop) Close(ctx context.Context, reason string) (Yield, error) {
	l.mu.Lock()
	if l.running {
		l.mu.Unlock()
		return Yield{}, ErrRunning
	}
	if l.closed {
		l.mu.Unlock()
		return Yield{}, nil
	}
	l.closed = true
	l.mu.Unlock()

	var yield Yield
	if l.started {
		told := context.WithValue(ctx, farewellKey{}, true)
		v, err := newRun(ctx, l).decide(told, protocol.SessionEnd, protocol.SessionEndData{Reason: reason})
		if err != nil {
			return Yield{}, err
		}
		yield = Yield{Kind: YieldEvent, Event: v.Event, Outcome: v.Outcome}
	}
	return yield, l.keep(store.Entry{Kind: store.Closed, Text: reason, Seq: l.numbers.latest()})
}

// release lets the next prompt run.
func (l *Loop) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = false
}
