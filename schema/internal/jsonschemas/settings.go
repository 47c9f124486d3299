package jsonschemas

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/units"
)

// duration is a span of time: a string with a unit, or seconds.
func duration() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$`, Examples: []any{"500ms", "30s", "2m"}},
		{Type: "number", Minimum: number(0), Description: "seconds"},
	}}
}

// size is a number of bytes, bare or with a unit.
func size() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: number(0), Description: "bytes"},
		{Type: "string", Pattern: `^[0-9]+(B|KiB|MiB|GiB)?$`, Examples: []any{"64KiB", "1MiB"}},
	}}
}

// events is a list of names or aliases, or * for all gates and points.
func events() *jsonschema.Schema {
	var names []string
	for i := range protocol.Table {
		names = append(names, string(protocol.Table[i].Name))
		for _, a := range protocol.Table[i].Aliases {
			names = append(names, a.Name)
		}
	}
	one := 1
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		is(schema.AllEvents),
		{Type: "array", MinItems: &one, Items: &jsonschema.Schema{Enum: words(append(names, schema.AllEvents)...)}},
	}}
}

// entry is one description of a hook with the fields that a source may set, by
// its letter in the tag from.
func entry(source string) (*jsonschema.Schema, error) {
	s := shapes{refs: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[units.Duration](): duration(),
		reflect.TypeFor[schema.Events]():  events(),
		reflect.TypeFor[schema.Tests]():   testList(),
		reflect.TypeFor[schema.CommandLine](): {AnyOf: []*jsonschema.Schema{
			{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		}},
		reflect.TypeFor[schema.OneOrMany](): {AnyOf: []*jsonschema.Schema{
			{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		}},
	}}
	t := reflect.TypeFor[schema.Entry]()
	root, err := s.of(t)
	if err != nil {
		return nil, err
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(f.Tag.Get("from"), source) {
			delete(root.Properties, name)
		}
	}
	s.tidy(root)
	constrain(root, t)
	return root, nil
}

// constrain adds the bounds that the validate tags hold, and takes away the null
// that the pointers of the Go types would allow.
func constrain(object *jsonschema.Schema, t reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := object.Properties[name]
		if p == nil {
			continue
		}
		switch {
		case len(p.Types) == 2 && p.Types[0] == "null":
			p.Type, p.Types = p.Types[1], nil
		case p.Type == "null" || len(p.Types) == 1 && p.Types[0] == "null": // beside anyOf
			p.Type, p.Types = "", nil
		}
		if inner := f.Type; inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct {
			constrain(p, inner.Elem())
		}
		checks, _, _ := strings.Cut(f.Tag.Get("validate"), ",dive")
		for check := range strings.SplitSeq(checks, ",") {
			key, value, _ := strings.Cut(check, "=")
			bound(p, key, value)
		}
	}
}

// bound adds one check of a validate tag, where a schema can say it.
func bound(p *jsonschema.Schema, key, value string) {
	if key == "oneof" {
		p.Enum = words(strings.Fields(value)...)
		return
	}
	n, err := strconv.Atoi(value)
	if err != nil || key != "min" && key != "max" {
		return
	}
	low, high := map[string]**int{}, map[string]**int{}
	low["string"], high["string"] = &p.MinLength, &p.MaxLength
	low["array"], high["array"] = &p.MinItems, &p.MaxItems
	switch limits := map[string]map[string]**int{"min": low, "max": high}[key]; {
	case limits[p.Type] != nil:
		*limits[p.Type] = &n
	case p.Type == "integer" && key == "min":
		p.Minimum = number(float64(n))
	case p.Type == "integer":
		p.Maximum = number(float64(n))
	}
}

func description(source, title string) (*jsonschema.Schema, error) {
	root, err := entry(source)
	if err != nil {
		return nil, err
	}
	root.Title = "hookd hook"
	root.Description = title
	return root, nil
}

// settings is made from the table of settings. Members besides hooks and agent
// belong to other programs.
func settings() (*jsonschema.Schema, error) {
	root := &jsonschema.Schema{
		Title:       "hookd settings",
		Description: "acai.json, acai.yaml or acai.toml of one layer; other programs may have members besides hooks and agent",
		Type:        "object",
	}
	for i := range schema.Keys {
		k := &schema.Keys[i]
		value, err := setting(k)
		if err != nil {
			return nil, err
		}
		value.Description = k.Meaning + " (layers: " + string(k.Layers) + "; binds " + string(k.For) + ")"
		parts := strings.Split(k.Name, ".")
		at := root
		for _, part := range parts[:len(parts)-1] {
			if at.Properties[part] == nil {
				member(at, part, &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}})
			}
			at = at.Properties[part]
		}
		member(at, parts[len(parts)-1], value)
	}
	return root, nil
}

func member(object *jsonschema.Schema, name string, value *jsonschema.Schema) {
	if object.Properties == nil {
		object.Properties = map[string]*jsonschema.Schema{}
	}
	object.Properties[name] = value
	object.PropertyOrder = append(object.PropertyOrder, name)
}

// setting is the schema of one row of the table.
func setting(k *schema.Key) (*jsonschema.Schema, error) {
	value := &jsonschema.Schema{}
	switch k.Type {
	case schema.TypeBool:
		value.Type = "boolean"
	case schema.TypeInt:
		value.Type = "integer"
	case schema.TypeShare, schema.TypeMoney:
		value.Type = "number"
	case schema.TypeDuration:
		value = duration()
	case schema.TypeSize:
		value = size()
	case schema.TypeText:
		value.Type = "string"
	case schema.TypeWord:
		value.Enum = words(k.Words...)
	case schema.TypeList:
		value.Type = "array"
		value.Items = &jsonschema.Schema{Type: "string"}
		if len(k.Words) > 0 {
			value.Items = &jsonschema.Schema{Enum: words(k.Words...)}
		}
	case schema.TypeEntries:
		item, err := entry("S")
		if err != nil {
			return nil, err
		}
		item.Required = []string{"name"}
		value.Type, value.Items = "array", item
	case schema.TypePrices:
		item, err := (&shapes{}).of(reflect.TypeFor[schema.Price]())
		if err != nil {
			return nil, err
		}
		constrain(item, reflect.TypeFor[schema.Price]())
		value.Type, value.Items = "array", item
	case schema.TypeFolders:
		item, err := (&shapes{}).of(reflect.TypeFor[schema.TrustedFolder]())
		if err != nil {
			return nil, err
		}
		constrain(item, reflect.TypeFor[schema.TrustedFolder]())
		value.Type, value.Items = "array", item
	case schema.TypeServers:
		server, err := (&shapes{open: true}).of(reflect.TypeFor[schema.MCPServer]())
		if err != nil {
			return nil, err
		}
		constrain(server, reflect.TypeFor[schema.MCPServer]())
		value.Type, value.AdditionalProperties = "object", server
	}
	value.Minimum, value.Maximum = limit(k.Min), limit(k.Max)
	if value.Type != "integer" && value.Type != "number" {
		value.Minimum, value.Maximum = nil, nil
	}
	return value, defaultOf(value, k)
}

func limit(bound any) *float64 {
	switch v := bound.(type) {
	case int64:
		return number(float64(v))
	case float64:
		return number(v)
	}
	return nil
}

// defaultOf adds a row's default, in the form in which settings write it.
func defaultOf(value *jsonschema.Schema, k *schema.Key) (err error) {
	if k.Default == nil {
		return nil
	}
	written := k.Default
	switch v := written.(type) {
	case time.Duration:
		written = units.FormatDuration(v)
	case int64:
		if k.Type == schema.TypeSize {
			written = units.FormatSize(v)
		}
	}
	value.Default, err = json.Marshal(written)
	return err
}
