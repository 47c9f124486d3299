package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// none is the schema of a tool that says nothing of its args.
const none = `{"type":"object","properties":{}}`

// longestRule bounds what a description grows by.
const longestRule = 2000

// Adapt returns what providers take of a schema: its bytes, where they take
// them. An error means that no args can fit it, or that what it means would be
// lost.
func Adapt(schema json.RawMessage) (Sent, error) {
	schema = bytes.TrimSpace(schema)
	switch jsonspan.Kind(schema) {
	case 0, 'n', 't': // args are always an object
		if len(schema) > 0 && !isJSON(schema) {
			return Sent{}, errors.New("its schema is no JSON")
		}
		return Sent{Schema: json.RawMessage(none)}, nil
	case 'f':
		return Sent{}, errors.New("its schema takes no args at all (false)")
	case '{':
	default:
		return Sent{}, errors.New("its schema is neither an object nor true")
	}
	if !isJSON(schema) {
		return Sent{}, errors.New("its schema cannot be read: it is no JSON")
	}
	o := jsonspan.ReadMemberList(schema)
	a := adapter{root: o}
	flat, err := a.flatten(o, 0, true)
	if err != nil {
		return Sent{}, err
	}
	if err := a.checkReferences(flat); err != nil {
		return Sent{}, err
	}
	out := repair(flat.JSON(), 0)
	if bytes.Equal(out, o.JSON()) {
		out = schema
	}
	return Sent{Schema: out, Rule: a.rule()}, nil
}

type adapter struct {
	root jsonspan.MemberList
	left jsonspan.MemberList // members of the top that were left out
	work int                 // schemas looked at
}

var errTooMuch = errors.New("its schema refers to itself without end, or is too large")

// alternatives are the members that providers refuse at the top.
var alternatives = []string{"allOf", "anyOf", "oneOf", "not", "enum", "const"}

// deepest bounds references and alternatives inside each other, most all of them
// together.
const (
	deepest = 16
	most    = 1000
)

// flatten makes an object schema of what may be a reference, a list of types or
// alternatives. It allows all that the schema allows, and often more. At the top
// it keeps what it leaves out.
func (a *adapter) flatten(o jsonspan.MemberList, depth int, top bool) (jsonspan.MemberList, error) {
	if a.work++; depth > deepest || a.work > most {
		return nil, errTooMuch
	}
	o = slices.Clone(o)
	if ref := o.Get("$ref"); ref != nil {
		target, err := a.resolve(jsonspan.Text(ref))
		if err != nil {
			return nil, err
		}
		o.Remove("$ref")
		if target, err = a.flatten(target, depth+1, top); err != nil {
			return nil, err
		}
		o = join(o, []jsonspan.MemberList{target}, "allOf")
		for _, m := range target {
			if o.Get(m.Name) == nil {
				o.Set(m.Name, m.Value)
			}
		}
	}
	if err := setType(&o); err != nil {
		return nil, err
	}
	for _, name := range alternatives {
		value := o.Get(name)
		if value == nil {
			continue
		}
		o.Remove(name)
		if top {
			a.left.Set(name, value)
		}
		if jsonspan.Kind(value) != '[' || !strings.HasSuffix(name, "Of") {
			continue // it allows less, never more
		}
		flat, err := a.branches(jsonspan.Elements(value), name, depth)
		if err != nil {
			return nil, err
		}
		o = join(o, flat, name)
	}
	if jsonspan.Kind(o.Get("properties")) != '{' {
		o.Set("properties", json.RawMessage(`{}`))
	}
	if jsonspan.Kind(o.Get("required")) == 'n' {
		o.Remove("required")
	}
	return o, nil
}

// setType says that args are an object, which they always are.
func setType(o *jsonspan.MemberList) error {
	kind := o.Get("type")
	switch {
	case kind == nil, jsonspan.Kind(kind) == 'n':
	case jsonspan.Text(kind) == "object":
		return nil
	case slices.Contains(texts(kind), "object"):
	default:
		return fmt.Errorf("its schema wants %s, and args are always an object", kind)
	}
	if kind == nil {
		*o = append(jsonspan.MemberList{{Name: "type", Value: json.RawMessage(`"object"`)}}, *o...)
		return nil
	}
	o.Set("type", json.RawMessage(`"object"`))
	return nil
}

