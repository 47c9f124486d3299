package protocol

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Event is one agent event: the envelope a hook reads on stdin, and what a host
// hands to the executor. Data stays raw JSON so that numbers keep their digits
// and bytes that no hook changed stay as they were.
type Event struct {
	Protocol   int        `json:"protocol"`
	Event      EventName  `json:"event"`
	ID         string     `json:"id" jsonschema:"unique per event (a ULID)"`
	Seq        *int64     `json:"seq" jsonschema:"rises strictly in a session from its opening on; null where no host counts"`
	Time       time.Time  `json:"time" jsonschema:"UTC, RFC 3339 with milliseconds"`
	Session    Session    `json:"session"`
	Agent      Agent      `json:"agent"`
	Project    string     `json:"project" jsonschema:"absolute path of the project root, empty without one"`
	Cwd        string     `json:"cwd" jsonschema:"absolute path of the agent's working directory"`
	Turn       int        `json:"turn" jsonschema:"user prompts so far in the session"`
	Step       int        `json:"step" jsonschema:"model calls so far in the run"`
	Recipe     *string    `json:"recipe" jsonschema:"name of the recipe that this run executes"`
	Compaction Compaction `json:"compaction"`
	Usage      RunUsage   `json:"usage" jsonschema:"this run's, sub-agents included"`

	Data RawMessage `json:"data"`

	// Per-hook members. The executor fills them in for each hook; a host leaves
	// them empty.
	Layer    Layer        `json:"layer,omitzero" jsonschema:"the layer of the hook that reads this"`
	Outcome  OutcomeSoFar `json:"outcome,omitzero" jsonschema:"what the hooks before this one decided"`
	State    RawMessage   `json:"state,omitzero" jsonschema:"the hook's own state in this session, null if none"`
	Metadata RawMessage   `json:"metadata,omitzero" jsonschema:"every hook's metadata in this session, by hook name"`

	// Unknown holds members that this version does not know. They are passed on, and hooks
	// must tolerate them.
	Unknown jsontext.Value `json:",embed"`

	// Marker is a token of hookd verify, which waits for this event: it gets a line of its
	// own in the record. It changes nothing else. "" for none.
	Marker string `json:"-"`

	// CheckArgs checks a tool call's changed args against the tool's schema. It
	// is set by a host that knows the schema, and nil otherwise.
	CheckArgs func(args RawMessage) error `json:"-"`

	// Touches returns what a tool call with changed args would touch. It is set by a host
	// that can say so. Without it an event whose args were changed no longer says what the
	// call touches.
	Touches func(args RawMessage) Touched `json:"-"`

	// ResolveAsk, if set, is called once the hooks have decided and before the decision is
	// recorded: where the outcome is an ask, the host asks the person and completes the
	// outcome. No limit of hooks applies to it. An error aborts the event, as the end of
	// the context does.
	ResolveAsk func(ctx context.Context, outcome *Outcome) error `json:"-"`

	// TakeBack, if set, takes back what a limit of the host's does not let hooks decide,
	// such as a run that they have forced on often enough, and says so in the outcome's
	// notices. It is called once all is decided and before that is recorded.
	TakeBack func(outcome *Outcome) `json:"-"`

	// Lost, if set, returns the parts of a decided outcome that the host cannot carry out,
	// each a sentence for the person. It is called once all is decided and before that is
	// recorded, and does nothing but look; see [Outcome.Lost].
	Lost func(outcome *Outcome) []string `json:"-"`

	// ModelArgs are the args of a call as the model gave them, if hooks changed them since.
	// hookd fills them in for hooks in Go only. A hook that checks a call against a rule
	// checks both versions, and must not show the person what Data does not show.
	ModelArgs RawMessage `json:"-"`

	// Epoch numbers the openings of the session: it rises with each, and Seq begins anew.
	// It is 0 where the host does not count. A host that opens sessions itself sets it to
	// the time of opening in nanoseconds; no hook reads it.
	Epoch int64 `json:"-"`

	// NotAsked are hooks that are not asked about this event: it happens in a
	// recipe that they asked for at an event of the same name.
	NotAsked []HookRef `json:"-"`

	// Detached says that the event is delivered although the host was already told to end:
	// what it reports has happened. Its hooks are asked even if the context of Fire has
	// ended; Fire itself still returns when that context ends. It has an effect only on
	// events whose row is [Spec.Detachable].
	Detached bool `json:"-"`

	// Due says that the event is the end of something that hooks saw begin: if the context of
	// Fire ends before they are asked, it is delivered as if it were Detached.
	Due bool `json:"-"`
}

