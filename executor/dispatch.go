package executor

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/match"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// dispatch is one event on its way through its hooks. It belongs to one goroutine.
type dispatch struct {
	req       request
	ctx       context.Context     // the caller's
	selection selection           // which hooks the event is about
	results   results             // what they answered so far
	version   version             // the event as they changed it so far
	state     hookState           // what they remember
	spent     spent               // of their budgets
	detached  *detached           // of an event that goes on without its host
	digest    eventDigest         // of the event as it came in, for the record
	notices   []protocol.HookText // of hookd itself
}

// request is an event as it came in, with what it is decided by. It does not change,
// so that what goes on after the event shares it.
type request struct {
	executor   *Executor
	set        *Set
	settings   *schema.HookSettings // the effective ones of the set
	spec       *protocol.Spec
	event      protocol.Event // with id and time, without the per-hook members
	began      time.Time
	progress   Progress
	tooDeep    bool // too many agents have started one another
	background bool // the event has gone on, and nobody waits for its hooks
}

// selection is which hooks an event is about.
type selection struct {
	hooks       []*Hook // for the event, in running order
	hasVanished bool    // hooks has guards that the set no longer has
	stages      *stages // what is left of hooks; see dispatch.stages
}

// stages are hooks in running order, and its parts by stage.
type stages struct{ all, modify, block, observe []*Hook }

// hookState is what hooks remember, as one event's hooks see it. It is read once, so
// that events side by side see the same old values.
type hookState struct {
	before, now *state.Snapshot // as it was, and with what this event's hooks added; nil before it is read
	writes      []state.Write
	readErr     error
}

// eventDigest is what the record keeps of the event as it came in.
type eventDigest struct{ hashed func() *record.Digest } // nil: it is not begun

// detached is the state of a detachable event that is decided on a goroutine of its own.
// It is nil for all other events.
type detached struct {
	left   atomic.Bool     // set by the first of two: the host leaves, or it gets the outcome
	loose  chan struct{}   // closed when the event is detached
	since  time.Time       // when that was; zero before
	before <-chan struct{} // closed when the earlier events of the session are over; may be nil
	leave  func()          // lets later events of the session go on
}

// spent is the time that an event's hooks have used of their budgets.
type spent struct{ used map[account]time.Duration }

// account names the hooks whose time counts against one budget. The hooks of each layer, and of
// each project, have a budget of their own, by its settings: slow hooks of the project
// leave the machine's theirs. In a layer, hooks that may fail (onFailure=continue) do
// not use up the time of those that must answer, and programs not that of hooks in Go,
// which are the loop's own features.
type account struct {
	origin  protocol.Origin
	mayFail bool
	goHook  bool
}

// begin takes the set of hooks and makes the dispatch of an event.
func (v *Gate) begin(ctx context.Context, ev protocol.Event) *dispatch {
	e, set := v.executor, v.source.Current()
	if set == nil {
		set = refusingSet()
	}
	d := &dispatch{ctx: ctx, req: request{executor: e, set: set, settings: &set.Settings.Hooks, began: time.Now(), progress: v.progress}}
	r := &d.req
	if r.spec = ev.Spec(); r.spec == nil {
		r.spec = &protocol.Spec{Name: ev.Event, Kind: protocol.Notice}
	}
	ev.Event = r.spec.Name
	if ev.ID == "" {
		ev.ID = protocol.NewID()
	}
	if ev.Time.IsZero() {
		ev.Time = r.began.UTC().Truncate(time.Millisecond)
	}
	ev.Session.Key = "" // a secret between host and daemon
	r.event = withoutSoFar(ev)
	r.tooDeep = e.options.Depth >= r.settings.MaxDepth
	d.selection.hooks, d.selection.hasVanished = e.guards.hooks(set, &ev)
	options := r.foldOptions()
	d.results.fold = protocol.Begin(r.event, options)
	if r.spec.Ask == protocol.AskStays {
		options.AskedBy = r.askedBy(d.input())
		d.results.fold = protocol.Begin(r.event, options)
	}
	return d
}

// withoutSoFar returns an event without its per-hook members.
func withoutSoFar(ev protocol.Event) protocol.Event {
	ev.Layer, ev.Outcome, ev.State, ev.Metadata = "", protocol.OutcomeSoFar{}, nil, nil
	return ev
}

// after returns the request of what happens when the event has gone on.
func (r *request) after(ev protocol.Event) *request {
	late := *r
	late.event, late.began, late.background = withoutSoFar(ev), time.Now(), true
	return &late
}

func (r *request) foldOptions() protocol.FoldOptions {
	return protocol.FoldOptions{Generation: r.set.Generation}
}

// runOf returns the run of an answer that does not count for the outcome.
func (r *request) runOf(answer protocol.Answer) protocol.Run {
	_, run := protocol.Begin(r.event, r.foldOptions()).Add(answer)
	return run
}

