package record

import (
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// formatVersion is the version of the record's format.
const formatVersion = 1

// Kind says what an entry tells.
type Kind string

const (
	KindEvent Kind = "event" // an event was decided
	KindSet   Kind = "set"   // another set of hooks rules from here on
	KindTrust Kind = "trust" // a person allowed or withdrew something
	KindMark  Kind = "mark"  // a hook call that hookd verify waited for came
	KindLate  Kind = "late"  // something ended after its event had gone on
)

// Entry is the content of one line of a record: an [Event], a [Set], a [Trust], a
// [Mark] or a [Late].
type Entry interface {
	kind() Kind
	event() string // the id of the event it is about, "" if of none
}

// Event is a decided event.
type Event struct {
	Epoch      int64                `json:"opening,omitzero"` // rises with each opening of the session; seq begins anew with it
	Seq        *int64               `json:"seq"`
	ID         string               `json:"id"`
	Event      protocol.EventName   `json:"event"`
	Agent      string               `json:"agent"`
	Depth      int                  `json:"depth"`
	Host       string               `json:"host"`
	Generation int64                `json:"generation"`
	Set        string               `json:"set"`              // hash of the set of hooks
	Project    string               `json:"project,omitzero"` // equal sets of hooks rule many projects
	Managed    string               `json:"managed,omitzero"` // hash of the managed layer
	Data       Digest               `json:"data"`             // as the event came in
	Tool       string               `json:"tool,omitzero"`
	ToolCallID string               `json:"toolCallId,omitzero"`
	Asked      string               `json:"asked,omitzero"` // what the call is about, as far as records.values allows
	Action     protocol.Action      `json:"action"`
	By         *string              `json:"by"`
	Reason     string               `json:"reason"`
	Failure    protocol.FailureKind `json:"failure,omitzero"`  // its rule decided
	Answered   *protocol.Answered   `json:"answered,omitzero"` // who answered the question, if there was one
	Aborted    string               `json:"aborted,omitzero"`  // why the caller gave up; nothing took effect then
	WaitedMs   float64              `json:"waitedMs"`
	Changed    []Change             `json:"changed"`
	Left       []string             `json:"left,omitzero"`     // of a command: the processes that it left running, which were ended
	Lost       []string             `json:"hostLost,omitzero"` // what the host could not carry out of the outcome, each a sentence
	Conflict   bool                 `json:"conflict"`          // a field has more than one writer
	StateLost  []state.Overwritten  `json:"stateLost,omitzero"`
	Runs       []protocol.Run       `json:"runs"`
	Cut        int                  `json:"cut,omitzero"` // how long the line would have been, in bytes, if its texts and lists were not shortened
}

// Change is one changed field. Before or After is null if the field did not exist.
type Change struct {
	Path   string  `json:"path"`
	By     string  `json:"by"`
	Before *Digest `json:"before"`
	After  *Digest `json:"after"`
}

// Late is what one hook did after its event had gone on: an observer's run, or
// a reply that came too late to count.
type Late struct {
	Epoch      int64               `json:"opening,omitzero"`
	Seq        *int64              `json:"seq"`
	ID         string              `json:"id"`
	Event      protocol.EventName  `json:"event"`
	Generation int64               `json:"generation"`
	Set        string              `json:"set"`
	Project    string              `json:"project,omitzero"`
	Run        protocol.Run        `json:"run"`
	Note       string              `json:"note,omitzero"`
	Dropped    int64               `json:"dropped,omitzero"` // events that this observer was not told of since the last one
	StateLost  []state.Overwritten `json:"stateLost,omitzero"`
	Cut        int                 `json:"cut,omitzero"`
}

// Set is a set of hooks that begins to rule.
type Set struct {
	Generation int64            `json:"generation"`
	Set        string           `json:"set"`
	Managed    string           `json:"managed,omitzero"`
	Project    string           `json:"project"`
	Refused    string           `json:"refused,omitzero"` // why every gate is refused
	Hooks      []SetHook        `json:"hooks"`
	Findings   []schema.Finding `json:"findings"`
}

// SetHook is one hook of a [Set], in running order.
type SetHook struct {
	Name   string         `json:"name"`
	Source protocol.Layer `json:"source"`
	Hash   string         `json:"hash"`
	Class  protocol.Class `json:"class"`
	Mode   protocol.Mode  `json:"mode"`
	Status string         `json:"status"`
	Why    string         `json:"why,omitzero"`
}

// Trust is a decision about what may run.
type Trust struct {
	Project string `json:"project"`
	Hook    string `json:"hook"`
	Hash    string `json:"hash"`
	State   string `json:"state"`
	How     string `json:"how,omitzero"` // terminal, --yes, --expect, --follow
}

// Mark says that hookd verify waited for an event, and that it came. The event has a line of
// its own.
type Mark struct {
	ID    string             `json:"id"` // of the event
	Event protocol.EventName `json:"event"`
	Host  string             `json:"host"`
	Set   string             `json:"set"`
	Token string             `json:"token"` // for one use
}

func (e *Event) event() string { return e.ID }
func (l *Late) event() string  { return l.ID }
func (m *Mark) event() string  { return m.ID }
func (*Set) event() string     { return "" }
func (*Trust) event() string   { return "" }

func (*Event) kind() Kind { return KindEvent }
func (*Late) kind() Kind  { return KindLate }
func (*Mark) kind() Kind  { return KindMark }
func (*Set) kind() Kind   { return KindSet }
func (*Trust) kind() Kind { return KindTrust }
