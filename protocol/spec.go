package protocol

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/agnivade/levenshtein"

	"github.com/hookd-dev/hookd/internal/text"
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

// Spec is one row of the events table: everything that is special about an
// event.
type Spec struct {
	Name     EventName
	Kind     Kind
	Block    BlockMeaning
	Blocks   string // what a block refuses, in words, for the documentation
	Stops    string // what a stop does, in words; empty where stop is not allowed
	StopErrs bool   // a stop ends the run with agent-error rather than agent-end
	Fields   []Field
	Replace  FieldType // "result" or "response" where a reply may replace the work itself, else empty
	Ask      AskMeaning
	Continue ContinueMeaning
	Callback CallbackMeaning
	Context  string // where context goes, in words; empty where it is dropped
	Tool     bool   // the event is about one tool call: match.tool has a meaning
	Source   bool   // data.source exists: match.source has a meaning
	StepType bool   // data.type exists: match.step has a meaning
	Tells    bool   // it tells of what has happened: hooks hear of it also where its host stops waiting
	Aliases  []Alias
	Data     any // zero value of the Go type of data
}

// CanStop reports whether stop is allowed at the event.
func (s *Spec) CanStop() bool { return s.Stops != "" }

// CanChange reports whether a modifier may change any part of the event.
func (s *Spec) CanChange() bool { return len(s.Fields) > 0 || s.Replace != "" }

// Lookup returns the row of an event by its own name, or nil.
func Lookup(name EventName) *Spec { return byName[name] }

// Canonical returns our name for a name or alias, exactly as written in the
// table. For any other spelling ok is false and nearest is the known name that it
// most likely means, "" if that cannot be told; see [EventHint].
func Canonical(name string) (event EventName, nearest string, ok bool) {
	if s := byAlias[name]; s != nil {
		return s.Name, "", true
	}
	return "", nearestEvent(name), false
}

var (
	byName  = make(map[EventName]*Spec, len(Table))
	byAlias = make(map[string]*Spec, 2*len(Table)) // at once, so that no start of a program grows it
)

func init() {
	for i := range Table {
		s := &Table[i]
		byName[s.Name] = s
		byAlias[string(s.Name)] = s
		for _, a := range s.Aliases {
			byAlias[a.Name] = s
		}
	}
}

// side is whether an event comes before what it is about, when it can still be
// refused, or after it. A misspelt name is never taken for one of the other side: a
// guard there would come too late.
type side byte

const (
	sideUnknown side = iota
	sideBefore
	sideAfter
)

// Words of names that say which side is meant.
var sideWords = map[side][]string{
	sideBefore: {"before", "start", "starts", "started", "begin", "begins", "beginning", "pre", "submit", "request"},
	sideAfter:  {"after", "end", "ends", "ended", "stop", "stops", "stopped", "finish", "finished", "done", "complete", "completed", "post", "error", "failed", "failure"},
}

// splitSide returns the side that a name says with its first or last word, and the name
// without that word, in small letters. A name that says both sides says none.
func splitSide(name string) (side, string) {
	whole := text.Fold(name)
	found, stem := sideUnknown, whole
	for s, words := range sideWords {
		for _, word := range words {
			rest, says := withoutWord(name, whole, word)
			if !says {
				continue
			}
			if found != sideUnknown && found != s {
				return sideUnknown, whole
			}
			if found == sideUnknown || len(rest) < len(stem) {
				found, stem = s, rest
			}
		}
	}
	return found, stem
}

// withoutWord cuts a word off a name's beginning or end. A short one is a word of its
// own there: user_message_send does not say end.
func withoutWord(name, whole, word string) (rest string, says bool) {
	const long = 5
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	if len(words) == 1 {
		words = camelWords(name)
	}
	if len(words) == 0 {
		return whole, false
	}
	alone := len(words) == 1
	if stem, cut := strings.CutPrefix(whole, word); cut && (strings.EqualFold(words[0], word) || len(word) >= long || alone && word == "pre" || alone && word == "post") {
		return stem, true
	}
	if stem, cut := strings.CutSuffix(whole, word); cut && (strings.EqualFold(words[len(words)-1], word) || len(word) >= long) {
		return stem, true
	}
	return whole, false
}

// camelWords are the words of a name such as PreToolUse.
func camelWords(name string) (words []string) {
	begin := 0
	for i, r := range name {
		if i > begin && unicode.IsUpper(r) {
			words, begin = append(words, name[begin:i]), i
		}
	}
	return append(words, name[begin:])
}

type sidedName struct {
	side side
	stem string
}

// sided are the names of the table with what [splitSide] says of them.
var sided = sync.OnceValue(func() map[string]sidedName {
	names := map[string]sidedName{}
	for name := range byAlias {
		s, stem := splitSide(name)
		names[name] = sidedName{s, stem}
	}
	return names
})

// nearestEvent is the name or alias that a misspelt one most likely means, "" if that
// cannot be told: nothing is near, or events of both sides are as near.
func nearestEvent(word string) string {
	word = text.Shorten(word, 60)
	meant, stem := splitSide(word)
	best, distance := "", 1<<30
	near := map[side]int{sideBefore: 1 << 30, sideAfter: 1 << 30}
	for i := range Table {
		of := sided()[string(Table[i].Name)].side
		if meant != sideUnknown && of != sideUnknown && of != meant {
			continue
		}
		for _, name := range Table[i].names() {
			d := text.Distance(word, name)
			own := sided()[name]
			if meant != sideUnknown && own.side == meant {
				d = min(d, 1+levenshtein.ComputeDistance(stem, own.stem)) // begin is start
			}
			if d < distance || d == distance && name == string(Table[i].Name) && byAlias[best].Name != EventName(best) {
				best, distance = name, d
			}
			near[of] = min(near[of], d, levenshtein.ComputeDistance(stem, own.stem))
		}
	}
	if meant == sideUnknown && near[sideBefore] == near[sideAfter] || distance > max(3, len(word)/2) {
		return ""
	}
	return best
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
	return "the events are " + eventList()
}

// eventList are our names of all events.
func eventList() string {
	var names []string
	for i := range Table {
		names = append(names, string(Table[i].Name))
	}
	return strings.Join(names, " ")
}
