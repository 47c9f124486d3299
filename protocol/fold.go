package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FoldOptions are what a fold needs to know besides the event.
type FoldOptions struct {
	Generation   int64        // of the set of hooks that is asked
	ContextLimit int64        // bytes of context per event, 64 KiB if 0
	Limits       DecodeLimits // of the event after each change

	// AskedBy is, at permission-request, the layer of the hook whose ask is being
	// answered; "" if it was not a hook. An allow of a lower layer does not grant
	// it: only the person does.
	AskedBy Layer
}

// Fold turns the answers of an event's hooks, given in running order, into one
// outcome. It is a value: Add returns a new Fold and leaves the old one as it
// was. Nothing an answer says can undo a refusal that was added before it.
//
//	f := protocol.Begin(event, options)
//	for each hook in running order while !f.Closed() {
//		f, run = f.Add(ask(hook, f.Event(), f.Standing()))
//	}
//	outcome := f.Outcome()
type Fold struct {
	options FoldOptions
	spec    *Spec
	first   Event // as the host fired it
	event   Event // with the changes so far

	action  Action
	by      string
	reason  string
	failure FailureKind
	byExit  bool

	context      []HookText
	contextBytes int64
	notices      []HookText
	messages     []Message
	callback     *CallbackCall
	replaced     jsontext.Value
	replacedBy   string
	changes      []Change
	conflicts    []Conflict
	runs         []Run
}

// Begin starts the fold of an event, whose name must be in the table. The
// session's key stays behind: no hook and no listener sees it.
func Begin(ev Event, options FoldOptions) Fold {
	if options.ContextLimit <= 0 {
		options.ContextLimit = DefaultContextSize
	}
	spec := ev.Spec()
	if spec == nil {
		spec = &Spec{Name: ev.Event, Kind: Notice}
	}
	ev.Event = spec.Name
	ev.Session.Key = ""
	return Fold{options: options, spec: spec, first: ev, event: ev, action: Observe}
}

// Event is the event with the changes made so far.
func (f Fold) Event() Event { return f.event }

// Closed reports whether no further hook that may refuse or modify needs to be
// asked: the event is refused, and nothing may lift that.
func (f Fold) Closed() bool {
	return f.action == Stop || f.action == Block
}

// Standing is what the hooks so far decided, as the next hook reads it.
func (f Fold) Standing() Standing {
	s := Standing{Action: f.action, Changed: []string{}}
	if f.by != "" {
		by := f.by
		s.By = &by
	}
	for _, c := range f.changes {
		if !slices.Contains(s.Changed, c.Path) {
			s.Changed = append(s.Changed, c.Path)
		}
	}
	return s
}

// Outcome is what the answers so far come to.
func (f Fold) Outcome() Outcome {
	o := Outcome{
		Action: f.action, Reason: f.reason, Failure: f.failure, ByExit: f.byExit,
		Event: f.event, Context: f.context, Notices: f.notices, Messages: f.messages, Callback: f.callback,
		Generation: f.options.Generation, Runs: f.runs,
		Replaced: f.replaced, ReplacedBy: f.replacedBy, Changes: f.changes, Conflicts: f.conflicts,
	}
	if f.by != "" {
		by := f.by
		o.By = &by
	}
	switch f.action {
	case Block:
		// Changes made before a block stay in the record only. After a stop the
		// host may keep what the event announced (a tool's result): as changed.
		o.Event = f.first
		o.Replaced, o.ReplacedBy, o.Callback, o.Messages = nil, "", nil, nil
	case Stop:
		o.Replaced, o.ReplacedBy, o.Callback, o.Messages = nil, "", nil, nil
	}
	return o
}

// strength orders the actions; what is stronger is never weakened by a later
// answer.
func strength(a Action) int {
	switch a {
	case Stop:
		return 5
	case Block:
		return 4
	case Ask:
		return 3
	case Modify, Continue, Callback:
		return 2
	case Allow:
		return 1
	}
	return 0
}

// EffectiveRule is the rule that a failure of this hook follows. Audit has no
// effect, an observer refuses nothing unless it is required, a required hook
// lets nothing pass, and a guard that states no rule blocks.
func EffectiveRule(v Voter) Rule {
	rule := v.Rule
	if rule == "" {
		rule = RuleContinue
		if v.Class == CanBlock {
			rule = RuleBlock
		}
	}
	switch {
	case v.Mode == Audit, v.Class == CanObserve && !v.Required:
		return RuleContinue
	case v.Required && rule == RuleContinue:
		return RuleBlock
	}
	return rule
}

