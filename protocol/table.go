package protocol

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/protocol/internal/eventname"
)

// EventName is the name of an event, in kebab-case.
type EventName string

// The events, in the order in which an agent run meets them.
const (
	SessionStart      EventName = "session-start"
	SessionEnd        EventName = "session-end"
	PromptSubmit      EventName = "prompt-submit"
	AgentStart        EventName = "agent-start"
	StepStart         EventName = "step-start"
	InferenceStart    EventName = "inference-start"
	InferenceEnd      EventName = "inference-end"
	ToolCallStart     EventName = "tool-call-start"
	PermissionRequest EventName = "permission-request"
	ToolCallEnd       EventName = "tool-call-end"
	ToolCallError     EventName = "tool-call-error"
	StepStop          EventName = "step-stop"
	AgentStop         EventName = "agent-stop"
	AgentEnd          EventName = "agent-end"
	AgentError        EventName = "agent-error"
	CompactStart      EventName = "compact-start"
	CompactEnd        EventName = "compact-end"
	SubagentStart     EventName = "subagent-start"
	SubagentStop      EventName = "subagent-stop"
	ThinkingStart     EventName = "thinking-start"
	ThinkingEnd       EventName = "thinking-end"
	MessageStart      EventName = "message-start"
	MessageEnd        EventName = "message-end"
	Notification      EventName = "notification"
)

// Kind says whether an event is waited for and whether it can be refused.
type Kind string

const (
	Gate   Kind = "gate"   // waited for, may be refused
	Point  Kind = "point"  // waited for, cannot be refused
	Notice Kind = "notice" // not waited for
)

// BlockMeaning is what a block does at an event.
type BlockMeaning string

const (
	BlockFails     BlockMeaning = ""          // not allowed here: the reply fails
	BlockRefuses   BlockMeaning = "refuses"   // refuses what the event announces
	BlockContinues BlockMeaning = "continues" // the same as continue with the reason
)

// AskMeaning is what ask does at an event.
type AskMeaning string

const (
	AskFails      AskMeaning = ""           // not allowed here: the reply fails
	AskPerson     AskMeaning = "person"     // a person decides
	AskPermission AskMeaning = "permission" // a permission-request event follows
	AskStays      AskMeaning = "stays"      // the person is being asked already
)

// ContinueMeaning is what continue with messages or a reason does at an event.
// Without either it is observe everywhere.
type ContinueMeaning string

const (
	ContinueFails    ContinueMeaning = ""          // not allowed here: the reply fails
	ContinueAppends  ContinueMeaning = "appends"   // messages are appended; after a final step one more step follows (capped)
	ContinueForcesOn ContinueMeaning = "forces-on" // the run goes on (capped)
	ContinueRunsOn   ContinueMeaning = "runs-on"   // a further run in the session (same cap)
)

// CallbackMeaning is when a callback's recipe runs.
type CallbackMeaning string

const (
	CallbackFails    CallbackMeaning = ""              // not allowed here: the reply fails
	CallbackNow      CallbackMeaning = "now"           // at once
	CallbackStepStop CallbackMeaning = "at step-stop"  // when the step ends
	CallbackThenStop CallbackMeaning = "now-then-stop" // at once, then the run stops
)

// Field is one member of an event's data that a modifier may change.
type Field struct {
	Path   string    // member path below data, parts joined by a dot: "args", "error.text"
	Type   FieldType // what a changed value must look like
	Stored bool      // the change is kept in the session, not only used for this call
}

// FieldType names the shape that a changed field is checked against.
type FieldType string

const (
	TypeString   FieldType = "string"
	TypeMessages FieldType = "messages" // list of Message, pairing and roles checked
	TypeMessage  FieldType = "message"  // one assistant Message
	TypeTools    FieldType = "tools"    // list of Tool
	TypeParams   FieldType = "params"   // Params object
	TypeArgs     FieldType = "args"     // object, checked against the tool's schema where known
	TypeResult   FieldType = "result"   // Result
	TypeResponse FieldType = "response" // {message, finishReason?}
)

