package protocol

import (
	"fmt"
	"strings"
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

// Actions are all words that the action of a reply may be.
var Actions = []Action{Observe, Block, Deny, Modify, Ask, Allow, Stop, Continue, Callback}

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

// valid checks the raw members of a reply that was not read from JSON: hooks in
// Go write them by hand.
func (r *Reply) valid(lim DecodeLimits) error {
	lim = lim.orDefault(DefaultEventSize)
	for _, m := range []struct {
		name string
		raw  *RawMessage
	}{
		{"changes", &r.Changes}, {"patch", &r.Patch}, {"result", &r.Result}, {"response", &r.Response},
		{"messages", &r.Messages}, {"state", &r.State}, {"metadata", &r.Metadata},
	} {
		if *m.raw == nil {
			continue
		}
		value, err := StrictJSON(*m.raw, lim)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		*m.raw = value
	}
	return nil
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

// NoReason is the reason of a refusal that has none of its own.
const NoReason = "refused without a reason"

// How warnings about a reply begin that may quote what a hook printed.
const (
	BesidesReply = "text on stdout besides the reply: "
	InvalidReply = "the reply is not valid" // of a refusal, which counts all the same
)

// WithoutOutput returns a warning with the length of what a hook printed besides its
// reply in place of the text.
func WithoutOutput(warning string) string {
	if besides, found := strings.CutPrefix(warning, BesidesReply); found {
		return fmt.Sprintf("%s[%d bytes]", BesidesReply, len(besides))
	}
	return warning
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

// Refusal is what the model reads where an event is refused because a hook could not be asked.
func (k FailureKind) Refusal(hook string) string {
	return "blocked: the check " + hook + " could not be made (" + string(k) + ")"
}

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
