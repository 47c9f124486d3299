package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// selfName is who speaks where no hook does.
const selfName = "hookd"

var errNotNeeded = errors.New("an earlier hook has refused the event")

// trip is one event on its way through its hooks. It belongs to one goroutine.
type trip struct {
	executor *Executor
	ctx      context.Context // the caller's
	began    time.Time
	set      *Set
	settings *schema.HookSettings
	spec     *protocol.Spec
	hooks    []*Hook // of the event, in running order

	keptGuards bool    // hooks holds some that set does not
	candidates *staged // see asked

	progress Progress
	tooDeep  bool
	behind   bool     // the event has gone on, nobody waits
	telling  *telling // of an event that goes on without its host, see tell

	first protocol.Event // as it came in, with id and time
	fold  protocol.Fold
	runs  []protocol.Run

	folded []int // where the runs of fold are among runs

	// Of the event as changed so far, each made when it is first needed.
	event  *protocol.Event
	facts  *facts
	told   *facts // the last that were scanned
	shared *protocol.Encoding

	digested func() *record.Digest // of large data, made beside the hooks

	// What hooks remember: as it was when the first hook needed it, and with
	// what the hooks of this event have added.
	before, now *state.View
	writes      []state.Write

	used        map[account]time.Duration // of the budgets
	matchErrors []matchError
	notices     []protocol.HookText // of hookd itself
}

type matchError struct {
	hook *Hook
	text string
}

// refusing is the set of a source that has none: nothing is known about the
// guards, so no gate is passed.
var refusing = sync.OnceValue(func() *Set {
	set, _ := NewSet(Set{Refuse: &protocol.Failure{
		Kind: protocol.FailSettings, Detail: "no set of hooks was ever loaded",
	}})
	return set
})

func (e *Executor) begin(ctx context.Context, ev protocol.Event, source Source) *trip {
	set := source.Current()
	if set == nil {
		set = refusing()
	}
	t := &trip{executor: e, ctx: ctx, began: time.Now(), set: set, settings: &set.Settings.Hooks, progress: e.options.Progress}
	if p, given := ctx.Value(progressKey{}).(Progress); given {
		t.progress = p
	}
	if t.spec = ev.Spec(); t.spec == nil {
		t.spec = &protocol.Spec{Name: ev.Event, Kind: protocol.Notice}
	}
	ev.Event = t.spec.Name
	if ev.ID == "" {
		ev.ID = protocol.NewID()
	}
	if ev.Time.IsZero() {
		ev.Time = t.began.UTC().Truncate(time.Millisecond)
	}
	ev.Session.Key = "" // a secret between host and daemon
	ev.Layer, ev.Outcome, ev.State, ev.Metadata = "", protocol.OutcomeSoFar{}, nil, nil
	t.first = ev
	t.tooDeep = e.options.Depth >= t.settings.MaxDepth
	t.hooks, t.keptGuards = e.memory.hooks(set, &ev)
	t.fold = protocol.Begin(ev, t.foldOptions())
	if t.spec.Ask == protocol.AskStays {
		options := t.foldOptions()
		options.AskedBy = t.askedBy()
		t.fold = protocol.Begin(ev, options)
	}
	return t
}

// after is the trip of what happens when the event has gone on. It shares with
// the event's own trip only what never changes.
func (t *trip) after(ev protocol.Event) *trip {
	ev.Layer, ev.Outcome, ev.State, ev.Metadata = "", protocol.OutcomeSoFar{}, nil, nil
	late := &trip{
		executor: t.executor, ctx: context.Background(), began: time.Now(), set: t.set, settings: t.settings,
		spec: t.spec, progress: t.progress, tooDeep: t.tooDeep, behind: true, first: ev,
	}
	late.fold = protocol.Begin(ev, late.foldOptions())
	return late
}

func (t *trip) foldOptions() protocol.FoldOptions {
	return protocol.FoldOptions{Generation: t.set.Generation}
}

// answerLimits are what a hook's answer may come to, by its own layer.
func (t *trip) answerLimits(h *Hook) protocol.AnswerLimits {
	limits := &t.set.of(h).Limits
	return protocol.AnswerLimits{
		Event:   protocol.DecodeLimits{Size: limits.Event, Depth: limits.Depth},
		Context: noneIfZero(limits.Context),
	}
}