// Session names the conversation an event belongs to.
type Session struct {
	ID         string `json:"id" jsonschema:"empty without a session"`
	Transcript string `json:"transcript,omitzero" jsonschema:"absolute path of the session's JSONL file"`
	Key        string `json:"key,omitzero" jsonschema:"daemon only: the secret that session/open handed out; no hook sees it"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// Agent names the agent that an event comes from.
type Agent struct {
	ID     string  `json:"id" jsonschema:"main for the top agent"`
	Parent *string `json:"parent" jsonschema:"id of the agent that started this one"`
	Depth  int     `json:"depth" jsonschema:"0 for the top agent"`
	Host   string  `json:"host" jsonschema:"program that fires the event: hookd, claude, …"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// Compaction is the host's compaction setting.
type Compaction struct {
	Auto      bool    `json:"auto"`
	Threshold float64 `json:"threshold" jsonschema:"share of the context window, 0 to 1"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// RunUsage is what a run has used so far. Unknown figures are null, never 0.
type RunUsage struct {
	InputTokens   *int64   `json:"inputTokens"`
	OutputTokens  *int64   `json:"outputTokens"`
	ContextTokens *int64   `json:"contextTokens"`
	ContextMax    *int64   `json:"contextMax"`
	CostUSD       *float64 `json:"costUsd"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// OutcomeSoFar is what the hooks before this one decided so far; for an observer it
// is final.
type OutcomeSoFar struct {
	Action  Action   `json:"action"`
	By      *string  `json:"by" jsonschema:"name of the hook that decided"`
	Changed []string `json:"changed" jsonschema:"JSON Pointers below data"`
}

var errSessionID = errors.New("must be up to 128 letters, digits and - _ . : @, and not begin with a dot")

// CheckSessionID keeps the ids that people and hosts give to sessions to what can name a
// file, an argument and a variable: records and state of a session are kept under its
// id, and hooks read it.
func CheckSessionID(id string) error {
	if id == "" || len(id) > 128 || id[0] == '.' || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@") != "" {
		return errSessionID
	}
	return nil
}

// NewID returns a ULID: 48 bits of time in milliseconds and 80 random ones, as 26
// letters and digits that sort by time. Those of one process rise, within a
// millisecond too. It may be called concurrently.
//
// It is written out here because the library for it seeds a random source of 5
// KiB in every process that links it.
func NewID() string { return ids.next(time.Now()).String() }

// id is the 128 bits of a ULID.
type id struct{ high, low uint64 }

// ids are those of this process.
var ids idSequence

type idSequence struct {
	mu   sync.Mutex
	last id
}

// next is a fresh id, or the one after the last where that would not be greater.
func (s *idSequence) next(now time.Time) id {
	fresh := id{uint64(now.UnixMilli())<<16 | rand.Uint64()>>48, rand.Uint64()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh.high>>16 <= s.last.high>>16 {
		if fresh = s.last; fresh.low == ^uint64(0) {
			fresh.high++
		}
		fresh.low++
	}
	s.last = fresh
	return fresh
}

// String writes an id in Crockford's base 32.
func (i id) String() string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var text [26]byte
	high, low := i.high, i.low
	for at := len(text) - 1; at >= 0; at-- {
		text[at] = digits[low&31]
		high, low = high>>5, low>>5|high<<59
	}
	return string(text[:])
}

// TimeFormat is how times are written: UTC with milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// Marshal encodes a value of this package, or one that holds such values. Raw
// JSON inside keeps the bytes of its strings and numbers; text that is not valid
// UTF-8 is written with U+FFFD in place of the bad bytes instead of failing.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v, jsontext.PreserveRawStrings(true), json.Deterministic(true))
	if err == nil {
		return b, nil
	}
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
}

// Encoding is one version of an event as all hooks read it, made once however
// many they are. It shares the event's data.
type Encoding struct {
	head []byte // the envelope, up to the value of data
	data RawMessage
}

// Encode encodes the part of an event that is the same for every hook. Its strings
// have their plain form, see [Plain]. Data is not copied, unless it spans lines or
// holds an escape that it does not need.
func Encode(ev *Event) (*Encoding, error) {
	envelope := *ev
	if envelope.Protocol == 0 {
		envelope.Protocol = Version
	}
	envelope.Session.Key = ""
	envelope.Layer, envelope.Outcome, envelope.State, envelope.Metadata = "", OutcomeSoFar{}, nil, nil
	envelope.Data = nil
	head, err := Marshal((*wireEvent)(&envelope))
	if err != nil {
		return nil, err
	}
	data := jsonspan.Plain(jsonspan.OneLine(ev.Data))
	if len(data) == 0 {
		data = RawMessage("{}")
	}
	return &Encoding{append(jsonspan.Plain(head[:len(head)-1]), `,"data":`...), data}, nil
}

