package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// Defaults of the limits on what is read (hooks.limits).
const (
	DefaultEventSize   = 32 << 20 // bytes of one event
	DefaultReplySize   = 1 << 20  // bytes of a hook's stdout
	defaultContextSize = 64 << 10 // bytes of context per event
	DefaultDepth       = 512      // nesting of objects and lists
)

// DecodeLimits bound what is decoded. A zero field stands for its default.
type DecodeLimits struct {
	Size  int64 // bytes
	Depth int   // nesting of objects and lists
}

func (l DecodeLimits) orDefault(size int64) DecodeLimits {
	if l.Size <= 0 {
		l.Size = size
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	return l
}

// DecodeError is JSON that cannot be read, or that does not fit.
type DecodeError struct {
	Path   string // JSON Pointer of the member, "" for the whole
	Offset int64  // bytes from the beginning of the input, -1 if unknown
	Err    error
}

func (e *DecodeError) Error() string {
	var at []string
	if e.Path != "" {
		at = append(at, "at "+e.Path)
	}
	if e.Offset >= 0 {
		at = append(at, fmt.Sprintf("byte %d", e.Offset))
	}
	if len(at) == 0 {
		return e.Err.Error()
	}
	return strings.Join(at, ", ") + ": " + e.Err.Error()
}

func (e *DecodeError) Unwrap() error { return e.Err }

// ErrTooLarge and ErrTooDeep are wrapped by the [DecodeError] of an input over
// its limit.
var (
	ErrTooLarge = errors.New("too large")
	ErrTooDeep  = errors.New("nested too deeply")
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// StrictJSON checks that input is exactly one JSON value: valid UTF-8, no
// repeated member names, within the limits. It returns the value without a byte
// order mark and without blanks around it. input itself is never written to.
func StrictJSON(input []byte, lim DecodeLimits) (RawMessage, error) {
	body, cut, _, valid, err := cleanJSON(input, lim)
	if err != nil {
		return nil, err
	}
	if valid {
		value := jsonspan.Trim(body)
		return value[:len(value):len(value)], nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	value, err := dec.ReadValue()
	if err != nil {
		return nil, decodeError(err, "", cut)
	}
	start := dec.InputOffset() - int64(len(value))
	end := dec.InputOffset()
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, &DecodeError{Offset: cut + end, Err: errors.New("more text after the JSON value")}
	}
	return body[start:end:end], nil
}

// cleanJSON removes a byte order mark, holds the limits and mends surrogates. cut
// is the length of what was removed from the beginning. What is not valid after
// that is left to the caller to explain.
//
// An escape that is half of a surrogate pair is legal JSON, but no text: it is
// replaced by \ufffd, the replacement character, so that what hookd passes on is
// always valid UTF-8 once decoded. The replacement is as long as what it
// replaces, so offsets stay true.
func cleanJSON(input []byte, lim DecodeLimits) (body []byte, cut int64, members []jsonspan.Member, valid bool, err error) {
	if int64(len(input)) > lim.Size {
		return nil, 0, nil, false, &DecodeError{Offset: lim.Size, Err: fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(input), lim.Size)}
	}
	body = bytes.TrimPrefix(input, byteOrderMark)
	cut = int64(len(input) - len(body))
	if members, valid = jsonspan.ScanObject(body, lim.Depth); valid {
		return body, cut, members, true, nil
	}
	if at := jsonspan.DepthExceeded(body, lim.Depth); at >= 0 {
		return nil, 0, nil, false, &DecodeError{Offset: cut + int64(at), Err: fmt.Errorf("%w: the limit is %d levels", ErrTooDeep, lim.Depth)}
	}
	if mended := jsonspan.ReplaceLoneSurrogates(body); len(mended) > 0 && &mended[0] != &body[0] {
		members, valid = jsonspan.ScanObject(mended, lim.Depth)
		return mended, cut, members, valid, nil
	}
	return body, cut, nil, false, nil
}

// decodeError makes a DecodeError of an error of the JSON library, whose offset
// and path are relative to base and prefix.
func decodeError(err error, prefix string, base int64) *DecodeError {
	e := libraryError(err, prefix, base)
	// Names and values of the input stand in both; they may be as long as it is.
	e.Path = text.Shorten(e.Path, 1000)
	if words := e.Err.Error(); len(words) > 500 {
		e.Err = errors.New(text.Shorten(words, 500))
	}
	return e
}

// PlainError returns an error of the JSON library in the words of JSON: where the value is
// and what belongs there, without the names of Go types.
func PlainError(err error) error {
	if err == nil {
		return nil
	}
	return decodeError(err, "", 0)
}

func libraryError(err error, prefix string, base int64) *DecodeError {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	var ours *DecodeError
	switch {
	case errors.As(err, &ours):
		e := *ours
		e.Path = prefix + e.Path
		if e.Offset >= 0 {
			e.Offset += base
		}
		return &e
	case errors.As(err, &syntax):
		cause := syntax.Err
		switch {
		case cause == io.ErrUnexpectedEOF:
			cause = errors.New("the JSON ends too early")
		case cause == io.EOF:
			cause = errors.New("no JSON value")
		case cause == jsontext.ErrDuplicateName:
			cause = fmt.Errorf("member %q is repeated", text.Shorten(syntax.JSONPointer.LastToken(), 100))
		}
		return &DecodeError{Path: prefix + string(syntax.JSONPointer), Offset: base + syntax.ByteOffset, Err: cause}
	case errors.As(err, &semantic):
		return &DecodeError{Path: prefix + string(semantic.JSONPointer), Offset: base + semantic.ByteOffset, Err: semanticCause(semantic)}
	case err == io.EOF:
		return &DecodeError{Path: prefix, Offset: base, Err: errors.New("no JSON value")}
	case err == io.ErrUnexpectedEOF:
		return &DecodeError{Path: prefix, Offset: -1, Err: errors.New("the JSON ends too early")}
	}
	return &DecodeError{Path: prefix, Offset: -1, Err: err}
}

// semanticCause says in plain words which value did not fit, without Go types.
func semanticCause(e *json.SemanticError) error {
	found := "this value"
	switch {
	case len(e.JSONValue) > 0 && len(e.JSONValue) <= 40:
		found = string(e.JSONValue)
	case e.JSONKind != 0:
		found = jsonspan.KindName(RawMessage{byte(e.JSONKind)})
	}
	if e.Err != nil {
		return fmt.Errorf("%s does not fit: %w", found, e.Err)
	}
	if e.GoType != nil {
		return fmt.Errorf("%s where %s is expected", found, typeName(e.GoType))
	}
	return fmt.Errorf("%s does not fit", found)
}

// typeName is a Go type in the words of JSON.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "another value"
}