// branches are the alternatives that an object can fit.
func (a *adapter) branches(values []json.RawMessage, name string, depth int) (flat []jsonspan.MemberList, err error) {
	for _, value := range values {
		one, err := a.flatten(jsonspan.ReadMemberList(value), depth+1, false)
		if jsonspan.Kind(value) == 'f' {
			err = errors.New("its schema takes no args at all (false)")
		}
		switch {
		case err == nil:
			flat = append(flat, one)
		case name == "allOf", errors.Is(err, errTooMuch):
			return nil, err
		}
	}
	if len(flat) == 0 && len(values) > 0 {
		return nil, fmt.Errorf("its schema has no alternative in %s that is an object", name)
	}
	return flat, nil
}

// join gives an object the properties of the branches, and asks for those that
// all ask for; of allOf, that any asks for.
func join(o jsonspan.MemberList, branches []jsonspan.MemberList, name string) jsonspan.MemberList {
	properties := propertiesOf(o)
	var common []string
	seen := map[string][]json.RawMessage{}
	for i, branch := range branches {
		for _, p := range propertiesOf(branch) {
			if !slices.ContainsFunc(seen[p.Name], func(v json.RawMessage) bool { return bytes.Equal(v, p.Value) }) {
				seen[p.Name] = append(seen[p.Name], p.Value)
			}
			if properties.Get(p.Name) == nil {
				properties.Set(p.Name, json.RawMessage(`{}`))
			}
		}
		wants := texts(branch.Get("required"))
		switch {
		case name == "allOf":
			common = append(common, wants...)
		case i == 0:
			common = wants
		default:
			common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(wants, n) })
		}
	}
	own := propertiesOf(o)
	for i, p := range properties {
		values := seen[p.Name]
		switch {
		case own.Get(p.Name) != nil || len(values) == 0: // the object's own stands
		case len(values) == 1:
			properties[i].Value = values[0]
		default:
			if name == "oneOf" {
				name = "anyOf" // what fits two of them fits one at its own place
			}
			properties[i].Value = jsonspan.MemberList{{Name: name, Value: jsonspan.JoinList(values)}}.JSON()
		}
	}
	o.Set("properties", properties.JSON())
	required := texts(o.Get("required"))
	for _, n := range common {
		if !slices.Contains(required, n) {
			required = append(required, n)
		}
	}
	if len(required) > 0 {
		o.Set("required", listOf(required))
	}
	return o
}

// resolve finds what a reference inside the schema names.
func (a *adapter) resolve(ref string) (jsonspan.MemberList, error) {
	path, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil, fmt.Errorf("its schema is at %q, which is not in it", ref)
	}
	o := a.root
	for _, part := range strings.Split(path, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		value := o.Get(part)
		if jsonspan.Kind(value) != '{' {
			return nil, fmt.Errorf("its schema is at %q, which is not in it", ref)
		}
		o = jsonspan.ReadMemberList(value)
	}
	return o, nil
}

// checkReferences refuses a schema in which something refers to a part that was
// left out.
func (a *adapter) checkReferences(flat jsonspan.MemberList) error {
	text := string(flat.JSON())
	for _, m := range a.left {
		if strings.Contains(text, `"#/`+m.Name+`/`) {
			return fmt.Errorf("its schema refers to parts of %s, which providers do not take at the top", m.Name)
		}
	}
	return nil
}

// rule is what a model is told of what was left out.
func (a *adapter) rule() string {
	if len(a.left) == 0 {
		return ""
	}
	left := a.left.JSON()
	if (*jsontext.Value)(&left).Compact(lenient) != nil || len(left) > longestRule {
		return "The args must also fit a rule that is checked when the tool is called."
	}
	return "The args must also fit this JSON Schema: " + string(left)
}
