package hookmatch

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// Input is what the keys compare of one version of an event. Data is read by the first
// matcher that needs it, once for all hooks. An Input belongs to one goroutine.
type Input struct {
	Key
	ToolCallID string // of a tool's event
	AskedBy    string // of an event that answers a question: who asked it

	event             *protocol.Event
	spec              *protocol.Spec
	scanned, readable bool
}

// Key is what the keys of matchers compare and no hook changes: events with equal
// keys are about the same hooks, but for conditions. A member that no matcher of the
// event compares is not read, and empty.
type Key struct {
	Event              protocol.EventName
	Sub                bool // of a sub-agent
	Unreadable         bool // data is no JSON object
	Tool, Source, Step string
	HostTool           string // the tool's name as another agent has it, where that is another
	Kind               protocol.ToolKind
	MayBe              string // the kinds that the tool may be of where its name proves none, with blanks between them
}

// NewInput returns the input of one version of an event.
func NewInput(ev *protocol.Event) Input {
	spec := ev.Spec()
	if spec == nil {
		spec = &protocol.Spec{Name: ev.Event, Kind: protocol.Notice}
	}
	return Input{event: ev, spec: spec, Key: Key{Event: spec.Name, Sub: ev.Agent.Depth > 0}}
}

// Scan reads the few members of data that matchers compare, and reports whether data
// can be read.
func (in *Input) Scan() bool {
	if in.scanned {
		return in.readable
	}
	in.scanned = true
	var members []jsonspan.Member
	members, in.readable = jsonspan.Object(in.event.Data)
	for _, m := range members {
		if field := in.field(m.Name); field != nil {
			*field = jsonspan.Text(m.Value)
		}
		if m.Name == "mayBe" && in.spec.Tool {
			in.MayBe = kindsIn(m.Value)
		}
	}
	in.Unreadable = !in.readable
	if !slices.Contains(toolKinds, in.Kind) {
		in.Kind = protocol.KindOther // a kind of a later version: a tool that nobody knows
	}
	return in.readable
}

// Scanned reports whether Scan was called.
func (in *Input) Scanned() bool { return in.scanned }

// kindsIn reads a list of kinds. One that cannot be read is every kind, so that guards are
// asked.
func kindsIn(list protocol.RawMessage) string {
	var kinds []string
	if jsonspan.IsNull(list) {
		return ""
	}
	if err := json.Unmarshal(list, &kinds); err != nil {
		for _, kind := range toolKinds {
			kinds = append(kinds, string(kind))
		}
	}
	return strings.Join(kinds, " ")
}

// Seen is the tool of the event as patterns see it.
func (k *Key) Seen() *toolname.Seen {
	seen := &toolname.Seen{Name: k.Tool, Host: k.HostTool, Kind: k.Kind}
	for kind := range strings.FieldsSeq(k.MayBe) {
		seen.MayBe = append(seen.MayBe, protocol.ToolKind(kind))
	}
	return seen
}

var toolKinds = []protocol.ToolKind{
	protocol.KindShell, protocol.KindRead, protocol.KindWrite, protocol.KindNet, protocol.KindMCP, protocol.KindAgent,
}

// field returns where a member of data is kept, nil if no matcher compares it.
func (in *Input) field(name string) *string {
	switch {
	case name == "name" && in.spec.Tool:
		return &in.Tool
	case name == "hostTool" && in.spec.Tool:
		return &in.HostTool
	case name == "kind" && in.spec.Tool:
		return (*string)(&in.Kind)
	case name == "toolCallId" && in.spec.Tool:
		return &in.ToolCallID
	case name == "askedBy" && in.spec.Ask == protocol.AskStays:
		return &in.AskedBy
	case name == "source" && in.spec.Source:
		return &in.Source
	case name == "type" && in.spec.StepType:
		return &in.Step
	}
	return nil
}
