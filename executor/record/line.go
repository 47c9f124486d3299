// Package record keeps the evidence of what hooks decided: one file of JSON
// lines per session, each line holding the hash of the line before, so that a
// line that was changed, added or taken out in the middle is found. A cut tail
// or a chain that was rewritten as a whole is found against a [Head] that was
// kept elsewhere.
//
// A line is written in one write before its event goes on, under a short lock
// between processes, and is not synced: a crash of the process loses no decided
// event, a power failure may.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Version is the version of the record's format.
const Version = 1

// Kind says what a line tells.
type Kind string

const (
	KindEvent Kind = "event" // an event was decided
	KindSet   Kind = "set"   // another set of hooks rules from here on
	KindTrust Kind = "trust" // a person allowed or withdrew something
	KindLate  Kind = "late"  // what ended after its event had gone on
)

// Entry is the content of one line: an [Event], a [Set], a [Trust] or a [Late].
type Entry interface {
	kind() Kind
	event() string // the id of the event it is about, "" if of none
}

// Event is a decided event.
type Event struct {
	Opening    int64                `json:"opening,omitzero"` // rises with each opening of the session; seq begins anew with it
	Seq        *int64               `json:"seq"`
	ID         string               `json:"id"`
	Event      protocol.EventName   `json:"event"`
	Agent      string               `json:"agent"`
	Depth      int                  `json:"depth"`
	Host       string               `json:"host"`
	Generation int64                `json:"generation"`
	Set        string               `json:"set"`              // hash of the set of hooks
	Managed    string               `json:"managed,omitzero"` // hash of the managed layer
	Data       Digest               `json:"data"`             // as the event came in
	Tool       string               `json:"tool,omitzero"`
	ToolCallID string               `json:"toolCallId,omitzero"`
	Asked      string               `json:"asked,omitzero"` // what the call is about, as far as records.values lets it be told
	Action     protocol.Action      `json:"action"`
	By         *string              `json:"by"`
	Reason     string               `json:"reason"`
	Failure    protocol.FailureKind `json:"failure,omitzero"`  // its rule decided
	Answered   *protocol.Answered   `json:"answered,omitzero"` // who answered the question, where one was put
	Aborted    string               `json:"aborted,omitzero"`  // why the caller gave up; nothing took effect then
	WaitedMs   float64              `json:"waitedMs"`
	Changed    []Change             `json:"changed"`
	Left       []string             `json:"left,omitzero"` // of a command: the processes that it left running, which were ended
	Conflict   bool                 `json:"conflict"`      // a field has more than one writer
	StateLost  []state.Lost         `json:"stateLost,omitzero"`
	Runs       []protocol.Run       `json:"runs"`
	Cut        int                  `json:"cut,omitzero"` // bytes that the line would have had; texts and lists of it are shortened
}

// Change is one changed field. Before or After is null where the field did not
// exist.
type Change struct {
	Path   string  `json:"path"`
	By     string  `json:"by"`
	Before *Digest `json:"before"`
	After  *Digest `json:"after"`
}

// Late is what one hook did after its event had gone on: an observer's run, or
// an answer that came too late to count.
type Late struct {
	Opening    int64              `json:"opening,omitzero"`
	Seq        *int64             `json:"seq"`
	ID         string             `json:"id"`
	Event      protocol.EventName `json:"event"`
	Generation int64              `json:"generation"`
	Set        string             `json:"set"`
	Run        protocol.Run       `json:"run"`
	Note       string             `json:"note,omitzero"`
	Dropped    int64              `json:"dropped,omitzero"` // events this observer lost in this session so far
	StateLost  []state.Lost       `json:"stateLost,omitzero"`
	Cut        int                `json:"cut,omitzero"`
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

func (e *Event) event() string { return e.ID }
func (l *Late) event() string  { return l.ID }
func (*Set) event() string     { return "" }
func (*Trust) event() string   { return "" }

func (*Event) kind() Kind { return KindEvent }
func (*Late) kind() Kind  { return KindLate }
func (*Set) kind() Kind   { return KindSet }
func (*Trust) kind() Kind { return KindTrust }

// Digest stands for a value in a record.
type Digest struct {
	Hash  string              `json:"hash,omitzero"` // sha256:…
	Bytes int                 `json:"bytes"`
	Value protocol.RawMessage `json:"value,omitzero"` // only with records.values full
}

// maxValue is the size up to which a record holds a value itself, in bytes.
const maxValue = 64 << 10

// NewDigest returns what a record keeps of a value, nil for one that does not
// exist. Of a sensitive value only the hash is kept. Hash, size and value are of the
// value as hooks read it, with plain strings, so that they can be compared with what
// a hook keeps, and a search in a record finds what a hook found.
func NewDigest(v protocol.RawMessage, keep schema.RecordValues, sensitive bool) *Digest {
	if v == nil {
		return nil
	}
	v = jsonspan.Plain(v)
	d := &Digest{Bytes: len(v)}
	if keep != schema.ValuesNone {
		d.Hash = hashOf(v)
	}
	if keep == schema.ValuesFull && !sensitive && len(v) <= maxValue && jsonspan.Valid(v) {
		d.Value = v
	}
	return d
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// header is the part of a line that every kind has.
type header struct {
	V       int       `json:"v"`
	Kind    Kind      `json:"kind"`
	N       int64     `json:"n"`    // counts the lines of a session, from 1
	Prev    *string   `json:"prev"` // hash of the line before without its newline, null in the first
	Torn    bool      `json:"torn,omitzero"`
	Lost    int64     `json:"lost,omitzero"`
	LostIDs []string  `json:"lostIds,omitzero"` // of the events of the first of them
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Set     string    `json:"set"` // hash of the set of hooks that ruled
}