// DecodeEvent reads one event as a host sends it: an object with at least event
// and data. Every error is a [*DecodeError].
//
// The event's name may be an alias of the table; it is replaced by ours. Members
// that this version does not know are kept and passed on. The per-hook members
// (layer, outcome, state, metadata) are not a host's to set: they are read over.
// The result owns its bytes: line may be reused.
func DecodeEvent(line []byte, lim DecodeLimits) (Event, error) {
	value, cut, found, _, err := cleanJSON(line, lim.orDefault(DefaultEventSize))
	if err != nil {
		return Event{}, err
	}
	switch jsonspan.Kind(value) {
	case '{':
	case 0:
		return Event{}, &DecodeError{Offset: int64(len(line)), Err: errors.New("no JSON value")}
	default:
		return Event{}, &DecodeError{Offset: cut, Err: fmt.Errorf("the event is %s, not an object", jsonspan.KindName(value))}
	}
	ev, err := unmarshalEvent(value, found)
	if err != nil {
		return Event{}, decodeError(err, "", cut)
	}
	ev.Layer, ev.Outcome, ev.State, ev.Metadata = "", OutcomeSoFar{}, nil, nil
	if ev.Protocol == 0 {
		ev.Protocol = Version
	}
	if err := checkEvent(&ev); err != nil {
		return Event{}, atOffset(value, cut, err)
	}
	ev.Event = ev.Spec().Name
	return ev, nil
}

// unmarshalEvent reads the envelope. Data, which may be large and was checked
// with all the rest, is only copied.
func unmarshalEvent(value RawMessage, found []jsonspan.Member) (ev Event, err error) {
	i := slices.IndexFunc(found, func(m jsonspan.Member) bool { return m.Name == "data" })
	if i >= 0 {
		data := found[i]
		envelope := slices.Concat(value[:data.Start], RawMessage("null"), value[data.End():])
		if err = json.Unmarshal(envelope, &ev); err == nil {
			ev.Data = slices.Clone(jsonspan.OneLine(data.Value))
			return ev, nil
		}
	}
	// Without data, or with an error, whose place is one in the whole.
	ev = Event{}
	err = json.Unmarshal(value, &ev)
	ev.Data = jsonspan.OneLine(ev.Data)
	return ev, err
}

// Spec returns the event's row of the table, or nil if its name is unknown.
// Aliases are names too.
func (ev *Event) Spec() *Spec {
	if s := Lookup(ev.Event); s != nil {
		return s
	}
	return byAlias()[string(ev.Event)]
}

// CheckEvent checks an event that a host built: a known name (an alias counts),
// a known version, valid JSON in data with the members that the event's row asks
// for. The error is a [*DecodeError] without offset.
func CheckEvent(ev *Event) error {
	if len(ev.Data) > 0 && !jsonspan.Valid(ev.Data) {
		_, err := StrictJSON(ev.Data, DecodeLimits{Size: 1 << 62, Depth: 1 << 30})
		if err == nil {
			err = errors.New("not valid JSON")
		}
		e := decodeError(err, "/data", 0)
		e.Offset = -1
		return e
	}
	return checkEvent(ev)
}

// checkEvent checks an event whose data is valid JSON.
func checkEvent(ev *Event) error {
	fail := func(path, format string, args ...any) error {
		return &DecodeError{Path: path, Offset: -1, Err: fmt.Errorf(format, args...)}
	}
	spec := ev.Spec()
	switch {
	case ev.Protocol > Version || ev.Protocol < 0:
		return fail("/protocol", "version %d is not known, this is version %d", ev.Protocol, Version)
	case ev.Event == "":
		return fail("", "member %q is missing", "event")
	case spec == nil:
		if near := nearestEvent(string(ev.Event)); near != "" {
			return fail("/event", "unknown event %q, the nearest is %q", text.Shorten(string(ev.Event), 60), near)
		}
		return fail("/event", "unknown event %q; %s", text.Shorten(string(ev.Event), 60), EventHint(string(ev.Event)))
	case len(jsonspan.Trim(ev.Data)) == 0:
		return fail("", "member %q is missing", "data")
	}
	if err := CheckData(spec, ev.Data); err != nil {
		return err
	}
	return nil
}

// atOffset adds to a DecodeError the offset of the value its path leads to.
func atOffset(root RawMessage, base int64, err error) error {
	e, ok := err.(*DecodeError)
	if !ok || e.Offset >= 0 {
		return err
	}
	located := *e
	located.Offset = base + int64(jsonspan.Offset(root, e.Path))
	return &located
}
