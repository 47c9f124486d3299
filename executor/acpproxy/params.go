package acpproxy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/fsutil"
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

// folder is one that a session works in.
type folder struct {
	given string
	real  string // without links; as given where it is not there
}

// folders are all that a session works in, its working directory first.
type folders []folder

func (f folders) cwd() string { return f[0].given }

func (f folders) given() (paths []string) {
	for _, one := range f {
		paths = append(paths, one.given)
	}
	return paths
}

func (f folders) real() (paths []string) {
	for _, one := range f {
		paths = append(paths, one.real)
	}
	return paths
}

// hold reports whether hooks that judge what is done in these folders judge it in others, too.
func (f folders) hold(others folders) bool {
	for _, other := range others {
		if !slices.ContainsFunc(f, func(one folder) bool { return one.real == other.real }) {
			return false
		}
	}
	return f[0].real == others[0].real
}

// folders reads the folders that a session is to work in, nil if the request names none.
func (p *params) folders() (all folders, err error) {
	cwd, others := p.get("cwd"), p.get("additionalDirectories")
	if !isNothing(others) && jsonspan.Kind(others) != '[' {
		return nil, errors.New("additionalDirectories is " + jsonspan.KindName(others) + ", not a list")
	}
	if isNothing(cwd) {
		if !isNothing(others) {
			return nil, errors.New("the request has additionalDirectories, and no cwd")
		}
		return nil, nil
	}
	for i, path := range append([]protocol.RawMessage{cwd}, jsonspan.Elements(others)...) {
		name := "cwd"
		if i > 0 {
			name = "a folder of additionalDirectories"
		}
		if jsonspan.Kind(path) != '"' {
			return nil, fmt.Errorf("%s is %s, not a text", name, jsonspan.KindName(path))
		}
		clean, real, err := fsutil.Folder(jsonspan.Text(path))
		if err != nil {
			return nil, fmt.Errorf("%s is %s: %w", name, path, err)
		}
		all = append(all, folder{clean, real})
	}
	return all, nil
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

// option is an answer that a request for permission offers.
type option struct{ id, name, kind string }

// optionsOf reads the options. Those of which an answer could mean one or another are an
// error: a refusal might be read as a permission.
func optionsOf(list protocol.RawMessage) (options []option, err error) {
	for _, item := range jsonspan.Elements(list) {
		if err := unambiguous(item, []string{"optionId", "name", "kind"}); err != nil {
			return nil, err
		}
		id := jsonspan.Get(item, "optionId")
		if jsonspan.Kind(id) != '"' {
			return nil, errors.New("an option of the request for permission has no id")
		}
		o := option{id: jsonspan.Text(id), name: jsonspan.Text(jsonspan.Get(item, "name")), kind: jsonspan.Text(jsonspan.Get(item, "kind"))}
		if slices.ContainsFunc(options, func(other option) bool { return other.id == o.id }) {
			return nil, fmt.Errorf("two options of the request for permission have the id %q", o.id)
		}
		options = append(options, o)
	}
	return options, nil
}

// ourKind is the kind of an option in our words, or its own where we have none.
func (o option) ourKind() string { return cmp.Or(optionKinds[o.kind], o.kind) }

var optionKinds = map[string]string{"allow_once": "allow-once", "allow_always": "allow-always", "reject_once": "reject-once", "reject_always": "reject-always"}

// choose returns the first option of the first of some kinds that is offered.
func choose(options []option, kinds ...string) (option, bool) {
	for _, kind := range kinds {
		if at := slices.IndexFunc(options, func(o option) bool { return o.kind == kind }); at >= 0 {
			return options[at], true
		}
	}
	return option{}, false
}
