package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"

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

// Static returns an executor of Go hooks alone, for an agent loop that needs a
// gate and no hook files.
func Static(hooks ...GoHook) (*Executor, error) {
	set, err := StaticSet(hooks...)
	if err != nil {
		return nil, err
	}
	return New(set, Options{}), nil
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

func (g *goAsker) Info() AskerInfo { return AskerInfo{InProcess: true} }

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
