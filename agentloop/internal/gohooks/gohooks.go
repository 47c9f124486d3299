package gohooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/hookmatch"
)

// Gate is a [protocol.EventGate] of Go hooks. The zero value has none.
type Gate struct {
	hooks  []hook // in running order, with their defaults
	states *states
}

type hook struct {
	protocol.GoHook
	keys hookmatch.Keys // of its match
}

// defaultTimeout is the time limit of a hook that states none.
const defaultTimeout = 30 * time.Second

// Extend returns a gate that asks further hooks too. Of those that both gates ask, both
// see one state.
func (g *Gate) Extend(hooks ...protocol.GoHook) (protocol.EventGate, error) {
	extended := &Gate{hooks: slices.Clone(g.hooks), states: cmp.Or(g.states, newStates())}
	var errs []error
	for _, given := range hooks {
		h := hook{GoHook: given}
		h.Layer = cmp.Or(h.Layer, protocol.Builtin)
		h.Can = cmp.Or(h.Can, protocol.CanModify)
		h.Mode = cmp.Or(h.Mode, protocol.Enforce)
		h.Timeout = cmp.Or(h.Timeout, defaultTimeout)
		h.OnFailure = protocol.EffectiveRule(infoOf(&h.GoHook))
		errs = append(errs, check(&h.GoHook))
		keys, key, err := hookmatch.Compile(&h.Match)
		if h.keys = keys; err != nil {
			errs = append(errs, fmt.Errorf("the Go hook %s: match.%s: %w", h.Name, key, err))
		}
		if slices.ContainsFunc(extended.hooks, func(o hook) bool { return o.Name == h.Name && o.Layer == h.Layer }) {
			errs = append(errs, fmt.Errorf("two Go hooks are named %s", h.Name))
		}
		extended.hooks = append(extended.hooks, h)
	}
	slices.SortStableFunc(extended.hooks, func(a, b hook) int {
		return cmp.Or(cmp.Compare(stage(a.Can), stage(b.Can)), cmp.Compare(b.Priority, a.Priority))
	})
	return extended, errors.Join(errs...)
}

// stage is when hooks of a class are asked: those that may modify, those that may block,
// those that observe.
func stage(can protocol.Class) int {
	return slices.Index([]protocol.Class{protocol.CanModify, protocol.CanBlock, protocol.CanObserve}, can)
}

func check(h *protocol.GoHook) error {
	switch {
	case h.Name == "" || h.Func == nil || len(h.Events) == 0:
		return fmt.Errorf("the Go hook %q lacks a name, a function or its events", h.Name)
	case h.Match.When != "" || len(h.Match.Command) > 0 || len(h.Match.Path) > 0 || slices.ContainsFunc(h.Match.Tool, isPattern):
		return fmt.Errorf("the Go hook %s matches by a pattern or an expression, which needs a gate that evaluates it, such as that of hookd.Static", h.Name)
	}
	for _, name := range h.Events {
		if protocol.Lookup(name) == nil {
			return fmt.Errorf("the Go hook %s: unknown event %q; %s", h.Name, name, protocol.EventHint(string(name)))
		}
	}
	return nil
}

// isPattern reports whether a tool is matched by more than its name.
func isPattern(tool string) bool {
	return tool == "" || bytes.ContainsAny([]byte(tool), `*?[]{}\/@`)
}

// MayChange reports whether a hook that may block or change the event could match it.
func (g *Gate) MayChange(event protocol.Event) bool {
	return slices.ContainsFunc(g.hooks, func(h hook) bool {
		return h.Mode != protocol.Audit && !h.Watches && (h.Can != protocol.CanObserve || h.Required) && matches(&h, &event)
	})
}

// CallbackResult returns nil: no hook gets a recipe's text.
func (g *Gate) CallbackResult(string, string, protocol.HookRef) func(string) { return nil }

// Begin returns the function that asks the hooks of an event one after the other.
func (g *Gate) Begin(ctx context.Context, event protocol.Event) (decide func() (protocol.Outcome, error)) {
	if event.Detached {
		return func() (protocol.Outcome, error) { return g.decideDetached(ctx, event) }
	}
	return func() (protocol.Outcome, error) { return g.decide(ctx, event) }
}

// decideDetached asks the hooks of an event that they must hear of although the caller's time
// is over. The caller waits no longer than ctx lives.
func (g *Gate) decideDetached(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	type decision struct {
		outcome protocol.Outcome
		err     error
	}
	decided := make(chan decision, 1)
	go func() {
		outcome, err := g.decide(context.WithoutCancel(ctx), event)
		decided <- decision{outcome, err}
	}()
	select {
	case d := <-decided:
		return d.outcome, d.err
	case <-ctx.Done():
		return refused(event), context.Cause(ctx)
	}
}

