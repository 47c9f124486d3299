package argschema

import (
	stdjson "encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A schema may have itself, or its parts in many ways, look at the same value: a validator
// would not end, or not in this century. What a check costs is worked out before it begins.
const (
	mostCost = 10_000     // parts of a schema that look at one value
	mostWork = 10_000_000 // looks at values in one check
)

// costOf returns how many parts of a schema look at one value at most. The error says why
// that cannot be said.
func costOf(written []byte) (int, error) {
	var root any
	if err := stdjson.Unmarshal(written, &root); err != nil {
		return 0, err
	}
	c := &costs{root: root, of: map[uintptr]int{}}
	if err := c.walk(root, true); err != nil {
		return 0, err
	}
	return max(1, c.most), nil
}

// costs are those of the parts of a schema, by their maps.
type costs struct {
	root any
	of   map[uintptr]int // -1: it is being worked out
	most int
}

var (
	errBase = errors.New("parts of the schema have addresses of their own")
	errCase = errors.New("the schema writes its words in upper and lower case")
)

// words are the members that hold schemas, or their addresses. The validator reads them in
// upper and lower case alike.
var words = append([]string{
	"$id", "$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "items", "prefixItems", "additionalItems", "contains", "unevaluatedItems",
	"properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties",
}, inPlace...)

func isOdd(name string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return word != name && strings.EqualFold(word, name) })
}

// walk works out the cost of every object in the document. Those that are no schema do no
// harm.
func (c *costs) walk(node any, isRoot bool) error {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			if err := c.walk(item, false); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, is := node["$id"].(string); is && !isRoot {
			return errBase
		}
		cost, err := c.cost(node)
		if err != nil {
			return err
		}
		c.most = max(c.most, cost)
		for name, member := range node {
			if isOdd(name) {
				return errCase
			}
			if err := c.walk(member, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// inPlace are the members whose schemas look at the same value as the one that has them.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// cost is how many schemas look at the value that one looks at.
func (c *costs) cost(schema map[string]any) (int, error) {
	key := reflect.ValueOf(schema).Pointer()
	switch known := c.of[key]; {
	case known > 0:
		return known, nil
	case known < 0:
		return 0, errors.New("the schema refers to itself without end")
	}
	c.of[key] = -1
	sum := 1
	add := func(part any) error {
		one := 1
		if object, is := part.(map[string]any); is {
			var err error
			if one, err = c.cost(object); err != nil {
				return err
			}
		}
		if sum += one; sum > mostCost {
			return errors.New("more than " + strconv.Itoa(mostCost) + " parts of the schema look at the same value")
		}
		return nil
	}
	for _, name := range inPlace {
		for _, part := range partsOf(schema[name], name) {
			if err := add(part); err != nil {
				return 0, err
			}
		}
	}
	for _, name := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		address, is := schema[name].(string)
		if !is {
			continue
		}
		part, found := c.find(address)
		if !found {
			return 0, errBase
		}
		if err := add(part); err != nil {
			return 0, err
		}
	}
	c.of[key] = sum
	return sum, nil
}

// partsOf returns the schemas of a member.
func partsOf(value any, name string) (parts []any) {
	switch value := value.(type) {
	case []any:
		return value
	case map[string]any:
		if !strings.HasPrefix(name, "depend") {
			return []any{value}
		}
		for _, part := range value {
			parts = append(parts, part)
		}
	}
	return parts
}

// find returns what an address inside the document stands for.
func (c *costs) find(address string) (any, bool) {
	pointer, is := strings.CutPrefix(address, "#")
	if !is || pointer != "" && pointer[0] != '/' || strings.Contains(pointer, "%") {
		return nil, false
	}
	at := c.root
	if pointer == "" {
		return at, true
	}
	for _, name := range strings.Split(pointer[1:], "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch node := at.(type) {
		case map[string]any:
			at, is = node[name]
		case []any:
			n, err := strconv.Atoi(name)
			if is = err == nil && n >= 0 && n < len(node); is {
				at = node[n]
			}
		default:
			is = false
		}
		if !is {
			return nil, false
		}
	}
	return at, true
}

// work returns how often values are looked at in a check: each by so many parts of the
// schema for each look at the value that holds it.
func work(value any, looks, most int) int {
	sum := looks
	each := min(looks*most, mostWork+1)
	add := func(member any) {
		if sum <= mostWork {
			sum += work(member, each, most)
		}
	}
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			add(item)
		}
	case map[string]any:
		for _, member := range value {
			add(member)
		}
	}
	return sum
}
