package model

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/hookd-dev/hookd/internal/text"
)

// checkForm compares a value of a script with the type that it is to become, and says in
// the words of the file what does not fit: the YAML library names Go types. What a type reads
// by itself is left to it.
func checkForm(node *yaml.Node, t reflect.Type, place string, depth int) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for node.Kind == yaml.AliasNode && depth <= maxYAMLDepth {
		node, depth = node.Alias, depth+1
	}
	if depth > maxYAMLDepth || node.Tag == "!!null" || reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		return nil
	}
	wrong := func(wanted string) error {
		return fmt.Errorf("line %d: %s is %s, where %s belongs", node.Line, place, kindOf(node), wanted)
	}
	switch t.Kind() {
	case reflect.Struct:
		if node.Kind != yaml.MappingNode {
			return wrong("a mapping of keys")
		}
		return checkKeys(node, t, place, depth)
	case reflect.Slice:
		if node.Kind != yaml.SequenceNode {
			return wrong("a list")
		}
		for i, item := range node.Content {
			if err := checkForm(item, t.Elem(), fmt.Sprintf("%s[%d]", place, i), depth+1); err != nil {
				return err
			}
		}
	case reflect.String:
		if node.Kind != yaml.ScalarNode {
			return wrong("a text")
		}
	default:
		if node.Decode(reflect.New(t).Interface()) != nil {
			return wrong(wantedOf(t.Kind()))
		}
	}
	return nil
}

func wantedOf(kind reflect.Kind) string {
	switch kind {
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// checkKeys is [checkForm] for the keys of a mapping.
func checkKeys(node *yaml.Node, t reflect.Type, place string, depth int) error {
	fields := map[string]reflect.Type{}
	keysOf(t, fields)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Tag == "!!merge" {
			continue
		}
		field, known := fields[key.Value]
		if !known {
			return fmt.Errorf("line %d: there is no key %q in %s; %s", key.Line, text.Shorten(key.Value, 60), place, meant(key.Value, fields))
		}
		inner := key.Value
		if depth > 0 {
			inner = place + "." + key.Value
		}
		if err := checkForm(value, field, inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// keysOf adds the keys of a type, those of its inlined parts too.
func keysOf(t reflect.Type, keys map[string]reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			keysOf(field.Type, keys)
		case name != "":
			keys[name] = field.Type
		}
	}
}

// meant says which key may be meant, or which there are.
func meant(key string, keys map[string]reflect.Type) string {
	var names []string
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	if near := text.Nearest(key, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "the keys there are " + strings.Join(names, ", ")
}

func kindOf(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	}
	return fmt.Sprintf("%q", text.Shorten(node.Value, 60))
}

// intoType is what the YAML library says of a Go type.
var intoType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(line \d+: )cannot unmarshal .* into .*$`) })

// plainYAML returns an error of the YAML library without the names of Go types.
func plainYAML(err error) error {
	var several *yaml.TypeError
	if errors.As(err, &several) && len(several.Errors) > 0 {
		return errors.New(intoType().ReplaceAllString(several.Errors[0], "${1}this value does not belong here"))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
}
