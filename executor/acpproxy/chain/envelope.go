package chain

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// wrap returns a request or a notification in an envelope, a request under another id.
func wrap(m *relay.Message, id json.RawMessage, envelope string) []byte {
	inside := append(append([]byte(`{"method":`), jsonspan.Get(m.Line, "method")...), `,"params":`...)
	if m.Params == nil {
		inside = append(inside[:len(inside)-len(`,"params":`)], '}')
	} else {
		inside = append(append(inside, m.Params...), '}')
	}
	return edit(m.Line, id, jsonspan.Quote(envelope), inside)
}

// envelopeNames are the members of an envelope that have a meaning.
var envelopeNames = []string{"method", "params", "_meta"}

// unwrap returns the message that is in an envelope, under the id of the envelope. What else is
// in the envelope is for this connection only.
func unwrap(m *relay.Message) (*relay.Message, error) {
	if jsonspan.Kind(m.Params) != '{' {
		return nil, fmt.Errorf("the params of %s are no object", m.Method)
	}
	var method, params json.RawMessage
	members := jsonspan.Members(m.Params)
	for i, member := range members {
		if err := checkMember(members[:i], member); err != nil {
			return nil, err
		}
		switch member.Name {
		case "method":
			method = member.Value
		case "params":
			params = member.Value
		}
	}
	if jsonspan.Kind(method) != '"' {
		return nil, errors.New("the envelope has no method that is a text")
	}
	switch jsonspan.Kind(params) {
	case '{', '[':
	case 'n':
		params = nil
	default:
		if params != nil {
			return nil, errors.New("the params in the envelope are " + jsonspan.KindName(params) + ", not an object")
		}
	}
	line := edit(m.Line, nil, method, params)
	if params == nil {
		line = jsonspan.Without(line, "params")
	}
	inner, fault := relay.Read(line)
	switch {
	case fault != nil:
		return nil, fault
	case isChain(inner.Method):
		return nil, fmt.Errorf("the envelope has %q in it, which is between a conductor and a proxy", inner.Method)
	case inner.Method == acp.CancelRequest:
		return nil, errors.New("the envelope has $/cancel_request in it, which is about another connection")
	}
	return inner, nil
}

// checkMember returns an error where some programs read another envelope.
func checkMember(earlier []jsonspan.Member, member jsonspan.Member) error {
	if strings.ContainsRune(member.Name, 0) {
		return fmt.Errorf("the envelope has the member %q, whose name some programs take to end at the NUL", member.Name)
	}
	for _, name := range envelopeNames {
		switch {
		case member.Name == name && slices.ContainsFunc(earlier, func(o jsonspan.Member) bool { return o.Name == name }):
			return fmt.Errorf("the envelope has the member %q twice", name)
		case member.Name != name && strings.EqualFold(member.Name, name):
			return fmt.Errorf("the envelope has the member %q, which some programs take for %q", member.Name, name)
		}
	}
	return nil
}

// edit returns a message with another method and other params, and another id if there is one.
// All other bytes stay. nil params leave the message's own.
func edit(line []byte, id, method, params json.RawMessage) []byte {
	out := make([]byte, 0, len(line)+len(id)+len(method)+len(params))
	from, has := 0, false
	for _, member := range jsonspan.Members(line) {
		value := json.RawMessage(nil)
		switch member.Name {
		case "id":
			value = id
		case "method":
			value = method
		case "params":
			value, has = params, true
		}
		if value != nil {
			out = append(append(out, line[from:member.Start]...), value...)
			from = member.End()
		}
	}
	out = append(out, line[from:]...)
	if params != nil && !has {
		return jsonspan.With(out, "params", params)
	}
	return out
}