// answerLimits returns what a hook's answer may come to, by its own layer.
func (r *request) answerLimits(h *Hook) protocol.AnswerLimits {
	limits := &r.set.settingsOf(h).Limits
	return protocol.AnswerLimits{
		Event:   protocol.DecodeLimits{Size: limits.Event, Depth: limits.Depth},
		Context: noneIfZero(limits.Context),
	}
}

// loopAsks is the origin of a question that no hook of a layer asks. A project's hook
// grants only what hooks of the project ask.
var loopAsks = protocol.Origin{Layer: protocol.User}

// askedBy returns the origin of the hook, or of the loop's own rule, whose ask a
// permission-request answers. A name that no hook has any more counts as the highest:
// what it asked only the person may grant.
func (r *request) askedBy(in *match.Input) protocol.Origin {
	if !in.Scan() {
		return protocol.Origin{Layer: protocol.Managed}
	}
	name, isHook := strings.CutPrefix(in.AskedBy, "hook:")
	if !isHook {
		return loopAsks // the loop, or a host, by its own rule
	}
	layer := protocol.Layer("")
	for _, h := range r.set.Hooks {
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

// results are what the hooks of an event answered so far.
type results struct {
	fold     protocol.Fold
	runs     []protocol.Run // of all hooks, those that were not asked among them
	folded   []int          // where the runs of fold are among runs
	warnings []hookWarning  // that go with a hook's answer
}

type hookWarning struct {
	hook *Hook
	text string
}

func (r *results) warn(h *Hook, text string) { r.warnings = append(r.warnings, hookWarning{h, text}) }

// add adds an answer to what was decided so far.
func (r *results) add(answer protocol.Answer) protocol.Run {
	for _, w := range r.warnings {
		if w.hook.Name == answer.Name && w.hook.Layer == answer.Layer {
			answer.Warnings = append(answer.Warnings, w.text)
		}
	}
	var run protocol.Run
	r.fold, run = r.fold.Add(answer)
	r.folded = append(r.folded, len(r.runs))
	r.runs = append(r.runs, run)
	return run
}

// skipsRefused notes a hook that is not asked any more because the event is refused, and
// reports whether it is. Observers are asked all the same.
func (r *results) skipsRefused(h *Hook) bool {
	if !r.fold.Closed() || stageOf(h) == stageObserve {
		return false
	}
	r.add(protocol.Answer{HookInfo: h.HookInfo()})
	return true
}

// sawSensitive reports whether a hook that ran may only leave hashes of what it saw.
func (r *results) sawSensitive() bool {
	return slices.ContainsFunc(r.runs, func(run protocol.Run) bool { return run.Skipped == "" && run.Sensitive })
}

// modelArgs returns the args of a call as the model gave them, for a Go hook that is
// asked about the call.
func (r *results) modelArgs(h *Hook) protocol.RawMessage {
	if !h.Info().InProcess || r.fold.Event().Event != protocol.ToolCallStart {
		return nil
	}
	return jsonspan.Plain(r.fold.ModelArgs())
}

// skip notes a hook that is not asked.
func (r *results) skip(h *Hook, why protocol.Skip) { r.runs = append(r.runs, skippedRun(h, why)) }

func skippedRun(h *Hook, why protocol.Skip) protocol.Run {
	return protocol.Run{
		Hook: h.Name, Source: h.Layer, Hash: h.Hash, Class: h.Can, Mode: h.Mode,
		Rule: protocol.EffectiveRule(h.HookInfo()), Changed: []string{}, Skipped: why, Sensitive: h.Sensitive, Dialect: h.HookInfo().Dialect,
	}
}

// version is the event as changed so far. What is made of it is made when it is first
// needed.
type version struct {
	event    *protocol.Event
	input    *match.Input
	encoding *protocol.Encoding // the part that all hooks of the event have in common

	undecided map[*Hook]error // rules of which nobody can tell whether they are about the event

	scanned *match.Input // of any version, the last that was scanned
}

// changed forgets what was made of the event before a hook changed it.
func (v *version) changed() {
	v.forgetInput()
	v.event, v.encoding, v.undecided = nil, nil, nil
}

func (v *version) forgetInput() {
	if v.input != nil && v.input.Scanned() {
		v.scanned = v.input
	}
	v.input = nil
}

// call returns the scanned input of any version: no hook changes which call the event
// is about.
func (v *version) call(first *protocol.Event) *match.Input {
	v.forgetInput()
	if v.scanned == nil {
		v.scanned = match.NewInput(first, nil)
		v.scanned.Scan()
	}
	return v.scanned
}

// event returns the event as changed so far.
func (d *dispatch) event() *protocol.Event {
	if d.version.event == nil {
		ev := d.results.fold.ForHooks()
		d.version.event = &ev
	}
	return d.version.event
}

// input returns what matchers see of the event as changed so far.
func (d *dispatch) input() *match.Input {
	if d.version.input == nil {
		d.version.input = match.NewInput(d.event(), func() protocol.RawMessage {
			return d.state.snapshot(&d.req).Metadata(d.req.set.index.prefixes)
		})
	}
	return d.version.input
}