// ForHook returns the event as one hook reads it, with its newline, in pieces to
// be written one after the other. Hooks share all pieces but the last.
func (e *Encoding) ForHook(layer Layer, standing OutcomeSoFar, state, metadata RawMessage) [][]byte {
	const room = 128 // for names and punctuation
	own := make([]byte, 0, room+len(state)+len(metadata))
	own = append(own, `,"layer":`...)
	own = jsonspan.AppendQuote(own, string(layer))
	own = append(own, `,"outcome":{"action":`...)
	if standing.Action == "" {
		standing.Action = Observe
	}
	own = jsonspan.AppendQuote(own, string(standing.Action))
	own = append(own, `,"by":`...)
	if standing.By == nil {
		own = append(own, "null"...)
	} else {
		own = jsonspan.AppendQuote(own, *standing.By)
	}
	own = append(own, `,"changed":[`...)
	for i, path := range standing.Changed {
		if i > 0 {
			own = append(own, ',')
		}
		own = jsonspan.AppendQuote(own, path)
	}
	own = append(own, `]},"state":`...)
	own = append(own, rawOr(state, "null")...)
	own = append(own, `,"metadata":`...)
	own = append(own, rawOr(metadata, "{}")...)
	return [][]byte{e.head, e.data, append(own, "}\n"...)}
}

// AppendEvent appends the whole event as a hook reads it, with the per-hook members
// it carries, and a newline.
func AppendEvent(dst []byte, ev *Event) ([]byte, error) {
	encoded, err := Encode(ev)
	if err != nil {
		return dst, err
	}
	for _, piece := range encoded.ForHook(ev.Layer, ev.Outcome, ev.State, ev.Metadata) {
		dst = append(dst, piece...)
	}
	return dst, nil
}

func rawOr(v RawMessage, none string) []byte {
	if len(v) == 0 {
		return []byte(none)
	}
	return jsonspan.Plain(jsonspan.OneLine(v))
}

// wireEvent is an Event with the wire's form of its time and without its data.
type wireEvent Event

// MarshalJSONTo writes the envelope. Members without a value are left out: a
// host does not send what the executor fills in.
func (w *wireEvent) MarshalJSONTo(enc *jsontext.Encoder) error {
	type envelope struct {
		Protocol   int            `json:"protocol"`
		Event      EventName      `json:"event"`
		ID         string         `json:"id"`
		Seq        *int64         `json:"seq"`
		Time       wireTime       `json:"time"`
		Session    Session        `json:"session"`
		Agent      Agent          `json:"agent"`
		Project    string         `json:"project"`
		Cwd        string         `json:"cwd"`
		Turn       int            `json:"turn"`
		Step       int            `json:"step"`
		Recipe     *string        `json:"recipe"`
		Compaction Compaction     `json:"compaction"`
		Usage      RunUsage       `json:"usage"`
		Data       RawMessage     `json:"data,omitzero"`
		Layer      Layer          `json:"layer,omitzero"`
		Outcome    *OutcomeSoFar  `json:"outcome,omitzero"`
		State      RawMessage     `json:"state,omitzero"`
		Metadata   RawMessage     `json:"metadata,omitzero"`
		Unknown    jsontext.Value `json:",embed"`
	}
	e := envelope{
		w.Protocol, w.Event, w.ID, w.Seq, wireTime(w.Time), w.Session, w.Agent, w.Project, w.Cwd,
		w.Turn, w.Step, w.Recipe, w.Compaction, w.Usage, w.Data, w.Layer, nil, w.State, w.Metadata, w.Unknown,
	}
	if w.Outcome.Action != "" {
		e.Outcome = &w.Outcome
	}
	return json.MarshalEncode(enc, &e)
}

// MarshalJSONTo writes an event on one line: its time in UTC with milliseconds,
// its data as it is.
func (ev Event) MarshalJSONTo(enc *jsontext.Encoder) error {
	return (*wireEvent)(&ev).MarshalJSONTo(enc)
}

// wireTime is a time as the wire has it; the zero time is null.
type wireTime time.Time

func (t wireTime) MarshalJSONTo(enc *jsontext.Encoder) error {
	if time.Time(t).IsZero() {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.String(time.Time(t).UTC().Format(TimeFormat)))
}

// Milliseconds is a duration as records and outcomes have it, to a microsecond.
func Milliseconds(d time.Duration) float64 {
	ms, _ := strconv.ParseFloat(strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64), 64)
	return ms
}

// MarshalJSONTo writes no failure as null.
func (k FailureKind) MarshalJSONTo(enc *jsontext.Encoder) error { return writeOrNull(enc, string(k)) }

// UnmarshalJSONFrom reads null as no failure.
func (k *FailureKind) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readOrNull(dec, (*string)(k))
}

// MarshalJSONTo writes no skip as null.
func (s Skip) MarshalJSONTo(enc *jsontext.Encoder) error { return writeOrNull(enc, string(s)) }

// UnmarshalJSONFrom reads null as no skip.
func (s *Skip) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return readOrNull(dec, (*string)(s)) }

// MarshalJSONTo writes an empty string as null.
func (s NullString) MarshalJSONTo(enc *jsontext.Encoder) error { return writeOrNull(enc, string(s)) }

// UnmarshalJSONFrom reads null as an empty string.
func (s *NullString) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readOrNull(dec, (*string)(s))
}

func writeOrNull(enc *jsontext.Encoder, s string) error {
	if s == "" {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.String(s))
}

func readOrNull(dec *jsontext.Decoder, s *string) error {
	if dec.PeekKind() == 'n' {
		*s = ""
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, s)
}
