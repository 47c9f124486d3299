package toolschema

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// The members of a schema that hold schemas: one, a list, or an object of them.
var (
	single = []string{"items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"}
	many   = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	named  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// repair writes what older drafts and careless servers write in the form that
// providers read, inside a schema: what it means stays. It returns the same
// bytes where there is nothing to do.
func repair(schema json.RawMessage, depth int) json.RawMessage {
	if jsonspan.Kind(schema) != '{' || depth > 100 {
		return schema
	}
	o, err := read(schema)
	if err != nil {
		return schema
	}
	before := o.json()
	for _, name := range named {
		if inner, err := read(o.get(name)); err == nil {
			for i := range inner {
				if inner[i].value = repair(inner[i].value, depth+1); jsonspan.Kind(inner[i].value) == 't' {
					inner[i].value = json.RawMessage(`{}`) // the same, as an object
				}
			}
			replace(&o, name, inner.json())
		}
	}
	for _, name := range many {
		if inner, is := items(o.get(name)); is {
			for i := range inner {
				inner[i] = repair(inner[i], depth+1)
			}
			replace(&o, name, list(inner))
		}
	}
	for _, name := range single {
		if value := o.get(name); jsonspan.Kind(value) == '{' {
			replace(&o, name, repair(value, depth+1))
		}
	}
	tuple(&o)
	exclusive(&o, "minimum", "exclusiveMinimum")
	exclusive(&o, "maximum", "exclusiveMaximum")
	isArray := text(o.get("type")) == "array"
	for _, kind := range texts(o.get("type")) {
		isArray = isArray || kind == "array"
	}
	if isArray && (o.get("items") == nil || jsonspan.Kind(o.get("items")) == 't') {
		o.set("items", json.RawMessage(`{}`))
	}
	if after := o.json(); !bytes.Equal(before, after) {
		return after
	}
	return schema
}

// replace puts a value in place of another, unless only blanks differ.
func replace(o *object, name string, value json.RawMessage) {
	old := slices.Clone(o.get(name))
	fresh := slices.Clone(value)
	if (*jsontext.Value)(&old).Compact(lenient) == nil && (*jsontext.Value)(&fresh).Compact(lenient) == nil && bytes.Equal(old, fresh) {
		return
	}
	o.set(name, value)
}

// tuple writes a list of items as the present draft does.
func tuple(o *object) {
	if jsonspan.Kind(o.get("items")) != '[' {
		return
	}
	o.set("prefixItems", o.get("items"))
	o.remove("items")
	if more := o.get("additionalItems"); more != nil {
		o.set("items", more)
		o.remove("additionalItems")
	}
}

// exclusive writes a limit of draft 4 as the present draft does.
func exclusive(o *object, limit, name string) {
	switch jsonspan.Kind(o.get(name)) {
	case 't':
		if value := o.get(limit); jsonspan.Kind(value) == '0' {
			o.set(name, value)
			o.remove(limit)
			return
		}
		o.remove(name)
	case 'f':
		o.remove(name)
	}
}

// Without returns an object schema without the properties whose names a provider
// does not take, and a rule that tells the model of them.
func Without(sent Sent, takes func(name string) bool) Sent {
	o, err := read(sent.Schema)
	if err != nil {
		return sent
	}
	properties, err := propertiesOf(o)
	if err != nil {
		return sent
	}
	var kept, left object
	for _, p := range properties {
		if takes(p.name) {
			kept = append(kept, p)
		} else {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return sent
	}
	o.set("properties", kept.json())
	var required []string
	for _, name := range texts(o.get("required")) {
		if takes(name) {
			required = append(required, name)
		}
	}
	if o.get("required") != nil {
		o.set("required", names(required))
	}
	if jsonspan.Kind(o.get("additionalProperties")) == 'f' {
		o.remove("additionalProperties")
	}
	rule := "It takes further args, by their names and schemas: " + string(left.json())
	if sent.Rule != "" {
		rule = sent.Rule + "\n" + rule
	}
	return Sent{Schema: o.json(), Rule: rule}
}
