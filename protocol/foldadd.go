package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/text"
)

// Add adds the answer of the next hook in running order, and returns its part
// for the record. An answer of a modifier or blocker that comes when the event
// is refused already is recorded as skipped and has no effect.
func (f Fold) Add(a Answer) (Fold, Run) {
	if a.Sensitive {
		a = a.veiled()
	}
	run := f.begin(&a)
	if f.Closed() && a.Class != CanObserve && a.Mode != Audit {
		run.Skipped = SkipAfterBlock
		return f.record(run)
	}
	if a.Failure != nil {
		return f.fail(a, run)
	}
	limits := f.options.Limits
	if a.Limits.Event != (DecodeLimits{}) {
		limits = a.Limits.Event
	}
	reply := Reply{Action: Observe}
	if a.Reply != nil {
		reply = *a.Reply
	}
	if !a.ByExit || !MayBlock(f.spec, a.HookInfo) {
		if err := reply.valid(limits); err != nil {
			return f.fail(a.failed(err), run)
		}
		settled, warnings, err := CheckReply(f.spec, a.HookInfo, reply)
		if err != nil {
			return f.fail(a.failed(err), run)
		}
		for _, w := range warnings {
			run.warn(w)
		}
		reply = settled
	}
	messages, err := f.newMessages(a.HookInfo, reply)
	if err != nil {
		return f.fail(a.failed(err), run)
	}
	after, changes := f.event, []Change(nil)
	if reply.Action != Block && reply.Action != Stop {
		if after, changes, err = Apply(f.event, a.HookInfo, reply, limits); err != nil {
			return f.fail(a.failed(err), run)
		}
	}
	run.Reason = text.Valid(reply.Reason)
	run.Changed = changedPaths(changes)
	if a.Mode == Audit {
		run.Would = reply.Action
		return f.record(run)
	}
	run.Action = reply.Action
	f.event = after
	f = f.hideOriginal(changes, a.Sensitive)
	f = f.own(changes, &a, &run)
	f = f.replace(reply, a.Name)
	f = f.say(reply, &a, &run)
	f = f.vote(reply, &a, messages, &run)
	return f.record(run)
}

// failed is the answer as the failure that a reply becomes which is not allowed.
func (a Answer) failed(err error) Answer {
	a.Failure = &Failure{Kind: FailReply, Detail: err.Error(), Remedy: "correct what the hook answers, or what it can"}
	if a.Sensitive {
		return a.veiled()
	}
	return a
}

// begin starts the record of a run. A run that is not for effect keeps its
// exit, signal, time and stderr all the same.
func (f Fold) begin(a *Answer) Run {
	mode := a.Mode
	if mode == "" {
		mode = Enforce
	}
	return Run{
		Hook: a.Name, Source: a.Layer, Hash: a.Hash, Class: a.Class, Mode: mode,
		Rule: EffectiveRule(a.HookInfo), Exit: a.Exit, ByExit: a.ByExit, Signal: NullString(a.Signal),
		TookMs: Milliseconds(a.Took), Changed: []string{}, Stderr: text.Valid(a.Stderr),
		Warnings: slices.Clone(a.Warnings), Sensitive: a.Sensitive,
	}
}

func (f Fold) record(run Run) (Fold, Run) {
	f.runs = f.runs.with(run)
	return f, run
}

func (f Fold) notice(a *Answer, words string) Fold {
	f.notices = f.notices.with(HookText{Hook: a.Name, Source: a.Layer, Text: text.Valid(words)})
	return f
}

// own adds changes to those made so far, and warns of each that wrote a field which
// another hook had written. What features of the loop do to each other's fields is
// no conflict of anybody's hooks.
func (f Fold) own(changes []Change, a *Answer, run *Run) Fold {
	conflicts := slices.Clip(f.conflicts)
	mine := make([]Change, 0, len(changes))
	for _, c := range changes {
		c.Source, c.Sensitive = a.Layer, a.Sensitive
		mine = append(mine, c)
		for i := len(f.changes) - 1; i >= 0; i-- {
			earlier := f.changes[i]
			if !overlaps(c.Path, earlier.Path) {
				continue
			}
			conflicts = append(conflicts, Conflict{Path: c.Path, By: a.Name, Owner: earlier.By})
			if c.Source != Builtin || earlier.Source != Builtin {
				run.warn(fmt.Sprintf("changed %s, which %s of the %s layer had changed before: this later change stands", c.Path, earlier.By, earlier.Source))
			}
			break
		}
	}
	f.changes, f.conflicts = append(slices.Clip(f.changes), mine...), conflicts
	return f
}

