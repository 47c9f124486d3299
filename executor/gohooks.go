package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hookd-dev/hookd/executor/internal/match"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// GoHook is a hook written in Go; see [protocol.GoHook].
type GoHook = protocol.GoHook

// HookOf returns a Go hook as a member of a [Set].
func HookOf(g GoHook) *Hook {
	h := &Hook{
		Hook: schema.Hook{
			Name: g.Name, Description: g.Description, Layer: g.Layer, Protocol: protocol.Version,
			Events: g.Events, Match: g.Match, Can: g.Can, Mode: g.Mode, Priority: g.Priority,
			Timeout: g.Timeout, OnFailure: g.OnFailure,
			Required: g.Required, Sensitive: g.Sensitive, Run: schema.Once, Enabled: true,
		},
		Status:  Ready,
		Watches: g.Watches,
		Asker:   &goAsker{g.Func, g.Watches},
	}
	if h.Layer == "" {
		h.Layer = protocol.Builtin
	}
	if h.Can == "" {
		h.Can = protocol.CanModify
	}
	if h.Mode == "" {
		h.Mode = protocol.Enforce
	}
	h.OnFailure = protocol.EffectiveRule(h.HookInfo())
	return h
}

// Static returns an executor of Go hooks alone, for an agent loop that needs a
// gate and no hook files.
func Static(hooks ...GoHook) (*Executor, error) {
	set, err := StaticSet(hooks...)
	if err != nil {
		return nil, err
	}
	return New(set, Options{}), nil
}

// StaticSet returns a set of Go hooks with default settings. The error names the
// hooks that cannot be used as they are written.
func StaticSet(hooks ...GoHook) (*Set, error) {
	var errs []error
	set := Set{Generation: 1}
	for _, g := range hooks {
		errs = append(errs, checkGoHook(&g))
		set.Hooks = append(set.Hooks, HookOf(g))
	}
	built, matchErrs := NewSet(set)
	for _, err := range matchErrs {
		errs = append(errs, err)
	}
	return built, errors.Join(errs...)
}

func checkGoHook(g *GoHook) error {
	switch {
	case g.Name == "":
		return errors.New("a Go hook has no name")
	case g.Func == nil:
		return fmt.Errorf("hook %s has no Func", g.Name)
	case len(g.Events) == 0:
		return fmt.Errorf("hook %s names no events", g.Name)
	}
	for _, name := range g.Events {
		if protocol.Lookup(name) == nil {
			return fmt.Errorf("hook %s: unknown event %q; %s", g.Name, name, protocol.EventHint(string(name)))
		}
	}
	return nil
}

// goAsker asks a Go function. The executor guards it against panics and against
// functions that ignore their context.
type goAsker struct {
	function func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error)
	watches  bool
}

// Info says that the hook is a function.
func (g *goAsker) Info() AskerInfo { return AskerInfo{InProcess: true} }

// Ask calls the function.
func (g *goAsker) Ask(ctx context.Context, q *Question) protocol.Answer {
	ev := *q.Event
	ev.Data = bytes.Clone(ev.Data) // a hook changes an event by its reply only
	reply, err := g.function(ctx, &ev)
	var failure *protocol.Failure
	switch {
	case err == nil && g.watches && decides(&reply):
		return failed(&protocol.Failure{Kind: protocol.FailReply, Detail: "the hook promised to refuse and change nothing, and answered " + string(reply.Action)})
	case err == nil:
		return protocol.Answer{ReadResult: protocol.ReadResult{Reply: &reply}}
	case errors.As(err, &failure):
		return failed(failure)
	case ctx.Err() != nil:
		return failed(FailureOf(context.Cause(ctx)))
	}
	return failed(&protocol.Failure{Kind: protocol.FailExit, Detail: err.Error()})
}

// decides reports whether a reply refuses or changes what its event is about.
func decides(r *protocol.Reply) bool {
	switch r.Action {
	case protocol.Block, protocol.Deny, protocol.Stop, protocol.Ask, protocol.Modify:
		return true
	}
	return r.Changes != nil || r.Patch != nil || r.Result != nil || r.Response != nil
}

