package frontmatter

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// List is a list of names, written as YAML list or as one text with commas.
type List []string

// UnmarshalYAML makes List a [yaml.Unmarshaler].
func (l *List) UnmarshalYAML(node *yaml.Node) error {
	*l = List{}
	switch {
	case node.Kind == yaml.SequenceNode:
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode || strings.TrimSpace(item.Value) == "" {
				return fmt.Errorf("line %d: a name is expected", item.Line)
			}
			*l = append(*l, strings.TrimSpace(item.Value))
		}
	case node.Kind == yaml.ScalarNode && node.Tag == "!!null":
	case node.Kind == yaml.ScalarNode:
		for name := range strings.SplitSeq(node.Value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				*l = append(*l, name)
			}
		}
	default:
		return fmt.Errorf("line %d: a list of names is expected", node.Line)
	}
	return nil
}

// Decode reads the front matter into a struct with yaml tags, and returns the keys that the
// struct does not have. The error is an [*Error].
func (d *Document) Decode(into any) (unknown []Unknown, err error) {
	if d.head == nil {
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = &Error{d.line, fmt.Sprintf("the YAML cannot be read: %v", p)}
		}
	}()
	if err := d.head.Decode(into); err != nil {
		return nil, located(err, d.line)
	}
	return unknownKeys(d.head, reflect.TypeOf(into), ""), nil
}

// unknownKeys lists the keys of a node that a type has no field for.
func unknownKeys(node *yaml.Node, t reflect.Type, above string) []Unknown {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var list []Unknown
	switch {
	case node.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range node.Content {
			list = append(list, unknownKeys(item, t.Elem(), above)...)
		}
	case node.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			name := strings.TrimPrefix(above+"."+key.Value, ".")
			if field := fieldOf(t, key.Value); field == nil {
				list = append(list, Unknown{Key: name, Line: key.Line})
			} else {
				list = append(list, unknownKeys(node.Content[i+1], field, name)...)
			}
		}
	}
	return list
}

func fieldOf(t reflect.Type, key string) reflect.Type {
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == "" {
			name = strings.ToLower(t.Field(i).Name)
		}
		if name == key && name != "-" && !slices.Contains(strings.Split(options, ","), "inline") {
			return t.Field(i).Type
		}
	}
	return nil
}
