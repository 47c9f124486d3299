package protocol

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

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
func (ev *Event) Spec() *Spec { return byAlias[string(ev.Event)] }

// CheckEvent checks an event that a host built: a known name (an alias counts),
// a known version, valid JSON in data with the members that the event's row asks
// for. The error is a [*DecodeError] without offset.
func CheckEvent(ev *Event) error {
	if len(ev.Data) > 0 && !jsonspan.Valid(ev.Data) {
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