// Alias is a name that another system uses for an event. Names are accepted
// exactly as written.
type Alias struct {
	Name string
	From string // who uses it: a seed document's number, or "agents" for Claude, Gemini and the like
}

// Spec is one row of the events table: everything that is special about an event.
type Spec struct {
	Name       EventName
	Kind       Kind
	Block      BlockMeaning
	Blocks     string // what a block refuses, in words, for the documentation
	Stops      string // what a stop does, in words; empty where stop is not allowed
	StopErrs   bool   // a stop ends the run with agent-error rather than agent-end
	Fields     []Field
	Replace    FieldType // "result" or "response" where a reply may replace the work itself, else empty
	Ask        AskMeaning
	Continue   ContinueMeaning
	Callback   CallbackMeaning
	Context    string // where context goes, in words; empty where it is dropped
	Tool       bool   // the event is about one tool call: match.tool has a meaning
	Source     bool   // data.source exists: match.source has a meaning
	StepType   bool   // data.type exists: match.step has a meaning
	Detachable bool   // it reports what has happened: its hooks are asked even if the host has stopped waiting
	Aliases    []Alias
	Data       any // zero value of the Go type of data
}

// CanStop reports whether stop is allowed at the event.
func (s *Spec) CanStop() bool { return s.Stops != "" }

// CanChange reports whether a modifier may change any part of the event.
func (s *Spec) CanChange() bool { return len(s.Fields) > 0 || s.Replace != "" }

// Lookup returns the row of an event by its own name, or nil.
func Lookup(name EventName) *Spec {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}

// Canonical returns our name for a name or alias, exactly as written in the
// table. For any other spelling ok is false and nearest is the known name that it
// most likely means, "" if that cannot be told; see [EventHint].
func Canonical(name string) (event EventName, nearest string, ok bool) {
	if s := byAlias()[name]; s != nil {
		return s.Name, "", true
	}
	return "", nearestEvent(name), false
}

// byAlias finds an event by any of its names. Few programs need it: it is made when one does.
var byAlias = sync.OnceValue(func() map[string]*Spec {
	all := make(map[string]*Spec, 2*len(Table))
	for i := range Table {
		for _, name := range Table[i].names() {
			all[name] = &Table[i]
		}
	}
	return all
})

// nearestEvent is the name or alias that a misspelt one most likely means, "" if that
// cannot be told.
func nearestEvent(word string) string {
	events := make([][]string, 0, len(Table))
	for i := range Table {
		events = append(events, Table[i].names())
	}
	return eventname.Nearest(word, events)
}

// names are all names of an event, ours first.
func (s *Spec) names() []string {
	names := []string{string(s.Name)}
	for _, alias := range s.Aliases {
		names = append(names, alias.Name)
	}
	return names
}

// EventHint says what a name that no event has may have meant.
func EventHint(name string) string {
	if near := nearestEvent(name); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	var names []string
	for i := range Table {
		names = append(names, string(Table[i].Name))
	}
	return "the events are " + strings.Join(names, " ")
}

