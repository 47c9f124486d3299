package protocol

// FailureKind is why a hook could not be asked or its answer could not be read.
// A failure is never taken for an answer, neither no nor yes.
type FailureKind string

const (
	FailGone      FailureKind = "gone"      // the hook's file was allowed and is no longer there
	FailSpawn     FailureKind = "spawn"     // the process could not be started
	FailTimeout   FailureKind = "timeout"   // the hook's own time limit
	FailBudget    FailureKind = "budget"    // the event's time budget for all its hooks
	FailExit      FailureKind = "exit"      // exit code other than 0 and 2
	FailSignal    FailureKind = "signal"    // ended by a signal that hookd did not send
	FailReply     FailureKind = "reply"     // stdout is not a reply that is allowed here
	FailOutput    FailureKind = "output"    // more output than the limit
	FailUntrusted FailureKind = "untrusted" // a guard that was not allowed yet, or changed since
	FailDepth     FailureKind = "depth"     // a hook started an agent, deeper than hooks.maxDepth
	FailLost      FailureKind = "lost"      // a resident hook ended with the event in flight
	FailSettings  FailureKind = "settings"  // settings that could hold a guard cannot be read
	FailAborted   FailureKind = "aborted"   // the caller gave up; follows no rule
)

// FailureKinds are the twelve kinds that follow a rule.
var FailureKinds = []FailureKind{
	FailGone, FailSpawn, FailTimeout, FailBudget, FailExit, FailSignal,
	FailReply, FailOutput, FailUntrusted, FailDepth, FailLost, FailSettings,
}

// Failure is a hook that could not be asked, or whose answer could not be read.
// The model never reads Detail or Remedy; the person does.
type Failure struct {
	Kind   FailureKind
	Detail string // what happened, with the exit code or signal and the place in the output
	Remedy string // what to do about it; may be empty
}

func (f *Failure) Error() string { return string(f.Kind) + ": " + f.Detail }

// Rule is what a hook's failure does.
type Rule string

const (
	RuleContinue Rule = "continue"
	RuleBlock    Rule = "block"
	RuleStop     Rule = "stop"
)

// Class is what a hook may do, and so when it runs.
type Class string

const (
	CanModify  Class = "modify"  // everything; runs first, one after the other
	CanBlock   Class = "block"   // judges the final event
	CanObserve Class = "observe" // gets the final event and the outcome, never delays it
)

// Mode says whether a hook's answer has effect.
type Mode string

const (
	Enforce Mode = "enforce"
	Audit   Mode = "audit" // the answer is only recorded, as would
)