// Join returns a source whose sets hold Go hooks besides those of another
// source, in one running order. The error names the hooks that cannot be used as
// they are written.
func Join(source Source, hooks ...GoHook) (Source, error) {
	j := &withGoHooks{source: source}
	names := map[protocol.HookRef]bool{}
	var errs []error
	for i := range hooks {
		h := HookOf(hooks[i])
		ref := protocol.HookRef{Layer: h.Layer, Name: h.Name}
		if names[ref] {
			errs = append(errs, fmt.Errorf("two Go hooks are named %s", h.Name))
		}
		names[ref] = true
		errs = append(errs, checkGoHook(&hooks[i]))
		if _, key, err := match.Compile(&h.Match); err != nil {
			errs = append(errs, MatchError{h, key, err})
		}
		j.hooks = append(j.hooks, h)
	}
	return j, errors.Join(errs...)
}

// withGoHooks makes one set of each set of its source, so that what compares sets by
// their address finds the same one again.
type withGoHooks struct {
	source Source
	hooks  []*Hook

	mu       sync.Mutex
	from, to *Set
}

// Current returns the source's set with the Go hooks in it.
func (w *withGoHooks) Current() *Set {
	from := w.source.Current()
	if from == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.from != from {
		set := *from
		set.Hooks = append(append([]*Hook(nil), from.Hooks...), w.hooks...)
		w.from = from
		w.to, _ = NewSet(set) // the hooks of source were compiled before, the others by Join
	}
	return w.to
}

// Gate decides events as its [Executor] does, but with the hooks of another source or
// with another Progress. It shares everything else with the executor.
type Gate struct {
	executor *Executor
	source   Source
	progress Progress
}

var (
	_ protocol.EventGate = (*Executor)(nil)
	_ protocol.EventGate = (*Gate)(nil)
)

func (e *Executor) gate() *Gate { return &Gate{e, e.source, e.options.Progress} }

// Gate returns a gate that decides events as the executor itself does.
func (e *Executor) Gate() *Gate { return e.gate() }

// WithSource returns a gate with the hooks of another source. Sets of one source that
// stand for the same hooks should be the same [Set]: what a session began with is
// compared with each new one.
func (v *Gate) WithSource(source Source) *Gate { return &Gate{v.executor, source, v.progress} }

// WithProgress returns a gate of the executor that tells p about the hooks of its
// events.
func (e *Executor) WithProgress(p Progress) *Gate { return &Gate{e, e.source, p} }

// Extend returns a gate of the executor with Go hooks: they are asked about the events
// that are fired through the gate, and nowhere else.
func (e *Executor) Extend(hooks ...GoHook) (protocol.EventGate, error) {
	return e.gate().Extend(hooks...)
}

// MayChange reports whether a hook that may block or change an event could match it. A
// host then holds back what the event is about until it is decided. Only what is known before the event counts: its name, the agent, and the
// tool where the data names one; a condition on anything else may come true.
func (e *Executor) MayChange(ev protocol.Event) bool { return e.source.Current().mayChange(&ev) }

// Refuses returns the name of a hook that refuses an event whatever else it says than the
// agent and the tool, "" if none is known to: a rule without a condition. A host need not
// offer a tool of which every call is refused.
func (e *Executor) Refuses(ev protocol.Event) string { return nameOf(e.source.Current().refusing(&ev)) }

// Refuses is [Executor.Refuses].
func (v *Gate) Refuses(ev protocol.Event) string { return nameOf(v.source.Current().refusing(&ev)) }

func nameOf(h *Hook) string {
	if h == nil {
		return ""
	}
	return h.Name
}

// Fire is [Executor.Fire].
func (v *Gate) Fire(ctx context.Context, ev protocol.Event) (protocol.Outcome, error) {
	return v.begin(ctx, ev).decide()
}

// Begin is [Executor.Begin].
func (v *Gate) Begin(ctx context.Context, ev protocol.Event) func() (protocol.Outcome, error) {
	return v.begin(ctx, ev).decide
}

// MayChange is [Executor.MayChange].
func (v *Gate) MayChange(ev protocol.Event) bool { return v.source.Current().mayChange(&ev) }

// CallbackResult is [Executor.CallbackResult].
func (v *Gate) CallbackResult(session, agent string, hook protocol.HookRef) func(text string) {
	return v.executor.CallbackResult(session, agent, hook)
}

// Extend is [Executor.Extend].
func (v *Gate) Extend(hooks ...GoHook) (protocol.EventGate, error) {
	source, err := Join(v.source, hooks...)
	if err != nil {
		return nil, err
	}
	return &Gate{v.executor, source, v.progress}, nil
}
