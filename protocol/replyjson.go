package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// replyMembers are the members of a reply, for the nearest-name messages.
var replyMembers = []string{
	"action", "reason", "changes", "patch", "result", "response", "context",
	"notice", "messages", "callback", "state", "metadata", "id",
}

var actions = []Action{Observe, Block, Deny, Modify, Ask, Allow, Stop, Continue, Callback}

// decodeReply reads a reply from a strictly valid object. Unknown members are
// reported in warnings beside a known action, and are an error without one: an
// object that is not meant for hookd must not pass for a reply. So are members of
// another agent's replies, beside an action, too.
func decodeReply(object RawMessage) (r Reply, warnings []string, err error) {
	var unknown []string
	acted := false
	for _, m := range jsonspan.Members(object) {
		value := m.Value
		if m.Name == "action" {
			acted = true
		}
		known, err := r.set(m.Name, value)
		if err != nil {
			return Reply{}, nil, &DecodeError{Path: jsonspan.PointerToken(m.Name), Offset: int64(m.Start), Err: err}
		}
		if text := foreign(m.Name); !known && text != "" {
			return Reply{}, nil, &DecodeError{Path: jsonspan.PointerToken(m.Name), Offset: int64(m.Start), Err: errors.New(text)}
		}
		if !known {
			unknown = append(unknown, m.Name)
		}
	}
	for i, name := range unknown {
		if i == maxWarnings {
			warnings = append(warnings, fmt.Sprintf("%d more unknown members", len(unknown)-i))
			break
		}
		text := unknownMember(name)
		if !acted {
			return Reply{}, nil, &DecodeError{Offset: -1, Err: fmt.Errorf("no member \"action\" and %s", text)}
		}
		warnings = append(warnings, text)
	}
	return r, warnings, nil
}

// valid checks the raw members of a reply that was not read from JSON: hooks in
// Go write them by hand.
func (r *Reply) valid(lim DecodeLimits) error {
	lim = lim.orDefault(DefaultEventSize)
	for _, m := range []struct {
		name string
		raw  *RawMessage
	}{
		{"changes", &r.Changes}, {"patch", &r.Patch}, {"result", &r.Result}, {"response", &r.Response},
		{"messages", &r.Messages}, {"state", &r.State}, {"metadata", &r.Metadata},
	} {
		if *m.raw == nil {
			continue
		}
		value, err := strictJSON(*m.raw, lim)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		*m.raw = value
	}
	return nil
}

// set puts one member into the reply and reports whether it is known.
func (r *Reply) set(name string, value RawMessage) (known bool, err error) {
	switch name {
	case "action":
		err = r.setAction(value)
	case "reason":
		err = setText(&r.Reason, value)
	case "context":
		err = setText(&r.Context, value)
	case "notice":
		err = setText(&r.Notice, value)
	case "id":
		err = setText(&r.ID, value)
	case "changes":
		r.Changes, err = slices.Clone(value), mustBe(value, '{')
	case "patch":
		r.Patch, err = slices.Clone(value), mustBe(value, '[')
	case "result":
		r.Result, err = slices.Clone(value), mustBe(value, '{')
	case "response":
		r.Response, err = slices.Clone(value), mustBe(value, '{')
	case "messages":
		r.Messages, err = slices.Clone(value), mustBe(value, '[')
	case "callback":
		r.Callback, err = decodeCallback(value)
	case "state":
		r.State = slices.Clone(value)
	case "metadata":
		r.Metadata = slices.Clone(value)
	default:
		return false, nil
	}
	return true, err
}

func (r *Reply) setAction(value RawMessage) error {
	if jsonspan.Kind(value) != '"' {
		return fmt.Errorf("the action is %s, not a string", jsonspan.Describe(value))
	}
	word := Action(jsonspan.Text(value))
	for _, a := range actions {
		if a == word {
			r.Action = word
			if word == Deny {
				r.Action = Block
			}
			return nil
		}
	}
	var names []string
	for _, a := range actions {
		names = append(names, string(a))
	}
	return fmt.Errorf("unknown action %q, the nearest is %q", text.Shorten(string(word), 60), text.Closest(strings.ToLower(strings.TrimSpace(string(word))), names))
}

func setText(text *string, value RawMessage) error {
	if err := mustBe(value, '"'); err != nil {
		return err
	}
	*text = jsonspan.Text(value)
	return nil
}

func mustBe(value RawMessage, kind byte) error {
	if jsonspan.Kind(value) == kind {
		return nil
	}
	return fmt.Errorf("%s where %s is expected", jsonspan.Describe(value), jsonspan.KindName(RawMessage{kind}))
}

func decodeCallback(value RawMessage) (*CallbackCall, error) {
	if err := mustBe(value, '{'); err != nil {
		return nil, err
	}
	call := &CallbackCall{}
	for _, m := range jsonspan.Members(value) {
		member := m.Value
		switch m.Name {
		case "name":
			if err := setText(&call.Name, member); err != nil {
				return nil, fmt.Errorf("name: %w", err)
			}
		case "as":
			call.As = CallbackAs(jsonspan.Text(member))
			if call.As != AsMessages && call.As != AsState {
				return nil, fmt.Errorf("as: %s where \"messages\" or \"state\" is expected", jsonspan.Describe(member))
			}
		case "args":
			if err := mustBe(member, '{'); err != nil {
				return nil, fmt.Errorf("args: %w", err)
			}
			call.Args = map[string]string{}
			for _, arg := range jsonspan.Members(member) {
				text := ""
				if err := setText(&text, arg.Value); err != nil {
					return nil, fmt.Errorf("args%s: %w", jsonspan.PointerToken(arg.Name), err)
				}
				call.Args[arg.Name] = text
			}
		}
	}
	if call.Name == "" {
		return nil, fmt.Errorf("the callback has no name")
	}
	return call, nil
}
