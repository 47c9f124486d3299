package protocol

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// Add adds the answer of the next hook in running order, and returns its part
// for the record. An answer of a modifier or blocker that comes when the event
// is refused already is recorded as skipped and has no effect.
func (f Fold) Add(a Answer) (Fold, Run) {
	if a.Sensitive {
		a = a.redacted()
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
	f.changes = f.changes.with(changes, &a, &run)
	if a.Sensitive && f.changes.argsHidden {
		// What it took away is nobody's to read, also of an earlier event, from the host.
		f.event.Data = jsonspan.Without(f.event.Data, memberOriginal)
	}
	f.replacement = f.replacement.or(reply, a.Name)
	f = f.say(reply, &a, &run)
	f = f.addReply(reply, &a, messages, &run)
	return f.record(run)
}

// failed is the answer as the failure that a reply becomes which is not allowed.
func (a Answer) failed(err error) Answer {
	a.Failure = &Failure{Kind: FailReply, Detail: err.Error(), Remedy: "correct what the hook answers, or what it can"}
	if a.Sensitive {
		return a.redacted()
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
		TookMs: Milliseconds(a.Took), Changed: []string{}, Stderr: text.Valid(a.Stderr), Dialect: a.Dialect,
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

// warn says something of the run, once.
func (r *Run) warn(words string) {
	if words = text.Valid(words); !slices.Contains(r.Warnings, words) {
		r.Warnings = append(r.Warnings, words)
	}
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
func (f Fold) addReply(reply Reply, a *Answer, messages []Message, run *Run) Fold {
	reason := strings.TrimSpace(text.Valid(reply.Reason))
	action, call := reply.Action, (*CallbackCall)(nil)
	switch action {
	case Callback:
		call = reply.Callback
	case Block, Stop, Ask:
		if reason == "" {
			reason = NoReason
			if action == Ask {
				reason = "asks for a decision, without a reason"
			}
		}
		run.Reason = reason
	case Allow:
		if a.Origin().Compare(f.options.AskedBy) < 0 {
			run.warn("a hook of the layer " + f.options.AskedBy.String() + " asked; only the person may grant that")
			action = Observe
		}
	}
	if action == Block && f.spec.Block == BlockContinues {
		action = Continue
	}
	f.followUp = f.followUp.with(messages, call, a.Name, run)
	f.decision = f.decision.or(decision{action, a.Name, a.Origin(), reason, "", a.ByExit, reply.Answered})
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
			reason = NoReason
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

// EffectiveRule is the rule that a failure of this hook follows. Audit has no
// effect, an observer refuses nothing unless it is required, a required hook
// lets nothing pass, and a guard that states no rule blocks.
func EffectiveRule(v HookInfo) Rule {
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

// fail adds a hook that could not be asked. The model's reason says no more than
// that; the person's notice says all.
func (f Fold) fail(a Answer, run Run) (Fold, Run) {
	failure := a.Failure
	run.Failure, run.Detail, run.Remedy = failure.Kind, text.Valid(failure.Detail), text.Valid(failure.Remedy)
	if failure.Kind == FailAborted {
		// The caller gave up and reads no outcome. If one is read all the same, it
		// is not a yes.
		run.Rule = ""
		if a.Mode != Audit {
			f.decision = f.decision.or(decision{action: Stop, by: a.Name, origin: a.Origin(), reason: "aborted", failure: FailAborted})
		}
		return f.record(run)
	}
	effect := f.failureEffect(run.Rule)
	f.notices = f.notices.with(HookText{Hook: a.Name, Source: a.Layer, Text: text.Valid(failureNotice(&run, effect)), Failure: failure.Kind})
	if effect != Observe {
		reason := failure.Kind.Refusal(text.Valid(a.Name))
		f.decision = f.decision.or(decision{action: effect, by: a.Name, origin: a.Origin(), reason: reason, failure: failure.Kind})
	}
	return f.record(run)
}

// failureEffect returns the action that a failed hook's rule leads to at this kind of
// event.
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
	text := fmt.Sprintf("%s could not be asked (%s)", text.Valid(run.Hook), run.Failure)
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

// veiled is a sensitive hook's answer without what may repeat values of its event:
// what it wrote to stderr, what quotes its output. Its verdict's reason stays, which
// it wrote to be read. No screen, program or record gets more.
func (a Answer) redacted() Answer {
	a.Stderr = ""
	warnings := a.Warnings
	a.Warnings = nil
	for _, w := range warnings {
		a.Warnings = append(a.Warnings, redactedText(w))
	}
	if a.Failure != nil {
		f := *a.Failure
		switch f.Kind {
		case FailExit:
			f.Detail = "it ended with another exit code than 0"
			if a.Exit != nil {
				f.Detail = fmt.Sprintf("exit code %d", *a.Exit)
			}
		case FailReply:
			f.Detail = "its reply does not count"
		default:
			f.Detail = redactedText(f.Detail)
		}
		a.Failure = &f
	}
	return a
}

// quotation is a text in double quotes as %q writes it.
var quotation = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

func redactedText(text string) string {
	if strings.HasPrefix(text, InvalidReply) {
		return InvalidReply
	}
	return quotation().ReplaceAllString(WithoutOutput(text), `"…"`)
}
