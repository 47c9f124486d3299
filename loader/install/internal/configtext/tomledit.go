package configtext

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/schema/document"
)

// addTOML appends a table to the list of tables at a path, at the end of the document. A
// list of tables in the value becomes tables of its own.
func (d *Document) addTOML(path Path, value Fields) ([]byte, error) {
	text := d.Text
	nl := newline(text)
	var out strings.Builder
	renderTOML(&out, dotted(path), value, nl)
	block := out.String()
	added := bytes.Clone(text)
	switch {
	case blank(text):
	case bytes.HasSuffix(text, []byte("\n")):
		block = nl + block
	default:
		block = nl + nl + strings.TrimSuffix(block, nl)
	}
	added = append(added, block...)
	if _, err := Parse(TOML, added); err != nil {
		return nil, &Error{1, fmt.Sprintf("%s is not written as tables, [[%s]], so none can be added", path.Parent(), dotted(path))}
	}
	return added, nil
}

func dotted(path Path) string {
	names := make([]string, len(path))
	for i, step := range path {
		names[i] = step.Name
	}
	return strings.Join(names, ".")
}

func renderTOML(out *strings.Builder, name string, fields Fields, nl string) {
	out.WriteString("[[" + name + "]]" + nl)
	for _, f := range fields {
		if list, ok := f.Value.([]any); ok {
			for _, item := range list {
				renderTOML(out, name+"."+f.Name, item.(Fields), nl)
			}
			continue
		}
		out.WriteString(f.Name + " = " + scalar(f.Value) + nl)
	}
}

// removeTOML deletes the table that is an element of the list of tables at a path, with
// the tables below it and one blank line before it.
func (d *Document) removeTOML(path Path) ([]byte, error) {
	text := d.Text
	tables, err := document.TOMLTables(text)
	if err != nil {
		return nil, &Error{1, err.Error()}
	}
	var names []string
	for _, step := range path.Parent() {
		names = append(names, step.Name)
	}
	index := -1
	for i, t := range tables {
		if !t.Array || !slices.Equal(t.Keys, names) {
			continue
		}
		if index++; index != path[len(path)-1].Index {
			continue
		}
		end := t.End
		for _, below := range tables[i+1:] {
			if len(below.Keys) <= len(names) || !slices.Equal(below.Keys[:len(names)], names) {
				break
			}
			end = below.End
		}
		return cutLines(text, t.Start, end), nil
	}
	return nil, &Error{1, fmt.Sprintf("%s is not written as a table of its own, [[%s]]", path, strings.Join(names, "."))}
}

// cutLines deletes whole lines and one blank line before them.
func cutLines(text []byte, start, end int) []byte {
	nl := newline(text)
	before := text[:start]
	if bytes.HasSuffix(before, []byte("\n"+nl)) || bytes.Equal(before, []byte(nl)) {
		before = before[:len(before)-len(nl)]
	}
	if end == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
		before = bytes.TrimSuffix(before, []byte(nl))
	}
	return slices.Concat(before, text[end:])
}
