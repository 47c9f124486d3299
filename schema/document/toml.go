package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

type tomlReader struct {
	parser *unstable.Parser
	lines  lines
	nodes  budget
	// index finds the members of an object that tables are added to.
	index map[*Node]map[string]*Node
}

func parseTOML(text []byte) (*Node, error) {
	r := &tomlReader{parser: &unstable.Parser{}, lines: lines{text: text}, index: map[*Node]map[string]*Node{}}
	r.parser.Reset(text)
	root, err := r.document()
	if err != nil {
		return nil, err
	}
	return root, checkTOML(text)
}

// checkTOML lets the full decoder check what the parser does not: tables and
// keys defined twice, dates and numbers out of range. It comes last because its
// time grows with the square of what the reader has bounded.
func checkTOML(text []byte) error {
	var checked map[string]any
	if err := toml.Unmarshal(text, &checked); err != nil {
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			row, _ := decode.Position()
			return &SyntaxError{max(1, row), strings.TrimPrefix(decode.Error(), "toml: ")}
		}
		return &SyntaxError{1, strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return nil
}

func (r *tomlReader) document() (*Node, error) {
	root := &Node{Kind: Object, Line: 1}
	table := root
	for r.parser.NextExpression() {
		expression := r.parser.Expression()
		var err error
		switch expression.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, err = r.table(root, expression)
		case unstable.KeyValue:
			err = r.keyValue(table, expression, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.parser.Error() == nil {
		return root, nil
	}
	// The decoder knows the line of the same error.
	if err := checkTOML(r.parser.Data()); err != nil {
		return nil, err
	}
	return nil, &SyntaxError{1, r.parser.Error().Error()}
}

// table goes to the object a [table] or [[table]] header names.
func (r *tomlReader) table(root *Node, expression *unstable.Node) (*Node, error) {
	at := root
	for depth, keys := 0, expression.Key(); keys.Next(); depth++ {
		key := keys.Node()
		line := r.line(key, at.Line)
		if depth > maxDepth {
			return nil, tooDeep(line)
		}
		appends := expression.Kind == unstable.ArrayTable && keys.IsLast()
		var err error
		if at, err = r.child(at, string(key.Data), line, appends); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// child returns the object of a key, which it makes if it is not there yet. In a list
// of tables it is the last one, or with appends a new one.
func (r *tomlReader) child(n *Node, key string, line int, appends bool) (*Node, error) {
	value := r.index[n][key]
	if value == nil {
		value = &Node{Kind: Object, Line: line}
		if appends {
			value.Kind = List
		}
		if err := r.add(n, key, line, value); err != nil {
			return nil, err
		}
	}
	if value.Kind != List {
		return value, nil
	}
	if appends || len(value.Items) == 0 {
		value.Items = append(value.Items, &Node{Kind: Object, Line: line})
	}
	return value.Items[len(value.Items)-1], r.nodes.spend(line)
}

// maxKeys bounds the keys of one object.
const maxKeys = 5000

func (r *tomlReader) add(n *Node, key string, line int, value *Node) error {
	if len(n.Members) >= maxKeys {
		return &SyntaxError{line, fmt.Sprintf("more than %d keys in one table", maxKeys)}
	}
	n.Members = append(n.Members, Member{key, line, value})
	if r.index[n] == nil {
		r.index[n] = map[string]*Node{}
	}
	r.index[n][key] = value
	return nil
}

func (r *tomlReader) keyValue(table *Node, expression *unstable.Node, depth int) error {
	keys := expression.Key()
	at, line := table, table.Line
	for keys.Next() {
		key := keys.Node()
		line = r.line(key, line)
		if depth++; depth > maxDepth {
			return tooDeep(line)
		}
		if !keys.IsLast() {
			var err error
			if at, err = r.child(at, string(key.Data), line, false); err != nil {
				return err
			}
			continue
		}
		value, err := r.value(expression.Value(), line, depth)
		if err != nil {
			return err
		}
		if err := r.add(at, string(key.Data), line, value); err != nil {
			return err
		}
	}
	return nil
}

func (r *tomlReader) line(n *unstable.Node, otherwise int) int {
	if n.Raw.Length == 0 {
		return otherwise
	}
	return r.lines.at(int(n.Raw.Offset))
}

func (r *tomlReader) value(t *unstable.Node, line, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, tooDeep(line)
	}
	if err := r.nodes.spend(line); err != nil {
		return nil, err
	}
	line = r.line(t, line)
	n := &Node{Text: string(t.Data), Line: line}
	switch t.Kind {
	case unstable.String:
		n.Kind = String
	case unstable.Bool:
		n.Kind = Bool
	case unstable.Integer:
		n.Kind, n.Text = tomlInteger(n.Text)
	case unstable.Float:
		n.Kind, n.Text = tomlFloat(n.Text)
	case unstable.Array:
		n.Kind, n.Text = List, ""
		for items := t.Children(); items.Next(); {
			if items.Node().Kind == unstable.Comment {
				continue
			}
			item, err := r.value(items.Node(), line, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case unstable.InlineTable:
		n.Kind, n.Text = Object, ""
		for pairs := t.Children(); pairs.Next(); {
			if pairs.Node().Kind == unstable.Comment {
				continue
			}
			if err := r.keyValue(n, pairs.Node(), depth+1); err != nil {
				return nil, err
			}
		}
	default:
		n.Kind = Other // a date or a time
	}
	return n, nil
}

// tomlInteger turns TOML's spellings (1_000, +5, 0x1F) into the plain one.
func tomlInteger(text string) (Kind, string) {
	i, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 0, 64)
	if err != nil {
		return Other, text
	}
	return Number, strconv.FormatInt(i, 10)
}

func tomlFloat(text string) (Kind, string) {
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	if !jsonNumber().MatchString(plain) {
		return Other, text // inf, nan
	}
	return Number, plain
}
