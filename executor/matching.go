package executor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/match"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/hookmatch"
)

// splitStages splits hooks that are in running order, whose first key is the stage.
func splitStages(hooks []*Hook) *stages {
	first := func(s stage) int {
		at, _ := slices.BinarySearchFunc(hooks, s, func(h *Hook, s stage) int { return int(stageOf(h) - s) })
		return at
	}
	block, observe := first(stageBlock), first(stageObserve)
	return &stages{hooks, hooks[:block], hooks[block:observe], hooks[observe:]}
}

// candidates remembers which hooks of a set are left for an event when all but their
// conditions has been compared. Agents call the same few tools over and over, so that
// an event costs one look-up however many hooks there are.
type candidates struct {
	compares map[protocol.EventName]bool // whether a hook of the event compares its data

	mu    sync.RWMutex
	lists map[hookmatch.Key]*stages
}

// Bounds of what is remembered: names of tools come from a model.
const (
	maxRemembered = 256
	maxKeyLength  = 200 // bytes
)

// of returns the hooks that an event may be about.
func (c *candidates) of(in *match.Input, hooks []*Hook) *stages {
	key := in.Key
	c.mu.RLock()
	found := c.lists[key]
	c.mu.RUnlock()
	if found != nil {
		return found
	}
	found = splitStages(fitting(hooks, in))
	if len(key.Tool)+len(key.Kind)+len(key.Source)+len(key.Step) > maxKeyLength {
		return found
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil || len(c.lists) >= maxRemembered {
		c.lists = map[hookmatch.Key]*stages{}
	}
	c.lists[key] = found
	return found
}

// fitting returns the hooks that take part and whose matchers, but for conditions, fit
// the event.
func fitting(hooks []*Hook, in *match.Input) []*Hook {
	var left []*Hook
	for _, h := range hooks {
		if h.takesPart() && h.match.Fits(&in.Input) {
			left = append(left, h)
		}
	}
	return left
}

// stages returns the hooks that the event may be about, by stage. With Explain they are
// all hooks of the event, so that those that do not match are named.
func (d *dispatch) stages() *stages {
	s := &d.selection
	switch {
	case s.stages != nil:
	case d.req.executor.options.Explain:
		s.stages = splitStages(s.hooks)
	case s.hasVanished:
		s.stages = splitStages(fitting(s.hooks, d.input()))
	case len(s.hooks) == 0:
		s.stages = &noStages
	default:
		in, candidates := d.input(), d.req.set.index.candidates
		if candidates.compares[d.req.spec.Name] {
			in.Scan()
		}
		s.stages = candidates.of(in, s.hooks)
	}
	return s.stages
}

var noStages stages

// wants reports whether a hook of [dispatch.stages] is to be asked about the event as
// it is now. A hook that a person has disabled is not asked, but recorded.
func (d *dispatch) wants(h *Hook) bool {
	if !h.takesPart() {
		return false
	}
	notAsked := d.req.event.NotAsked // a hook that asked for the recipe in which this happens
	if len(notAsked) > 0 && slices.Contains(notAsked, protocol.HookRef{Layer: h.Layer, Name: h.Name}) {
		return false
	}
	hit := d.matches(h)
	switch {
	case !hit && d.req.executor.options.Explain:
		d.results.skip(h, protocol.SkipNoMatch)
	case hit && !h.runs():
		d.results.skip(h, protocol.SkipDisabled)
		return false
	}
	return hit
}

// matches compares what [dispatch.stages] has not compared.
func (d *dispatch) matches(h *Hook) bool {
	if d.req.executor.options.Explain && !h.match.Fits(&d.input().Input) {
		return false
	}
	if !h.selects(d.event()) {
		return false
	}
	if !h.match.HasCondition() || h.Status == Untrusted {
		return true // the condition of a hook that nobody allowed decides nothing
	}
	decision, err := d.decision(h)
	if decision != match.Undecided {
		return decision == match.Yes
	}
	if h.Reply != nil {
		return d.undecidedRule(h, err)
	}
	if match.IsMissing(err) && h.Can == protocol.CanObserve && !h.Required {
		return false // it can refuse nothing
	}
	if h.match.FirstReport() {
		d.results.warn(h, fmt.Sprintf("match.%s is undecided, which counts as a match: %v", match.UndecidedKey(err), err))
	}
	return true
}

// decision evaluates what of a hook's matcher depends on more than the event's key. Only
// an expression needs a limit: it can take long.
func (d *dispatch) decision(h *Hook) (match.Decision, error) {
	began := time.Now()
	defer func() { d.spent.charge(accountOf(h), time.Since(began)) }()
	if !h.match.TakesTime() {
		return h.match.Decide(d.ctx, d.input())
	}
	ctx, cancel := d.withinBudget(d.ctx, h)
	defer cancel()
	ctx, cancelNow := context.WithTimeout(ctx, min(h.Timeout, match.ConditionTime))
	defer cancelNow()
	return h.match.Decide(ctx, d.input())
}

// undecidedRule reports whether a rule is asked although nobody can tell whether it is
// about the event: only one that refuses is, and then it asks the person.
func (d *dispatch) undecidedRule(h *Hook, why error) bool {
	if !h.Reply.Refuses() {
		return false
	}
	if d.version.undecided == nil {
		d.version.undecided = map[*Hook]error{}
	}
	d.version.undecided[h] = why
	return true
}

// ArgsRead returns the members of data.args that a condition reads without saying that
// they may be missing, each once.
func ArgsRead(when string) []string { return match.ArgsRead(when) }
