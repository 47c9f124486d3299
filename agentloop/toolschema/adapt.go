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

// Sent is how a tool is offered to a provider.
type Sent struct {
	Schema json.RawMessage
	// Rule is what the schema leaves out: text for the description, so that the
	// model knows it. "": nothing.
	Rule string
}

// Describe is a tool's description with the rule after it.
func (s Sent) Describe(description string) string {
	return strings.TrimLeft(strings.TrimRight(description+"\n\n"+s.Rule, "\n"), "\n")
}

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
		if len(schema) > 0 && !jsontext.Value(schema).IsValid(lenient, jsontext.AllowDuplicateNames(true)) {
			return Sent{}, errors.New("its schema is no JSON")
		}
		return Sent{Schema: json.RawMessage(none)}, nil
	case 'f':
		return Sent{}, errors.New("its schema takes no args at all (false)")
	case '{':
	default:
		return Sent{}, errors.New("its schema is neither an object nor true")
	}
	o, err := read(schema)
	if err != nil {
		return Sent{}, fmt.Errorf("its schema cannot be read: %w", err)
	}
	a := adapter{root: o}
	flat, err := a.flatten(o, 0, true)
	if err != nil {
		return Sent{}, err
	}
	if err := a.checkReferences(flat); err != nil {
		return Sent{}, err
	}
	out := repair(flat.json(), 0)
	if bytes.Equal(out, o.json()) {
		out = schema
	}
	return Sent{Schema: out, Rule: a.rule()}, nil
}

type adapter struct {
	root object
	left object // members of the top that were left out
	work int    // schemas looked at
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
func (a *adapter) flatten(o object, depth int, top bool) (object, error) {
	if a.work++; depth > deepest || a.work > most {
		return nil, errTooMuch
	}
	o = slices.Clone(o)
	if ref := o.get("$ref"); ref != nil {
		target, err := a.resolve(text(ref))
		if err != nil {
			return nil, err
		}
		o.remove("$ref")
		if target, err = a.flatten(target, depth+1, top); err != nil {
			return nil, err
		}
		if o, err = a.join(o, []object{target}, "allOf"); err != nil {
			return nil, err
		}
		for _, m := range target {
			if o.get(m.name) == nil {
				o.set(m.name, m.value)
			}
		}
	}
	if err := setType(&o); err != nil {
		return nil, err
	}
	for _, name := range alternatives {
		value := o.get(name)
		if value == nil {
			continue
		}
		o.remove(name)
		if top {
			a.left.set(name, value)
		}
		branches, is := items(value)
		if !is || !strings.HasSuffix(name, "Of") {
			continue // it allows less, never more
		}
		flat, err := a.branches(branches, name, depth)
		if err != nil {
			return nil, err
		}
		if o, err = a.join(o, flat, name); err != nil {
			return nil, err
		}
	}
	if jsonspan.Kind(o.get("properties")) != '{' {
		o.set("properties", json.RawMessage(`{}`))
	}
	if jsonspan.Kind(o.get("required")) == 'n' {
		o.remove("required")
	}
	return o, nil
}

// setType says that args are an object, which they always are.
func setType(o *object) error {
	kind := o.get("type")
	switch {
	case kind == nil, jsonspan.Kind(kind) == 'n':
	case text(kind) == "object":
		return nil
	case slices.Contains(texts(kind), "object"):
	default:
		return fmt.Errorf("its schema wants %s, and args are always an object", kind)
	}
	if kind == nil {
		*o = append(object{{"type", json.RawMessage(`"object"`)}}, *o...)
		return nil
	}
	o.set("type", json.RawMessage(`"object"`))
	return nil
}

// branches are the alternatives that an object can fit.
func (a *adapter) branches(values []json.RawMessage, name string, depth int) (flat []object, err error) {
	for _, value := range values {
		branch := object{}
		if jsonspan.Kind(value) == '{' {
			if branch, err = read(value); err != nil {
				return nil, fmt.Errorf("its schema cannot be read: %w", err)
			}
		}
		one, err := a.flatten(branch, depth+1, false)
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
func (a *adapter) join(o object, branches []object, name string) (object, error) {
	properties, err := propertiesOf(o)
	if err != nil {
		return nil, err
	}
	var common []string
	seen := map[string][]json.RawMessage{}
	for i, branch := range branches {
		more, err := propertiesOf(branch)
		if err != nil {
			return nil, err
		}
		for _, p := range more {
			if !slices.ContainsFunc(seen[p.name], func(v json.RawMessage) bool { return bytes.Equal(v, p.value) }) {
				seen[p.name] = append(seen[p.name], p.value)
			}
			if properties.get(p.name) == nil {
				properties.set(p.name, json.RawMessage(`{}`))
			}
		}
		wants := texts(branch.get("required"))
		switch {
		case name == "allOf":
			common = append(common, wants...)
		case i == 0:
			common = wants
		default:
			common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(wants, n) })
		}
	}
	own, _ := propertiesOf(o)
	for i, p := range properties {
		values := seen[p.name]
		switch {
		case own.get(p.name) != nil || len(values) == 0: // the object's own stands
		case len(values) == 1:
			properties[i].value = values[0]
		default:
			if name == "oneOf" {
				name = "anyOf" // what fits two of them fits one at its own place
			}
			properties[i].value = object{{name, list(values)}}.json()
		}
	}
	o.set("properties", properties.json())
	required := texts(o.get("required"))
	for _, n := range common {
		if !slices.Contains(required, n) {
			required = append(required, n)
		}
	}
	if len(required) > 0 {
		o.set("required", names(required))
	}
	return o, nil
}

func propertiesOf(o object) (object, error) {
	value := o.get("properties")
	if jsonspan.Kind(value) != '{' {
		return object{}, nil
	}
	p, err := read(value)
	if err != nil {
		return nil, fmt.Errorf("its schema's properties cannot be read: %w", err)
	}
	return p, nil
}

// resolve finds what a reference inside the schema names.
func (a *adapter) resolve(ref string) (object, error) {
	path, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil, fmt.Errorf("its schema is at %q, which is not in it", ref)
	}
	o := a.root
	for _, part := range strings.Split(path, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		value := o.get(part)
		if jsonspan.Kind(value) != '{' {
			return nil, fmt.Errorf("its schema is at %q, which is not in it", ref)
		}
		var err error
		if o, err = read(value); err != nil {
			return nil, fmt.Errorf("its schema cannot be read: %w", err)
		}
	}
	return o, nil
}

// checkReferences refuses a schema in which something refers to a part that was
// left out.
func (a *adapter) checkReferences(flat object) error {
	text := string(flat.json())
	for _, m := range a.left {
		if strings.Contains(text, `"#/`+m.name+`/`) {
			return fmt.Errorf("its schema refers to parts of %s, which providers do not take at the top", m.name)
		}
	}
	return nil
}

// rule is what a model is told of what was left out.
func (a *adapter) rule() string {
	if len(a.left) == 0 {
		return ""
	}
	left := a.left.json()
	if (*jsontext.Value)(&left).Compact(lenient) != nil || len(left) > longestRule {
		return "The args must also fit a rule that is checked when the tool is called."
	}
	return "The args must also fit this JSON Schema: " + string(left)
}
