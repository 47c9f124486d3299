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
	o := jsonspan.ReadMemberList(schema)
	before := o.JSON()
	for _, name := range named {
		if value := o.Get(name); jsonspan.Kind(value) == '{' {
			inner := jsonspan.ReadMemberList(value)
			for i := range inner {
				if inner[i].Value = repair(inner[i].Value, depth+1); jsonspan.Kind(inner[i].Value) == 't' {
					inner[i].Value = json.RawMessage(`{}`) // the same, as an object
				}
			}
			replace(&o, name, inner.JSON())
		}
	}
	for _, name := range many {
		if value := o.Get(name); jsonspan.Kind(value) == '[' {
			inner := jsonspan.Elements(value)
			for i := range inner {
				inner[i] = repair(inner[i], depth+1)
			}
			replace(&o, name, jsonspan.JoinList(inner))
		}
	}
	for _, name := range single {
		if value := o.Get(name); jsonspan.Kind(value) == '{' {
			replace(&o, name, repair(value, depth+1))
		}
	}
	tuple(&o)
	exclusive(&o, "minimum", "exclusiveMinimum")
	exclusive(&o, "maximum", "exclusiveMaximum")
	isArray := jsonspan.Text(o.Get("type")) == "array"
	for _, kind := range texts(o.Get("type")) {
		isArray = isArray || kind == "array"
	}
	if isArray && (o.Get("items") == nil || jsonspan.Kind(o.Get("items")) == 't') {
		o.Set("items", json.RawMessage(`{}`))
	}
	if after := o.JSON(); !bytes.Equal(before, after) {
		return after
	}
	return schema
}

// replace puts a value in place of another, unless only blanks differ.
func replace(o *jsonspan.MemberList, name string, value json.RawMessage) {
	old := slices.Clone(o.Get(name))
	fresh := slices.Clone(value)
	if (*jsontext.Value)(&old).Compact(lenient) == nil && (*jsontext.Value)(&fresh).Compact(lenient) == nil && bytes.Equal(old, fresh) {
		return
	}
	o.Set(name, value)
}

// tuple writes a list of items as the present draft does.
func tuple(o *jsonspan.MemberList) {
	if jsonspan.Kind(o.Get("items")) != '[' {
		return
	}
	o.Set("prefixItems", o.Get("items"))
	o.Remove("items")
	if more := o.Get("additionalItems"); more != nil {
		o.Set("items", more)
		o.Remove("additionalItems")
	}
}

// exclusive writes a limit of draft 4 as the present draft does.
func exclusive(o *jsonspan.MemberList, limit, name string) {
	switch jsonspan.Kind(o.Get(name)) {
	case 't':
		if value := o.Get(limit); jsonspan.Kind(value) == '0' {
			o.Set(name, value)
			o.Remove(limit)
			return
		}
		o.Remove(name)
	case 'f':
		o.Remove(name)
	}
}
