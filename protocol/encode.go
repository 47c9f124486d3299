package protocol

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

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