// warn says something of the run, once.
func (r *Run) warn(words string) {
	if words = text.Valid(words); !slices.Contains(r.Warnings, words) {
		r.Warnings = append(r.Warnings, words)
	}
}

// overlaps reports whether two JSON Pointers are equal or one lies in the other.
func overlaps(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// replace keeps the last modifier's result or response.
func (f Fold) replace(reply Reply, by string) Fold {
	for _, value := range []RawMessage{reply.Result, reply.Response} {
		if value != nil {
			f.replaced, f.replacedBy = value, by
		}
	}
	return f
}

// say keeps what a reply says to the model and to the person.
func (f Fold) say(reply Reply, a *Answer, run *Run) Fold {
	if reply.Notice != "" {
		f = f.notice(a, reply.Notice)
	}
	if reply.Context == "" || f.spec.Context == "" {
		return f
	}
	text := text.Valid(reply.Context)
	run.ContextBytes = len(text)
	limit := f.options.ContextLimit
	if a.Limits.Context != 0 {
		limit = a.Limits.Context
	}
	f.context = f.context.with(said{run: f.runs.size, origin: a.Origin(), limit: max(0, limit), hook: a.Name, text: text})
	return f
}

// vote lets a reply's action count.
func (f Fold) vote(reply Reply, a *Answer, messages []Message, run *Run) Fold {
	reason := strings.TrimSpace(text.Valid(reply.Reason))
	action := reply.Action
	switch action {
	case Block, Stop, Ask:
		if reason == "" {
			reason = reasonNone
			if action == Ask {
				reason = "asks for a decision, without a reason"
			}
		}
		run.Reason = reason
	case Callback:
		if f.callback != nil {
			run.warn("another callback was asked for already, by " + f.callback.By + "; this one is not run")
		} else {
			call := *reply.Callback
			call.By = a.Name
			f.callback = &call
		}
	case Allow:
		if a.Origin().Compare(f.options.AskedBy) < 0 {
			run.warn("a hook of the layer " + f.options.AskedBy.String() + " asked; only the person may grant that")
			action = Observe
		}
	}
	if action == Block && f.spec.Block == BlockContinues {
		action = Continue
	}
	if action == Continue {
		f.messages = append(slices.Clip(f.messages), messages...)
	}
	before := f
	if f = f.decide(action, a, reason, "", a.ByExit); f.action != before.action || f.origin != before.origin {
		f.answered = reply.Answered
	}
	return f
}

// decide lets an action stand if it is stronger than what stands. Of several
// that ask, the one of the highest layer is named: whoever may grant what a lower
// layer asked must not grant that with it.
func (f Fold) decide(action Action, by *Answer, reason string, failure FailureKind, byExit bool) Fold {
	higher := action == Ask && f.action == Ask && by.Origin().Compare(f.origin) > 0
	if strength(action) <= strength(f.action) && !higher {
		return f
	}
	f.action, f.by, f.origin, f.reason, f.failure, f.byExit = action, by.Name, by.Origin(), reason, failure, byExit
	return f
}

// newMessages are the messages that a reply adds to the conversation: its own,
// or its reason as a user's. They are checked like a list that changes.
func (f Fold) newMessages(v HookInfo, reply Reply) ([]Message, error) {
	continues := reply.Action == Continue || reply.Action == Block && f.spec.Block == BlockContinues
	if !continues {
		return nil, nil
	}
	if reply.Messages == nil || reply.Action == Block {
		reason := strings.TrimSpace(text.Valid(reply.Reason))
		if reason == "" {
			reason = reasonNone
		}
		return []Message{{Role: RoleUser, Content: TextContent(reason)}}, nil
	}
	if err := checkMessages(nil, reply.Messages, v); err != nil {
		return nil, fmt.Errorf("/messages%w", err)
	}
	var messages []Message
	if err := json.Unmarshal(reply.Messages, &messages); err != nil {
		return nil, fmt.Errorf("messages: %w", decodeError(err, "", 0))
	}
	if len(messages) == 0 {
		return nil, fmt.Errorf("messages: the list is empty")
	}
	return messages, nil
}

func changedPaths(changes []Change) []string {
	paths := make([]string, 0, len(changes))
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths
}