// Table is the events table of the protocol, one row per event.
var Table = []Spec{
	{
		Name: SessionStart, Kind: Point, Source: true,
		Stops:   "no run in this session",
		Context: "end of the system text, stored",
		Aliases: agents("SessionStart"),
		Data:    SessionStartData{},
	},
	{
		Name: SessionEnd, Kind: Notice, Detachable: true,
		Aliases: agents("SessionEnd"),
		Data:    SessionEndData{},
	},
	{
		Name: PromptSubmit, Kind: Gate, Source: true,
		Block: BlockRefuses, Blocks: "prompt is not added; `agent-error`",
		Stops: "as block", StopErrs: true,
		Fields:  []Field{{"prompt", TypeString, true}},
		Ask:     AskPerson,
		Context: "after the prompt, same message",
		Aliases: append(agents("UserPromptSubmit", "BeforeAgent"), Alias{"pre_request", "000"}, Alias{"user_message_send", "004"}),
		Data:    PromptSubmitData{},
	},
	{
		Name: AgentStart, Kind: Gate,
		Block: BlockRefuses, Blocks: "run ends, `agent-error`",
		Stops: "run ends, `agent-end`",
		Fields: []Field{
			{"system", TypeString, true}, {"messages", TypeMessages, true}, {"tools", TypeTools, true},
		},
		Ask:     AskPerson,
		Context: "user message, stored",
		Aliases: []Alias{{"ExecutionStart", "002"}, {"execution_start", "003"}},
		Data:    AgentStartData{},
	},
	{
		Name: StepStart, Kind: Gate,
		Block: BlockRefuses, Blocks: "run ends, `agent-error`",
		Stops:    "run ends",
		Fields:   []Field{{"messages", TypeMessages, true}},
		Ask:      AskPerson,
		Callback: CallbackNow,
		Context:  "user message, stored",
		Aliases:  []Alias{{"StepStart", "002"}, {"before_step", "003"}},
		Data:     StepStartData{},
	},
	{
		Name: InferenceStart, Kind: Gate,
		Block: BlockRefuses, Blocks: "run ends, `agent-error`",
		Stops: "run ends",
		Fields: []Field{
			{"system", TypeString, false}, {"messages", TypeMessages, false},
			{"tools", TypeTools, false}, {"params", TypeParams, false},
		},
		Replace: TypeResponse,
		Ask:     AskPerson,
		Context: "this call only",
		Aliases: append(agents("BeforeModel", "BeforeToolSelection"), Alias{"before_inference", "003"}),
		Data:    InferenceStartData{},
	},
	{
		Name: InferenceEnd, Kind: Gate, Detachable: true, StepType: true,
		Block: BlockRefuses, Blocks: "answer not stored, its calls not run; `agent-error`",
		Stops:    "answer not stored, its calls not run; `agent-end`",
		Fields:   []Field{{"message", TypeMessage, true}},
		Callback: CallbackStepStop,
		Context:  "user message before the next call, else dropped",
		Aliases:  append(agents("AfterModel"), Alias{"mid_react", "000"}, Alias{"after_inference", "003"}, Alias{"turn_end", "004"}),
		Data:     InferenceEndData{},
	},
	{
		Name: ToolCallStart, Kind: Gate, Tool: true,
		Block: BlockRefuses, Blocks: "call not run, the model reads the reason as an error result, run goes on (`onToolBlock: stop`: `agent-error`)",
		Stops:   "call not run, run ends",
		Fields:  []Field{{"args", TypeArgs, true}},
		Replace: TypeResult,
		Ask:     AskPermission,
		// A replaced tool skips the work, not the events: tool-call-end fires with synthetic set.
		Callback: CallbackFails,
		Context:  "appended to this result",
		Aliases:  append(agents("PreToolUse", "BeforeTool"), Alias{"before_tool_use", "003"}, Alias{"before_tool_call", "004"}),
		Data:     ToolCallStartData{},
	},
	{
		Name: PermissionRequest, Kind: Gate, Tool: true,
		Block: BlockRefuses, Blocks: "denied, as a blocked call",
		Stops:   "denied, run ends",
		Ask:     AskStays,
		Context: "appended to this result",
		Aliases: agents("PermissionRequest"),
		Data:    PermissionRequestData{},
	},
	{
		Name: ToolCallEnd, Kind: Gate, Detachable: true, Tool: true,
		Block: BlockRefuses, Blocks: "result withheld, the model reads the reason as an error result",
		Stops:    "result kept, run ends",
		Fields:   []Field{{"result", TypeResult, true}},
		Callback: CallbackStepStop,
		Context:  "appended to this result",
		Aliases:  append(agents("PostToolUse", "AfterTool"), Alias{"after_tool_use", "003"}, Alias{"after_tool_call", "004"}),
		Data:     ToolCallEndData{},
	},
	{
		Name: ToolCallError, Kind: Point, Detachable: true, Tool: true,
		Stops:   "run ends",
		Fields:  []Field{{"error.text", TypeString, true}},
		Context: "appended to this result",
		Aliases: agents("PostToolUseFailure"),
		Data:    ToolCallErrorData{},
	},
	{
		Name: StepStop, Kind: Point, Detachable: true, StepType: true,
		Stops:    "run ends",
		Fields:   []Field{{"messages", TypeMessages, true}},
		Continue: ContinueAppends,
		Callback: CallbackNow,
		Context:  "user message, if a step follows",
		Aliases:  append(agents("PostToolBatch"), Alias{"StepEnd", "002"}, Alias{"after_step", "003"}, Alias{"after_turn", "004"}),
		Data:     StepStopData{},
	},
	{
		Name: AgentStop, Kind: Gate,
		Block: BlockContinues, Blocks: "= `continue` with the reason",
		Stops:    "stops now, none can force on",
		Fields:   []Field{{"messages", TypeMessages, true}},
		Continue: ContinueForcesOn,
		Callback: CallbackThenStop,
		Context:  "with `continue`, else dropped",
		Aliases:  append(agents("Stop", "AfterAgent"), Alias{"post_react_loop", "000"}, Alias{"should_continue", "003"}, Alias{"agent_stop", "004"}),
		Data:     AgentStopData{},
	},
	{
		Name: AgentEnd, Kind: Point, Detachable: true,
		Continue: ContinueRunsOn,
		Aliases:  []Alias{{"post_request", "000"}, {"execution_end", "003"}},
		Data:     AgentEndData{},
	},
	{
		Name: AgentError, Kind: Notice, Detachable: true,
		Aliases: append(agents("StopFailure"), Alias{"AgentFailed", "002"}, Alias{"on_error", "003"}),
		Data:    AgentErrorData{},
	},
	{
		Name: CompactStart, Kind: Gate,
		Block: BlockRefuses, Blocks: "no compaction, run goes on",
		Stops:   "run ends",
		Fields:  []Field{{"instructions", TypeString, false}},
		Context: "appended to `instructions`",
		Aliases: agents("PreCompact", "PreCompress"),
		Data:    CompactStartData{},
	},
	{
		Name: CompactEnd, Kind: Point,
		Stops:   "run ends",
		Context: "after the summary",
		Aliases: agents("PostCompact"),
		Data:    CompactEndData{},
	},
	{
		Name: SubagentStart, Kind: Gate,
		Block: BlockRefuses, Blocks: "not started, the parent reads the reason as an error result",
		Stops:   "parent's run ends",
		Fields:  []Field{{"prompt", TypeString, true}},
		Ask:     AskPerson,
		Context: "after the sub-agent's prompt",
		Aliases: agents("SubagentStart"),
		Data:    SubagentStartData{},
	},
	{
		Name: SubagentStop, Kind: Gate, Detachable: true,
		Block: BlockContinues, Blocks: "= `continue` with the reason",
		Stops:    "parent's run ends",
		Fields:   []Field{{"response", TypeString, true}},
		Continue: ContinueForcesOn,
		Context:  "with `continue`, else appended to the result",
		Aliases:  agents("SubagentStop"),
		Data:     SubagentStopData{},
	},
	{Name: ThinkingStart, Kind: Notice, Detachable: true, Data: DeltaStartData{}},
	{Name: ThinkingEnd, Kind: Notice, Detachable: true, Data: DeltaEndData{}},
	{Name: MessageStart, Kind: Notice, Detachable: true, Data: DeltaStartData{}},
	{Name: MessageEnd, Kind: Notice, Detachable: true, Data: DeltaEndData{}},
	{Name: Notification, Kind: Notice, Detachable: true, Aliases: agents("Notification"), Data: NotificationData{}},
}

func agents(names ...string) (aliases []Alias) {
	for _, n := range names {
		aliases = append(aliases, Alias{n, "agents"})
	}
	return aliases
}
