package protocol

import (
	"fmt"

	"github.com/hookd-dev/hookd/internal/text"
)

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
			f = f.decide(Stop, &a, "aborted", FailAborted, false)
		}
		return f.record(run)
	}
	effect := f.failureEffect(run.Rule)
	f.notices = f.notices.with(HookText{Hook: a.Name, Source: a.Layer, Text: text.Valid(failureNotice(&run, effect)), Failure: failure.Kind})
	if effect != Observe {
		f = f.decide(effect, &a, fmt.Sprintf("blocked: the check %s could not be made (%s)", text.Valid(a.Name), failure.Kind), failure.Kind, false)
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
