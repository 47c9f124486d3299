package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// jsonNumber is a number as all three formats write it. YAML's other spellings
// (010, 0x1F, 1_000, .inf) would mean something else in the next file.
var jsonNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`) })

type yamlReader struct {
	nodes budget
	last  int // line of the file
	// open holds the aliases being expanded, so that one inside itself is found.
	open map[*yaml.Node]bool
}

func parseYAML(text []byte) (*Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	if err := decoder.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &SyntaxError{1, "the file holds nothing but comments"}
		}
		return nil, yamlError(err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		return nil, &SyntaxError{second.Line, "the file holds more than one document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(err)
	}
	r := &yamlReader{last: LineAt(text, len(text)), open: map[*yaml.Node]bool{}}
	return r.value(root.Content[0], root.Content[0].Line, 0)
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?(?:line (\d+): )?`) })

func yamlError(err error) error {
	text := err.Error()
	line := 1
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			line = n
		}
	}
	return &SyntaxError{line, text}
}

// value converts a node; line is where it is used, which for an alias is not
// where it was written.
func (r *yamlReader) value(y *yaml.Node, line, depth int) (*Node, error) {
	line = min(line, r.last)
	if depth > maxDepth {
		return nil, tooDeep(line)
	}
	if err := r.nodes.spend(line); err != nil {
		return nil, err
	}
	switch y.Kind {
	case yaml.AliasNode:
		if r.open[y.Alias] {
			return nil, &SyntaxError{line, fmt.Sprintf("the alias *%s contains itself", y.Value)}
		}
		r.open[y.Alias] = true
		defer delete(r.open, y.Alias)
		return r.value(y.Alias, line, depth+1)
	case yaml.SequenceNode:
		n := &Node{Kind: List, Line: line}
		for _, item := range y.Content {
			value, err := r.value(item, item.Line, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, value)
		}
		return n, nil
	case yaml.MappingNode:
		return r.object(y, line, depth)
	default:
		return yamlScalar(y, line), nil
	}
}

func (r *yamlReader) object(y *yaml.Node, line, depth int) (*Node, error) {
	n := &Node{Kind: Object, Line: line}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		name := key
		if name.Kind == yaml.AliasNode {
			name = name.Alias
		}
		if name.Kind != yaml.ScalarNode {
			return nil, &SyntaxError{key.Line, "a key must be a plain string"}
		}
		at := value.Line
		if value.Kind == yaml.ScalarNode && value.Value == "" {
			at = key.Line // an empty value is placed where the next token begins
		}
		v, err := r.value(value, at, depth+1)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{name.Value, key.Line, v})
	}
	return n, nil
}

func yamlScalar(y *yaml.Node, line int) *Node {
	n := &Node{Kind: Other, Text: y.Value, Line: line}
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Text = Null, ""
	case "!!str":
		n.Kind = String
	case "!!bool":
		if text := strings.ToLower(y.Value); text == "true" || text == "false" { // !!bool yes is none
			n.Kind, n.Text = Bool, text
		}
	case "!!int", "!!float":
		if jsonNumber().MatchString(y.Value) {
			n.Kind = Number
		}
	}
	return n
}