// Add adds the answer of the next hook in running order, and returns its part
// for the record. An answer of a modifier or blocker that comes when the event
// is refused already is recorded as skipped and has no effect.
func (f Fold) Add(a Answer) (Fold, Run) {
	run := f.begin(&a)
	if f.Closed() && a.Class != CanObserve && a.Mode != Audit {
		run.Skipped = SkipAfterBlock
		return f.record(run)
	}
	if a.Failure != nil {
		return f.fail(a, run)
	}
	reply := Reply{Action: Observe}
	if a.Reply != nil {
		reply = *a.Reply
	}
	if !a.ByExit || !MayBlock(f.spec, a.Voter) {
		settled, warnings, err := CheckReply(f.spec, a.Voter, reply)
		if err != nil {
			return f.fail(a.failed(err), run)
		}
		for _, w := range warnings {
			if !slices.Contains(run.Warnings, w) {
				run.Warnings = append(run.Warnings, w)
			}
		}
		reply = settled
	}
	messages, err := f.newMessages(a.Voter, reply)
	if err != nil {
		return f.fail(a.failed(err), run)
	}
	after, changes := f.event, []Change(nil)
	if reply.Action != Block && reply.Action != Stop {
		if after, changes, err = Apply(f.event, a.Voter, reply, f.options.Limits); err != nil {
			return f.fail(a.failed(err), run)
		}
	}
	run.Reason = validText(reply.Reason)
	run.Changed = changedPaths(changes)
	if a.Mode == Audit {
		run.Would = reply.Action
		return f.record(run)
	}
	run.Action = reply.Action
	f.event = after
	f.changes, f.conflicts = f.own(changes, a.Name)
	f = f.replace(reply, a.Name)
	f = f.say(reply, &a, &run)
	f = f.vote(reply, &a, messages, &run)
	return f.record(run)
}

// failed is the answer as the failure that a reply becomes which is not allowed.
func (a Answer) failed(err error) Answer {
	a.Failure = &Failure{Kind: FailReply, Detail: err.Error(), Remedy: "correct what the hook answers, or what it can"}
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
		Rule: EffectiveRule(a.Voter), Exit: a.Exit, ByExit: a.ByExit, Signal: NullString(a.Signal),
		TookMs: Milliseconds(a.Took), Changed: []string{}, Stderr: validText(a.Stderr),
		Warnings: slices.Clone(a.Warnings),
	}
}

func (f Fold) record(run Run) (Fold, Run) {
	f.runs = append(slices.Clip(f.runs), run)
	return f, run
}

// fail adds a hook that could not be asked. The model's reason says no more than
// that; the person's notice says all.
func (f Fold) fail(a Answer, run Run) (Fold, Run) {
	failure := a.Failure
	run.Failure, run.Detail, run.Remedy = failure.Kind, validText(failure.Detail), validText(failure.Remedy)
	if failure.Kind == FailAborted {
		// The caller gave up and reads no outcome. If one is read all the same, it
		// is not a yes.
		run.Rule = ""
		if a.Mode != Audit {
			f = f.decide(Stop, a.Name, "aborted", FailAborted, false)
		}
		return f.record(run)
	}
	effect := f.failureEffect(run.Rule)
	f = f.notice(a.Name, failureNotice(&run, effect))
	if effect != Observe {
		f = f.decide(effect, a.Name, fmt.Sprintf("blocked: the check %s could not be made (%s)", validText(a.Name), failure.Kind), failure.Kind, false)
	}
	return f.record(run)
}

// failureEffect is the table of §3.3: what a rule does at this kind of event.
func (f Fold) failureEffect(rule Rule) Action {
	switch {
	case f.spec.Kind == Notice, rule == RuleContinue:
		return Observe
	case rule == RuleStop:
		return Stop
	case f.spec.Kind == Point:
		return Observe
	case f.spec.Block == BlockContinues:
		return Stop
	}
	return Block
}

