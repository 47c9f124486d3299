package configtext

import (
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Fields is an object with its members in the order in which they are written. A value
// is a string, an int, a bool, Fields, or a list []any of these.
type Fields []Field

// Field is one member of [Fields].
type Field struct {
	Name  string
	Value any
}

// layout is how a value is written: on one line where newline is empty.
type layout struct {
	newline string
	indent  string // of the line on which the value begins
	unit    string // one more level
}

func (l layout) deeper() layout {
	l.indent += l.unit
	return l
}

// renderJSON writes a value as JSON.
func renderJSON(value any, l layout) string {
	switch v := value.(type) {
	case Fields:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = string(jsonspan.Quote(f.Name)) + ": " + renderJSON(f.Value, l.deeper())
		}
		return l.enclose("{", "}", parts)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = renderJSON(item, l.deeper())
		}
		return l.enclose("[", "]", parts)
	}
	return scalar(value)
}

func (l layout) enclose(open, closing string, parts []string) string {
	switch {
	case len(parts) == 0:
		return open + closing
	case l.newline == "":
		return open + strings.Join(parts, ", ") + closing
	}
	inner := l.newline + l.indent + l.unit
	return open + inner + strings.Join(parts, ","+inner) + l.newline + l.indent + closing
}

// scalar writes a string, a number or a boolean as JSON does, which YAML and TOML read
// the same way: a quoted string has no escape in it that they do not know.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return string(jsonspan.Quote(v))
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	panic("configtext: a value that no file can hold")
}

// renderYAMLItem writes an element of a list: the first member stands after the dash.
func renderYAMLItem(out *strings.Builder, fields Fields, indent, newline string) {
	for i, f := range fields {
		lead := indent + "  "
		if i == 0 {
			lead = indent + "- "
		}
		out.WriteString(lead + f.Name + ": " + scalar(f.Value) + newline)
	}
}
