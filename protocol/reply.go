package protocol

import (
	"time"
)

// Action is what a hook answers.
type Action string

const (
	Observe  Action = "observe"
	Block    Action = "block"
	Modify   Action = "modify"
	Ask      Action = "ask"
	Allow    Action = "allow"
	Stop     Action = "stop"
	Continue Action = "continue"
	Callback Action = "callback"
)

// Deny is accepted in replies and read as [Block].
const Deny Action = "deny"

// Reply is the one JSON object that a hook writes on stdout.
type Reply struct {
	Action   Action        `json:"action,omitzero" jsonschema:"what the hook answers"`
	Reason   string        `json:"reason,omitzero" jsonschema:"what the model and the person read"`
	Changes  RawMessage    `json:"changes,omitzero" jsonschema:"JSON Merge Patch (RFC 7396) rooted at data"`
	Patch    RawMessage    `json:"patch,omitzero" jsonschema:"JSON Patch (RFC 6902) rooted at data"`
	Result   RawMessage    `json:"result,omitzero" jsonschema:"tool-call-start: replaces the tool"`
	Response RawMessage    `json:"response,omitzero" jsonschema:"inference-start: replaces the model call"`
	Context  string        `json:"context,omitzero" jsonschema:"text for the model"`
	Notice   string        `json:"notice,omitzero" jsonschema:"text for the person"`
	Messages RawMessage    `json:"messages,omitzero" jsonschema:"with continue: list of Message"`
	Callback *CallbackCall `json:"callback,omitzero"`
	State    RawMessage    `json:"state,omitzero" jsonschema:"replaces the hook's state; null removes it"`
	Metadata RawMessage    `json:"metadata,omitzero" jsonschema:"replaces the hook's own metadata value"`
	ID       string        `json:"id,omitzero" jsonschema:"the event's id: standby and resident hooks"`

	// Answered is for Go hooks that speak for somebody else at permission-request.
	Answered *Answered `json:"-"`
}

// CallbackCall asks for a recipe to be run.
type CallbackCall struct {
	Name string            `json:"name" jsonschema:"name of the recipe"`
	Args map[string]string `json:"args,omitzero" jsonschema:"what the recipe is given"`
	As   CallbackAs        `json:"as,omitzero" jsonschema:"messages (default): its messages replace the conversation; state: its text comes back in state.callback"`
	By   string            `json:"by,omitzero" jsonschema:"in an outcome: the hook that asked"`
}

// CallbackAs is what becomes of a recipe's outcome.
type CallbackAs string

const (
	AsMessages CallbackAs = "messages" // its messages replace the conversation (default)
	AsState    CallbackAs = "state"    // its text is handed to the same hook in state.callback
)

// HookInfo is the hook behind an answer, as far as the fold needs to know it.
type HookInfo struct {
	Name     string
	Layer    Layer
	Class    Class
	Mode     Mode
	Rule     Rule // what its failure does
	Required bool
	Hash     string // of the bundle that ran

	// Sensitive hooks see what nobody else is to see, and nobody is to read what they
	// changed as it was before: see [Run.Sensitive].
	Sensitive bool
}

// Answer is what asking one hook came to. Either Reply or Failure is set, never
// both: a hook that could not be asked has said nothing.
type Answer struct {
	HookInfo
	ReadResult
	Exit   *int // nil if there was no process or it was ended by a signal
	Signal string
	Took   time.Duration
	Stderr string // tail, bounded

	Limits AnswerLimits // by the hook's own layer
}

// AnswerLimits are the limits of the hook's own layer on what its answer may come
// to. A zero field stands for the fold's.
type AnswerLimits struct {
	Event   DecodeLimits // of the event after its change
	Context int64        // bytes of context for the model, of this layer's hooks and those above together; below 0: none
}

// ProcessEnd is how a hook's process ended, as far as the reading of its output
// needs to know.
type ProcessEnd struct {
	Exit   *int   // nil if there was no process or a signal ended it
	Signal string // SIGSEGV, if a signal ended it that hookd did not send

	// Failure is why there is no trustworthy end: timeout, budget, spawn,
	// output, lost, aborted and the like.
	Failure *Failure

	// Program are the names by which an interpreter that cannot run the hook's program
	// tells where: the program's path, and files among its arguments.
	Program []string

	// Answered says that a standby or resident hook ended its turn by a reply
	// that repeats the event's id. Only such a reply counts then, and neither
	// exit code nor later output does.
	Answered bool
}

// ReadResult is the result of reading a hook's output.
type ReadResult struct {
	Reply    *Reply
	Failure  *Failure
	ByExit   bool     // the reply is a block made of exit code 2
	Warnings []string // notes: text lines around the reply, ignored members
}

// Answered says who answered a question, and what: an ask of a hook that a person
// decides, the loop's own question, or a permission-request.
type Answered struct {
	By     Answerer `json:"by" jsonschema:"who answered"`
	Name   string   `json:"name,omitzero" jsonschema:"of the hook, the setting or the flag that answered"`
	Option string   `json:"option,omitzero" jsonschema:"kind of the option that was chosen: allow-once allow-always reject-once reject-always"`
	Text   string   `json:"text,omitzero" jsonschema:"the person's words"`
}

// Answerer is who answered a question.
type Answerer string

const (
	ByPerson  Answerer = "person"
	ByAlways  Answerer = "always"  // what the person answered with always before
	BySetting Answerer = "setting" // agent.approval.mode, agent.approval.tools, agent.tools.bash.allow
	ByFlag    Answerer = "flag"    // --allow
	ByHook    Answerer = "hook"    // at permission-request
	ByTimeout Answerer = "timeout" // nobody answered in time: no
	ByNobody  Answerer = "nobody"  // nobody is there: no
	ByFault   Answerer = "fault"   // the person could not be asked: no
)

// Answerers are all of them, with what each means.
var Answerers = []struct {
	By      Answerer
	Meaning string
}{
	{ByPerson, "the person, with `option` and in a refusal `text`"},
	{ByAlways, "what the person answered with *always* before in this session"},
	{BySetting, "the setting that `name` says"},
	{ByFlag, "`--allow`"},
	{ByHook, "the hook that `name` says, at permission-request"},
	{ByTimeout, "nobody answered within `agent.approval.timeout`, so no"},
	{ByNobody, "nobody is there, so no"},
	{ByFault, "the person could not be asked, so no"},
}

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