// failureNotice is what the person reads of a failure.
func failureNotice(run *Run, effect Action) string {
	text := fmt.Sprintf("%s could not be asked (%s)", validText(run.Hook), run.Failure)
	if run.Detail != "" {
		text += ": " + run.Detail
	}
	switch {
	case run.Mode == Audit:
		text += ". It runs in audit mode; nothing depends on it"
	case effect == Block:
		text += ". The event was refused, as its rule onFailure says (" + string(run.Rule) + ")"
	case effect == Stop:
		text += ". The run ends, as its rule onFailure says (" + string(run.Rule) + ")"
	default:
		text += ". The event went on, as its rule onFailure says (" + string(run.Rule) + ")"
	}
	if run.Remedy != "" {
		text += ". To mend it: " + run.Remedy
	}
	return text
}

func (f Fold) notice(hook, text string) Fold {
	f.notices = append(slices.Clip(f.notices), HookText{Hook: hook, Text: validText(text)})
	return f
}

// own adds changes to those made so far, and notes which wrote a field that
// another hook had written.
func (f Fold) own(changes []Change, by string) ([]Change, []Conflict) {
	conflicts := slices.Clip(f.conflicts)
	for _, c := range changes {
		for i := len(f.changes) - 1; i >= 0; i-- {
			if earlier := f.changes[i]; overlaps(c.Path, earlier.Path) {
				conflicts = append(conflicts, Conflict{Path: c.Path, By: by, Owner: earlier.By})
				break
			}
		}
	}
	return append(slices.Clip(f.changes), changes...), conflicts
}

// overlaps reports whether two JSON Pointers are equal or one lies in the other.
func overlaps(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// replace keeps the last modifier's result or response.
func (f Fold) replace(reply Reply, by string) Fold {
	for _, value := range []jsontext.Value{reply.Result, reply.Response} {
		if value != nil {
			f.replaced, f.replacedBy = value, by
		}
	}
	return f
}

// say keeps what a reply says to the model and to the person.
func (f Fold) say(reply Reply, a *Answer, run *Run) Fold {
	if reply.Notice != "" {
		f = f.notice(a.Name, reply.Notice)
	}
	if reply.Context == "" || f.spec.Context == "" {
		return f
	}
	text := validText(reply.Context)
	if room := f.options.ContextLimit - f.contextBytes; int64(len(text)) > room {
		cut := strings.ToValidUTF8(text[:max(room, 0)], "")
		run.Warnings = append(run.Warnings, fmt.Sprintf("context cut from %d to %d bytes, the limit of an event is %d", len(text), len(cut), f.options.ContextLimit))
		text = cut
	}
	if text == "" {
		return f
	}
	run.ContextBytes = len(text)
	f.contextBytes += int64(len(text))
	f.context = append(slices.Clip(f.context), HookText{Hook: a.Name, Text: text})
	return f
}

// vote lets a reply's action count.
func (f Fold) vote(reply Reply, a *Answer, messages []Message, run *Run) Fold {
	reason := strings.TrimSpace(validText(reply.Reason))
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
			run.Warnings = append(run.Warnings, "another callback was asked for already; this one is not run")
		} else {
			call := *reply.Callback
			call.By = a.Name
			f.callback = &call
		}
	case Allow:
		if a.Layer.Rank() < f.options.AskedBy.Rank() {
			run.Warnings = append(run.Warnings, "a hook of the layer "+string(f.options.AskedBy)+" asked; only the person may grant that")
			action = Observe
		}
	}
	if action == Block && f.spec.Block == BlockContinues {
		if a.ByExit {
			// An interpreter exits 2 by accident; that must not keep a run going.
			run.Warnings = append(run.Warnings, "exit code 2 never forces a run on")
			return f.notice(a.Name, a.Name+" ended with exit code 2, which does not force the run on: "+reason)
		}
		action = Continue
	}
	if action == Continue {
		f.messages = append(slices.Clip(f.messages), messages...)
	}
	return f.decide(action, a.Name, reason, "", a.ByExit)
}

// decide lets an action stand if it is stronger than what stands.
func (f Fold) decide(action Action, by, reason string, failure FailureKind, byExit bool) Fold {
	if strength(action) <= strength(f.action) {
		return f
	}
	f.action, f.by, f.reason, f.failure, f.byExit = action, by, reason, failure, byExit
	return f
}

// newMessages are the messages that a reply adds to the conversation: its own,
// or its reason as a user's. They are checked like a list that changes.
func (f Fold) newMessages(v Voter, reply Reply) ([]Message, error) {
	continues := reply.Action == Continue || reply.Action == Block && f.spec.Block == BlockContinues
	if !continues {
		return nil, nil
	}
	if reply.Messages == nil || reply.Action == Block {
		reason := strings.TrimSpace(validText(reply.Reason))
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
