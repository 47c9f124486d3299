package document

import (
	"bytes"
	"errors"
	"io"

	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// Place is a value of a YAML document with the place where it begins, for who edits the
// text itself.
type Place struct {
	Kind         Kind
	Flow         bool // written in brackets
	Alias        bool
	Text         string
	Line, Column int // of the value, 1-based; of a list its first dash
	Items        []*Place
	Members      []PlacedMember
}

// PlacedMember is one key of an object.
type PlacedMember struct {
	Key          string
	Line, Column int // of the key
	Value        *Place
}

// Get returns the first value of a key and where the key stands, nil if there is none.
func (p *Place) Get(key string) *PlacedMember {
	for i := range p.Members {
		if p.Members[i].Key == key {
			return &p.Members[i]
		}
	}
	return nil
}

// YAMLPlaces reads the places of a YAML text that [Parse] accepts; nil of one that holds
// nothing but comments.
func YAMLPlaces(text []byte) (*Place, error) {
	var root yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, yamlError(err)
	}
	return placeOf(root.Content[0]), nil
}

func placeOf(y *yaml.Node) *Place {
	p := &Place{Flow: y.Style&yaml.FlowStyle != 0, Text: y.Value, Line: y.Line, Column: y.Column}
	switch y.Kind {
	case yaml.AliasNode:
		p.Alias = true
	case yaml.SequenceNode:
		p.Kind = List
		for _, item := range y.Content {
			p.Items = append(p.Items, placeOf(item))
		}
	case yaml.MappingNode:
		p.Kind = Object
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i]
			p.Members = append(p.Members, PlacedMember{key.Value, key.Line, key.Column, placeOf(y.Content[i+1])})
		}
	default:
		p.Kind = yamlScalar(y, y.Line).Kind
	}
	return p
}

// Table is one table of a TOML document that has a header.
type Table struct {
	Keys  []string
	Array bool // [[name]]
	Start int  // offset of the line of the header
	End   int  // offset after the line of its last key, or of the header
}

// TOMLTables reads where the tables of a TOML text that [Parse] accepts stand.
func TOMLTables(text []byte) ([]Table, error) {
	const mark = "\xef\xbb\xbf" // of the byte order
	if rest, marked := bytes.CutPrefix(text, []byte(mark)); marked {
		tables, err := TOMLTables(rest)
		for i := range tables {
			tables[i].Start += len(mark)
			tables[i].End += len(mark)
		}
		return tables, err
	}
	parser := &unstable.Parser{}
	parser.Reset(text)
	var tables []Table
	for parser.NextExpression() {
		expression := parser.Expression()
		header := expression.Kind == unstable.Table || expression.Kind == unstable.ArrayTable
		if !header && (expression.Kind != unstable.KeyValue || len(tables) == 0) {
			continue
		}
		var names []string
		first := -1
		for keys := expression.Key(); keys.Next(); {
			names = append(names, string(keys.Node().Data))
			if first < 0 {
				first = int(keys.Node().Raw.Offset)
			}
		}
		if header {
			tables = append(tables, Table{Keys: names, Array: expression.Kind == unstable.ArrayTable, Start: lineStart(text, first), End: lineEnd(text, first)})
			continue
		}
		tables[len(tables)-1].End = lineEnd(text, max(first, lastOffset(expression.Value())))
	}
	return tables, parser.Error()
}

// lastOffset returns the last offset of a value that is known.
func lastOffset(value *unstable.Node) int {
	last := int(value.Raw.Offset + value.Raw.Length)
	if value.Raw.Length > 0 {
		last--
	}
	for children := value.Children(); children.Next(); {
		last = max(last, lastOffset(children.Node()))
	}
	return last
}

func lineStart(text []byte, offset int) int {
	return bytes.LastIndexByte(text[:offset], '\n') + 1
}

func lineEnd(text []byte, offset int) int {
	if n := bytes.IndexByte(text[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(text)
}