func refused(event protocol.Event) protocol.Outcome {
	return protocol.Outcome{Action: protocol.Block, Event: event}
}

func (g *Gate) decide(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	fold := protocol.Begin(event, protocol.FoldOptions{Generation: 1})
	states := g.states.begin(&event)
	for i := range g.hooks {
		h := &g.hooks[i]
		current := asRead(&fold, &h.GoHook)
		if !matches(h, &current) || fold.Closed() && h.Can != protocol.CanObserve || slices.Contains(event.NotAsked, refOf(&h.GoHook)) {
			continue
		}
		current.State = states.of(&h.GoHook)
		answer := ask(ctx, &h.GoHook, current)
		if ctx.Err() != nil {
			return refused(event), context.Cause(ctx)
		}
		write := states.check(&h.GoHook, &answer)
		var run protocol.Run
		if fold, run = fold.Add(answer); write != nil && run.Failure == "" && run.Skipped == "" {
			states.writes = append(states.writes, *write)
		}
	}
	outcome := fold.Outcome()
	if event.ResolveAsk != nil {
		if err := event.ResolveAsk(ctx, &outcome); err != nil {
			return refused(event), err
		}
	}
	states.commit(&outcome)
	return outcome, nil
}

// asRead is the event as a hook reads it: as changed so far, with what was decided and
// with what the model asked for.
func asRead(fold *protocol.Fold, h *protocol.GoHook) protocol.Event {
	event := fold.ForHooks()
	if h.Can == protocol.CanObserve {
		outcome := fold.Outcome()
		event = fold.ObserversRead(&outcome)
	} else if event.Event == protocol.ToolCallStart {
		event.ModelArgs = jsonspan.Plain(fold.ModelArgs())
	}
	event.Data = bytes.Clone(jsonspan.Plain(event.Data)) // a hook changes an event by its reply only
	event.Layer, event.Outcome = h.Layer, fold.SoFar()
	return event
}

func refOf(h *protocol.GoHook) protocol.HookRef {
	return protocol.HookRef{Layer: h.Layer, Name: h.Name}
}

// matches reports whether a hook is asked about an event. An agent with a parent is a
// sub-agent, whatever depth the event states.
func matches(h *hook, event *protocol.Event) bool {
	ev := *event
	if ev.Agent.Parent != nil {
		ev.Agent.Depth = max(ev.Agent.Depth, 1)
	}
	in := hookmatch.NewInput(&ev)
	return slices.Contains(h.Events, in.Event) && h.keys.Fits(&in)
}

// ask asks one hook within its time limit. A function that does not return then is not
// waited for.
func ask(ctx context.Context, h *protocol.GoHook, event protocol.Event) protocol.Answer {
	limited, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	answers := make(chan protocol.Answer, 1)
	go func() { answers <- call(limited, h, event) }()
	select {
	case answer := <-answers:
		return answer
	case <-limited.Done():
		return failed(h, protocol.FailTimeout, fmt.Sprintf("timed out after %s", h.Timeout))
	}
}

func call(ctx context.Context, h *protocol.GoHook, event protocol.Event) (answer protocol.Answer) {
	defer func() {
		if p := recover(); p != nil {
			answer = failed(h, protocol.FailExit, fmt.Sprintf("panic: %v", p))
		}
	}()
	reply, err := h.Func(ctx, &event)
	failure, known := errors.AsType[*protocol.Failure](err)
	switch {
	case known:
		return failed(h, failure.Kind, failure.Detail)
	case err != nil:
		return failed(h, protocol.FailExit, err.Error())
	case h.Watches && decides(&reply):
		return failed(h, protocol.FailReply, "the hook promised to refuse and change nothing, and answered "+string(reply.Action))
	case reply.Metadata != nil:
		return failed(h, protocol.FailReply, "metadata needs a gate that keeps it, such as that of hookd.Static")
	}
	answer = protocol.Answer{HookInfo: infoOf(h)}
	answer.Reply = &reply
	return answer
}

// decides reports whether a reply refuses or changes what its event is about.
func decides(r *protocol.Reply) bool {
	switch r.Action {
	case protocol.Block, protocol.Deny, protocol.Stop, protocol.Ask, protocol.Modify:
		return true
	}
	return r.Changes != nil || r.Patch != nil || r.Result != nil || r.Response != nil
}

func infoOf(h *protocol.GoHook) protocol.HookInfo {
	return protocol.HookInfo{Name: h.Name, Layer: h.Layer, Class: h.Can, Mode: h.Mode, Rule: h.OnFailure, Required: h.Required, Sensitive: h.Sensitive}
}

func failed(h *protocol.GoHook, kind protocol.FailureKind, detail string) protocol.Answer {
	answer := protocol.Answer{HookInfo: infoOf(h)}
	answer.Failure = &protocol.Failure{Kind: kind, Detail: detail}
	return answer
}
