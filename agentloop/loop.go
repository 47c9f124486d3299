package agentloop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

// Loop is one agent in one session. It runs one prompt at a time.
type Loop struct {
	agent *agent // only the goroutine of the running prompt uses it

	mu      sync.Mutex
	running bool
	closed  bool
}

// Errors of [Loop.Run].
var (
	ErrRunning = errors.New("agent loop: a prompt is running")
	ErrClosed  = errors.New("agent loop: the session is closed")
)

// New returns a loop. It fails without a model, on tools that share a name or have a broken
// schema, on a gate that the providers' hooks cannot join, and when a resumed session cannot
// be repaired.
func New(options Options) (*Loop, error) {
	session, err := newSession(options)
	if err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	agent, err := newAgent(session)
	if err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	if session.Source == "" {
		session.Source = "startup"
		if len(agent.history.Messages()) > 0 {
			session.Source = "resume"
		}
	}
	return &Loop{agent: agent}, nil
}

// Session returns the session that events name.
func (l *Loop) Session() protocol.Session { return l.agent.session.id }

// Messages returns the conversation so far. It must not be called while a prompt runs.
func (l *Loop) Messages() []protocol.Message { return slices.Clone(l.agent.history.Messages()) }

// Run begins to work on a prompt of the user. The caller must read the run's events until
// the channel closes, then Wait: a run waits for its watcher as long as ctx lives.
func (l *Loop) Run(ctx context.Context, prompt string) (*Run, error) {
	return l.RunPrompt(ctx, Prompt{Text: prompt})
}

// RunPrompt is [Loop.Run] for a prompt with attachments or of another source.
func (l *Loop) RunPrompt(ctx context.Context, prompt Prompt) (*Run, error) {
	if prompt.Text == "" && len(prompt.Attachments) == 0 {
		return nil, errors.New("agent loop: the prompt is empty")
	}
	return l.start(ctx, func(_ context.Context, r *agentRun) { r.runAll(prompt) })
}

// RunRecipe runs a recipe by hand: its text is the prompt, its answer joins the
// conversation, and for as long as the run goes on the loop has no tools but the recipe's.
// The error names an argument that is missing or not the recipe's.
func (l *Loop) RunRecipe(ctx context.Context, name string, args map[string]string) (*Run, error) {
	rec, text, err := l.agent.render(protocol.Builtin, name, args)
	if err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	return l.start(ctx, func(ctx context.Context, r *agentRun) {
		r.refreshTools(ctx, true)
		restricted := *r.agent // the same conversation
		restricted.forRecipe(rec)
		r.agent, r.events.agent = &restricted, &restricted
		r.reportMissingTools(ctx, rec, r.agent)
		r.runAll(Prompt{Text: text, Source: "recipe", byHand: true})
	})
}

// Compact sums the conversation up by a recipe, compact if it is "", and leaves the summary
// in its place; instructions, which may be empty, are added to the recipe's text. The caller
// must read the run's events, then Wait: it returns an [*Error] if the conversation is as it
// was, because a hook refused or the recipe came to nothing. No agent-start and no agent-end
// fires but those of the recipe's own run. The run's response is the summary.
func (l *Loop) Compact(ctx context.Context, name, instructions string) (*Run, error) {
	rec, text, err := l.agent.render(protocol.Builtin, cmp.Or(name, "compact"), nil)
	if err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	return l.start(ctx, func(ctx context.Context, r *agentRun) {
		c := compaction{run: r, trigger: "manual", recipe: rec, text: text, instructions: strings.TrimSpace(instructions)}
		c.byHand(ctx)
	})
}

// RunCall runs a tool call that the person makes, such as a shell command typed into a
// conversation. It goes the way of the model's calls: hooks judge it at tool-call-start and
// tool-call-end (source: user), and an ask of a hook is put to the person. The loop's own
// [Consent] is not asked: the person wants the call. What was called and what came of it
// joins the conversation, so the model reads it with the next prompt; of a call that was
// refused nothing does. No agent-start and no agent-end fires. The caller must read the
// run's events, then Wait: it returns nil if the call was refused or failed, too.
func (l *Loop) RunCall(ctx context.Context, name string, args protocol.RawMessage) (*Run, error) {
	return l.start(ctx, func(ctx context.Context, r *agentRun) { (&personCall{r, name, args}).byHand(ctx) })
}

// start begins work in a goroutine of its own, unless other work goes on.
func (l *Loop) start(ctx context.Context, work func(context.Context, *agentRun)) (*Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.running:
		return nil, ErrRunning
	}
	l.running = true
	ctx, stop := limits.WithAbortDeadline(ctx)
	r := newRun(ctx, l.agent)
	go func() {
		defer close(r.done)
		defer close(r.events)
		defer l.release()
		defer stop()
		work(ctx, r.work)
	}()
	return r, nil
}

// release lets the next prompt run.
func (l *Loop) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = false
}

// Idle tells hooks that the agent is done and waits for a prompt, for a person who went
// away: a notification of kind idle. It is for hosts in which a conversation goes on,
// between two runs. sent is false if a run goes on, none ever began, or the context ended.
// The update is that event.
func (l *Loop) Idle(ctx context.Context, last Result) (update Update, sent bool) {
	l.mu.Lock()
	if l.running || l.closed || !l.agent.session.started {
		l.mu.Unlock()
		return Update{}, false
	}
	l.running = true
	l.mu.Unlock()
	defer l.release()

	text := "the agent is done and waits for a prompt"
	if line, _, _ := strings.Cut(strings.TrimSpace(last.Response), "\n"); line != "" {
		text += ": " + shortened(line, 100)
	}
	update, err := l.fire(ctx, protocol.Notification, protocol.NotificationData{Kind: "idle", Text: text})
	return update, err == nil
}

// fire fires an event outside of a run.
func (l *Loop) fire(ctx context.Context, name protocol.EventName, data any) (Update, error) {
	v, err := newRun(ctx, l.agent).work.events.decide(ctx, name, data)
	if err != nil {
		return Update{}, err
	}
	return Update{Kind: UpdateEvent, Event: v.Event, Outcome: v.Outcome}, nil
}

// SetModel lets another model answer from the next prompt on, and records what
// [model.Origin] says of it with the session. It returns [ErrRunning] while a prompt runs
// and [ErrClosed] after the end of the session.
func (l *Loop) SetModel(m model.Model) error {
	if m == nil {
		return errors.New("agent loop: a model is needed")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrClosed
	case l.running:
		return ErrRunning
	}
	if err := l.agent.history.Record(store.Entry{Kind: store.Model, Text: model.Origin(m)}); err != nil {
		return internal(err)
	}
	l.agent.session.Model = m
	return nil
}

// Close ends the session: session-end fires with the reason (exit interrupted closed error)
// if the session ever began, and the session's file records the number of that event. The
// update is that event. The caller closes the session's file.
func (l *Loop) Close(ctx context.Context, reason string) (Update, error) {
	l.mu.Lock()
	if l.running {
		l.mu.Unlock()
		return Update{}, ErrRunning
	}
	if l.closed {
		l.mu.Unlock()
		return Update{}, nil
	}
	l.closed = true
	l.mu.Unlock()

	var update Update
	session := l.agent.session
	if session.started {
		var err error
		update, err = l.fire(limits.Detached(ctx), protocol.SessionEnd, protocol.SessionEndData{Reason: reason})
		if err != nil {
			return Update{}, err
		}
	}
	return update, l.agent.history.Record(store.Entry{Kind: store.Closed, Text: reason, Seq: session.sequence.latest()})
}
