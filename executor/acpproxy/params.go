package acpproxy

import (
	"errors"
	"slices"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// params are the params of a request that is judged.
type params struct {
	raw    protocol.RawMessage
	strict bool // the bytes of the line are those of raw
}

func (p *params) get(member string) protocol.RawMessage { return jsonspan.Get(p.raw, member) }

func (p *params) text(member string) string { return jsonspan.Text(p.get(member)) }

// line returns the message as it was judged: as it came, where there is one way to read it.
func (p *params) line(m *relay.Message) []byte {
	if p.strict {
		return m.Line
	}
	return m.With("params", p.raw)
}

// readParams reads the params of a request that is judged by the members that are known. What
// hooks and the one who gets the request could read in two ways is an error.
func readParams(m *relay.Message, known ...string) (*params, error) {
	p := &params{raw: m.Params, strict: m.Strict}
	if !m.Strict {
		p.raw = jsonspan.ReplaceLoneSurrogates(slices.Clone(m.Params))
		if !jsonspan.Valid(p.raw) {
			return nil, errors.New("the request has a member twice, or text that is not valid UTF-8: hooks and the one who reads it could take it for two different things")
		}
	}
	if jsonspan.Kind(p.raw) != '{' {
		return nil, errors.New("the request has no params")
	}
	if err := unambiguous(p.raw, known); err != nil {
		return nil, err
	}
	return p, nil
}

// unambiguous returns an error where an object has a member that some programs take for one
// of those that are known.
func unambiguous(object protocol.RawMessage, known []string) error {
	if member := proxied.Misread(object, known...); member != "" {
		return errors.New("the request has " + member)
	}
	return nil
}

// object writes members as an object. Each value is JSON.
func object(members ...member) protocol.RawMessage {
	out := jsonspan.MemberList{}
	for _, m := range members {
		if m.value != nil {
			out.Set(m.name, m.value)
		}
	}
	return out.JSON()
}

type member struct {
	name  string
	value protocol.RawMessage
}

func texts(name, value string) member { return member{name, jsonspan.Quote(value)} }

// isNothing reports whether a member says nothing: it is absent or null.
func isNothing(value protocol.RawMessage) bool { return value == nil || jsonspan.IsNull(value) }