// askedBy is the origin of the hook, or of the loop's own rule, whose ask a permission-request answers. A
// name that no hook has any more counts as the highest: what it asked only the
// person may grant.
func (t *trip) askedBy() protocol.Origin {
	f := t.currentFacts()
	if !f.scan() {
		return protocol.Origin{Layer: protocol.Managed}
	}
	name, isHook := strings.CutPrefix(f.asks, "hook:")
	if !isHook {
		return loopAsks // the loop, or a host, by its own rule
	}
	layer := protocol.Layer("")
	for _, h := range t.set.Hooks {
		if h.Name == name && (layer == "" || h.Layer.Rank() > layer.Rank()) {
			layer = h.Layer
		}
	}
	switch layer {
	case "":
		layer = protocol.Managed
	case protocol.Builtin:
		return loopAsks
	}
	return protocol.OriginOf(layer, name)
}

// loopAsks is the origin of a question that no hook of a layer asks. A project's
// hook grants only what hooks of the project ask.
var loopAsks = protocol.Origin{Layer: protocol.User}

// tooDeepFor reports whether too many hooks stand above this process for one hook:
// by the settings of its own layer.
func (t *trip) tooDeepFor(h *Hook) bool { return t.executor.options.Depth >= t.set.of(h).MaxDepth }

func (t *trip) depthFailure(most int) *protocol.Failure {
	return &protocol.Failure{
		Kind:   protocol.FailDepth,
		Detail: fmt.Sprintf("this agent was started by a hook, %d deep; hooks.maxDepth is %d", t.executor.options.Depth, most),
		Remedy: "do not start an agent from a hook of its own events, or raise hooks.maxDepth",
	}
}

// wants reports whether one of the hooks of [trip.asked] is to be asked about the
// event as it is now. One that a person has disabled is not, and is recorded.
func (t *trip) wants(h *Hook) bool {
	if !h.takesPart() {
		return false
	}
	if len(t.first.NotAsked) > 0 && slices.Contains(t.first.NotAsked, protocol.HookRef{Layer: h.Layer, Name: h.Name}) {
		return false // it asked for the recipe in which this happens
	}
	hit := t.matches(h)
	switch {
	case !hit && t.executor.options.Explain:
		t.runs = append(t.runs, skippedRun(h, protocol.SkipNoMatch))
	case hit && !h.runs():
		t.runs = append(t.runs, skippedRun(h, protocol.SkipDisabled))
		return false
	}
	return hit
}

// matches compares what [trip.asked] has not compared.
func (t *trip) matches(h *Hook) bool {
	if t.executor.options.Explain && !h.match.fits(t.currentFacts()) {
		return false
	}
	if h.match.when == nil || h.Status == Untrusted {
		return true // what nobody allowed decides nothing, not even whether it is asked
	}
	began := time.Now()
	defer func() { t.charge(accountOf(h), time.Since(began)) }()
	ctx, cancel := t.budget(t.ctx, h)
	defer cancel()
	ctx, cancelNow := context.WithTimeout(ctx, min(h.Timeout, conditionTime))
	defer cancelNow()
	d, err := h.match.holds(ctx, t.currentFacts())
	if d != undecided {
		return d == yes
	}
	if isMissing(err) && h.Can == protocol.CanObserve && !h.Required {
		return false // it can refuse nothing
	}
	if !h.match.told.Swap(true) {
		t.matchErrors = append(t.matchErrors, matchError{h, fmt.Sprintf("match.when is undecided, which counts as a match: %v", err)})
	}
	return true
}

func skippedRun(h *Hook, why protocol.Skip) protocol.Run {
	return protocol.Run{
		Hook: h.Name, Source: h.Layer, Hash: h.Hash, Class: h.Can, Mode: h.Mode,
		Rule: protocol.EffectiveRule(h.HookInfo()), Changed: []string{}, Skipped: why, Sensitive: h.Sensitive,
	}
}

// changed forgets what was made of the event before a hook changed it.
func (t *trip) changed() {
	if t.facts != nil && t.facts.scanned {
		t.told = t.facts
	}
	t.event, t.facts, t.shared = nil, nil, nil
}

// toldFacts are the scanned facts of any version: no hook changes which call it
// is about.
func (t *trip) toldFacts() *facts {
	t.changed()
	if t.told == nil {
		t.told = newFacts(&t.first)
		t.told.scan()
	}
	return t.told
}

func (t *trip) currentEvent() *protocol.Event {
	if t.event == nil {
		ev := t.fold.ForHooks()
		t.event = &ev
	}
	return t.event
}

func (t *trip) currentFacts() *facts {
	if t.facts == nil {
		t.facts = newFacts(t.currentEvent())
		t.facts.metadata = func() protocol.RawMessage { return t.view().Metadata(t.set.ways) }
	}
	return t.facts
}

