package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/protocol"
)

// recipeCall is a recipe that a hook asked for.
type recipeCall struct {
	protocol.CallbackCall
	event protocol.EventName // at which it was asked for
	hook  protocol.HookRef
}

// callbacks wait for their moment: step-start and agent-stop carry them out at
// once, what is asked for in a step waits for its step-stop. Of several that
// would replace the conversation the first counts; judgements are one a hook.
type callbacks struct {
	mu      sync.Mutex // tools end side by side
	waiting []recipeCall
}

// add returns why a callback is lost, "" if it waits.
func (c *callbacks) add(cb recipeCall) (lost string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.waiting {
		if other.judges() == cb.judges() && (!cb.judges() || other.hook == cb.hook) {
			return fmt.Sprintf("%s had asked for %s before", other.By, other.Name)
		}
	}
	c.waiting = append(c.waiting, cb)
	return ""
}

// next takes one out. Judgements come first: they are about the conversation as
// it was when they were asked for.
func (c *callbacks) next() (cb recipeCall, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		return recipeCall{}, false
	}
	at := max(0, slices.IndexFunc(c.waiting, func(cb recipeCall) bool { return cb.judges() }))
	cb = c.waiting[at]
	c.waiting = slices.Delete(c.waiting, at, at+1)
	return cb, true
}

func (c *recipeCall) judges() bool { return c.As == protocol.AsState }

// askedFor keeps the callback of a decided event, or tells why it is lost.
func (r *Run) askedFor(ctx context.Context, v *verdict) {
	if v.Callback == nil {
		return
	}
	cb := recipeCall{CallbackCall: *v.Callback, event: v.name, hook: v.callbackHook()}
	lost := ""
	switch {
	case !v.passed():
		lost = "the event was refused"
	case protocol.Lookup(v.name).Callback == protocol.CallbackFails:
		lost = fmt.Sprintf("none can be asked for at %s", v.name)
	default:
		lost = r.callbacks.add(cb)
	}
	if lost != "" {
		r.callbackLost(ctx, cb, lost)
	}
}

// callbackHook is the hook whose callback counts.
func (v *verdict) callbackHook() protocol.HookRef {
	for _, run := range v.Runs {
		if run.Hook == v.Callback.By && run.Action == protocol.Callback {
			return protocol.HookRef{Layer: run.Source, Name: run.Hook}
		}
	}
	return protocol.HookRef{Layer: v.layerOf(v.Callback.By), Name: v.Callback.By}
}

// carryOut runs the recipes that wait. Its error ends the run; that a recipe
// came to nothing is told and does not.
func (r *Run) carryOut(ctx context.Context) error {
	for {
		cb, is := r.callbacks.next()
		if !is {
			return nil
		}
		err := r.runCallback(ctx, cb)
		var refused *ending
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &refused):
			return refused
		case errors.As(err, new(refusedBy)): // compact-start has told who and why
		default:
			r.callbackLost(ctx, cb, err.Error())
		}
	}
}

func (r *Run) runCallback(ctx context.Context, cb recipeCall) error {
	rec, text, err := r.loop.render(cb.hook.Layer, cb.Name, cb.Args)
	if err != nil {
		return err
	}
	if cb.judges() {
		return r.judge(ctx, cb, rec, text)
	}
	trigger := "hook"
	if cb.hook == builtin.CompactionHook {
		trigger = "threshold"
	}
	_, err = r.compact(ctx, compaction{trigger: trigger, recipe: rec, text: text, by: &cb})
	return err
}

// judge hands a recipe's text to the hook that asked for it.
func (r *Run) judge(ctx context.Context, cb recipeCall, rec *recipe.Recipe, text string) error {
	deliver := r.loop.options.Gate.CallbackResult(r.loop.session.ID, r.loop.options.Agent.ID, cb.hook)
	if deliver == nil {
		return errors.New("this gate cannot hand a text to a hook")
	}
	result, err := r.thread(ctx, rec, Prompt{Text: text}, &cb)
	if err != nil {
		return notEnding(err)
	}
	deliver(result)
	return nil
}

// notEnding is an error of a temporary thread for the run that it worked for:
// however the thread ended, this run goes on.
func notEnding(err error) error {
	if err == nil || !errors.As(err, new(*ending)) {
		return err
	}
	return errors.New(err.Error())
}

func (r *Run) callbackLost(ctx context.Context, cb recipeCall, why string) {
	r.notify(ctx, "hook", fmt.Sprintf("recipe %s, asked for by %s, came to nothing: %s", cb.Name, cb.By, why))
}

// callbacksLost tells of what still waited when the run ended.
func (r *Run) callbacksLost(ctx context.Context) {
	for {
		cb, is := r.callbacks.next()
		if !is {
			return
		}
		r.callbackLost(ctx, cb, "the run ended before")
	}
}
