package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeEvent reads one event as a host sends it: an object with at least event
// and data. Every error is a [*DecodeError].
//
// The event's name may be an alias of the table; it is replaced by ours. Members
// that this version does not know are kept and passed on. The per-hook members
// (layer, outcome, state, metadata) are not a host's to set: they are read over.
// The result owns its bytes: line may be reused.
func DecodeEvent(line []byte, lim DecodeLimits) (Event, error) {
	value, cut, found, err := cleanJSON(line, lim.orDefault(DefaultEventSize))
	if err != nil {
		return Event{}, err
	}
	switch kindOf(value) {
	case '{':
	case 0:
		return Event{}, &DecodeError{Offset: int64(len(line)), Err: errors.New("no JSON value")}
	default:
		return Event{}, &DecodeError{Offset: cut, Err: fmt.Errorf("the event is %s, not an object", kindName(value))}
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
func unmarshalEvent(value RawMessage, found scanned) (ev Event, err error) {
	i := slices.IndexFunc(found.members, func(m member) bool { return m.name == "data" })
	if i >= 0 {
		data := found.members[i]
		envelope := slices.Concat(value[:data.start], RawMessage("null"), value[data.end:])
		if err = json.Unmarshal(envelope, &ev); err == nil {
			ev.Data = slices.Clone(compactLines(value[data.start:data.end]))
			return ev, nil
		}
	}
	// Without data, or with an error, whose place is one in the whole.
	ev = Event{}
	err = json.Unmarshal(value, &ev)
	ev.Data = compactLines(ev.Data)
	return ev, err
}

// Spec returns the event's row of the table, or nil if its name is unknown.
// Aliases are names too.
func (ev *Event) Spec() *Spec { return byAlias[string(ev.Event)] }

// CheckEvent checks an event that a host built: a known name (an alias counts),
// a known version, valid JSON in data with the members that the event's row asks
// for. The error is a [*DecodeError] without offset.
func CheckEvent(ev *Event) error {
	if len(ev.Data) > 0 && !Valid(ev.Data) {
		_, err := strictJSON(ev.Data, DecodeLimits{Size: 1 << 62, Depth: 1 << 30})
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
			return fail("/event", "unknown event %q, the nearest is %q", shorten(string(ev.Event), 60), near)
		}
		return fail("/event", "unknown event %q; %s", shorten(string(ev.Event), 60), EventHint(string(ev.Event)))
	case len(trimmed(ev.Data)) == 0:
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
	located.Offset = base + int64(offsetOf(root, e.Path))
	return &located
}

// offsetOf returns where in root the value at path begins, or as much of the
// path as exists.
func offsetOf(root RawMessage, path string) int {
	at, value := 0, root
	for token := range jsontext.Pointer(path).Tokens() {
		next := -1
		var end int
		switch kindOf(value) {
		case '{':
			for _, m := range members(value) {
				if m.name == token {
					next, end = m.start, m.end
				}
			}
		case '[':
			for i, e := range elements(value) {
				if fmt.Sprint(i) == token {
					next, end = e.start, e.end
				}
			}
		}
		if next < 0 {
			break
		}
		at, value = at+next, value[next:end]
	}
	return at
}

// compactLines removes the blanks between tokens if the value spans lines: an
// event is one line on every wire. Names, strings and numbers keep their bytes.
func compactLines(v RawMessage) RawMessage {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return v
	}
	compact := make(RawMessage, 0, len(v))
	for i := 0; i < len(v); {
		switch c := v[i]; c {
		case '"':
			end := stringEnd(v, i)
			compact = append(compact, v[i:end]...)
			i = end
		case ' ', '\t', '\n', '\r':
			i++
		default:
			compact = append(compact, c)
			i++
		}
	}
	return compact
}