// question is the event as one hook gets it.
func (t *trip) question(h *Hook) *Question {
	t.beginDigest()
	ev := *t.currentEvent()
	ev.Layer, ev.Outcome = h.Layer, t.fold.SoFar()
	view := t.view()
	ev.State, ev.Metadata = t.executor.judgements.give(ev.Session.ID, ev.Agent.ID, h, view.State(stateKey(h))), view.Metadata(t.set.ways)
	return t.complete(h, ev, &t.shared)
}

// complete encodes a question. shared is the part of it that all hooks of the
// event have in common; a Go hook needs none.
func (t *trip) complete(h *Hook, ev protocol.Event, shared **protocol.Encoding) *Question {
	q := &Question{
		Hook: h, Event: &ev, Spec: t.spec,
		Grace: t.set.of(h).Grace, Limits: t.set.of(h).Limits,
	}
	if h.Info().InProcess {
		ev.Data = protocol.Plain(ev.Data) // as programs read it
		if ev.ModelArgs = nil; t.first.Event == protocol.ToolCallStart {
			ev.ModelArgs = protocol.Plain(t.fold.ModelArgs())
		}
		return q
	}
	if h.Asker == nil || t.tooDeepFor(h) {
		return q
	}
	if q.fault = t.tooMuchFor(q); q.fault != nil {
		return q
	}
	if *shared == nil {
		encoded, err := t.encode(&ev)
		if err != nil {
			q.fault = &protocol.Failure{Kind: protocol.FailSpawn, Detail: "the event cannot be written as JSON: " + err.Error()}
			return q
		}
		*shared = encoded
	}
	q.Payload = (*shared).ForHook(ev.Layer, ev.Outcome, ev.State, ev.Metadata)
	return q
}

// tooMuchFor is the failure of a hook whose own layer's limits the event is over.
// Other hooks are asked all the same.
func (t *trip) tooMuchFor(q *Question) *protocol.Failure {
	limits, data := &q.Limits, q.Event.Data
	switch {
	case int64(len(data)) > limits.Event:
		return &protocol.Failure{
			Kind:   protocol.FailSpawn,
			Detail: fmt.Sprintf("the event has %d bytes, hooks.limits.event of the %s layer is %d", len(data), q.Hook.Layer, limits.Event),
			Remedy: "raise hooks.limits.event",
		}
	case limits.Depth < protocol.DefaultDepth && protocol.DeeperThan(data, limits.Depth):
		return &protocol.Failure{
			Kind:   protocol.FailSpawn,
			Detail: fmt.Sprintf("the event is nested more than %d levels deep, which is hooks.limits.depth of the %s layer", limits.Depth, q.Hook.Layer),
			Remedy: "raise hooks.limits.depth",
		}
	}
	return nil
}

// encode encodes what hooks have in common. A host in Go may have made data that
// is no JSON; a guard that searches it for words must not be the one to find out.
func (t *trip) encode(ev *protocol.Event) (*protocol.Encoding, error) {
	checked := t.facts != nil && t.facts.scanned && t.facts.readable // the facts are of this version
	if len(ev.Data) > 0 && !checked && !protocol.Valid(ev.Data) {
		return nil, errors.New("data is not valid")
	}
	return protocol.Encode(ev)
}

// stateKey names a hook wherever the session is at work: in an inner project it is
// known as ../guard.sh.
func stateKey(h *Hook) state.Key {
	if h.Home == "" {
		return state.Key{Layer: h.Layer, Name: h.Name}
	}
	return state.Key{Layer: h.Layer, Project: h.Home, Name: strings.TrimPrefix(h.Name, wayOf(h))}
}

// wayOf is what stands before the name of an outer project's hook: ../../
func wayOf(h *Hook) string { return strings.Repeat("../", originOf(h).Above) }

func (p Progress) started(ev *protocol.Event, h *Hook) {
	if p.Started != nil {
		p.Started(ev, h)
	}
}

func (p Progress) finished(ev *protocol.Event, h *Hook, run protocol.Run) {
	if p.Finished != nil {
		p.Finished(ev, h, run)
	}
}

func (p Progress) cut(ev *protocol.Event, h *Hook) {
	if p.Cut != nil {
		p.Cut(ev, h)
	}
}

func (p Progress) notice(ev *protocol.Event, notice protocol.HookText) {
	if p.Notice != nil {
		p.Notice(ev, notice)
	}
}
