package tables

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// Events is the events table for the documentation: what each answer does
// at each event.
func Events() string {
	var b strings.Builder
	b.WriteString("| event | kind | `block` refuses | `stop` | may change | `ask` | `continue` + messages | `callback` | `context` goes |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for i := range protocol.Table {
		s := &protocol.Table[i]
		row(&b, string(s.Name), string(s.Kind), s.Blocks, s.Stops, changeable(s), string(s.Ask), string(s.Continue), string(s.Callback), contextCell(s))
	}
	return b.String()
}

// Aliases lists the names that other systems use for our events.
func Aliases() string {
	var b strings.Builder
	b.WriteString("| event | also known as |\n|---|---|\n")
	for i := range protocol.Table {
		var names []string
		for _, a := range protocol.Table[i].Aliases {
			names = append(names, "`"+a.Name+"`")
		}
		if len(names) > 0 {
			row(&b, string(protocol.Table[i].Name), strings.Join(names, " "))
		}
	}
	return b.String()
}

// Data lists the members of each event's data. A ? marks one that may be
// absent, |null one that may be unknown.
func Data() string {
	var b strings.Builder
	b.WriteString("| event | `data` |\n|---|---|\n")
	for i := range protocol.Table {
		row(&b, string(protocol.Table[i].Name), strings.Join(describeMembers(reflect.TypeOf(protocol.Table[i].Data)), " · "))
	}
	return b.String()
}

// Shapes lists the members of the types that [Data] names.
func Shapes() string {
	var b strings.Builder
	b.WriteString("| type | members |\n|---|---|\n")
	for _, t := range []reflect.Type{
		reflect.TypeFor[protocol.Part](), reflect.TypeFor[protocol.Message](), reflect.TypeFor[protocol.Tool](), reflect.TypeFor[protocol.Call](), reflect.TypeFor[protocol.Touched](), reflect.TypeFor[protocol.Result](),
		reflect.TypeFor[protocol.CallError](), reflect.TypeFor[protocol.CallUsage](), reflect.TypeFor[protocol.Params](), reflect.TypeFor[protocol.PermissionOption](),
		reflect.TypeFor[protocol.StepCall](), reflect.TypeFor[protocol.Measures](), reflect.TypeFor[protocol.Response](),
	} {
		row(&b, t.Name(), strings.Join(describeMembers(t), " · "))
	}
	return b.String()
}

func row(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		if cell == "" {
			cell = "–"
		}
		fmt.Fprintf(b, "| %s ", strings.ReplaceAll(cell, "|", "\\|"))
	}
	b.WriteString("|\n")
}

func changeable(s *protocol.Spec) string {
	var parts []string
	stored := ""
	for _, f := range s.Fields {
		parts = append(parts, "`"+f.Path+"`")
		if f.Stored {
			stored = ", stored"
		}
	}
	cell := strings.Join(parts, " ")
	if cell != "" {
		cell += stored
	}
	switch s.Replace {
	case protocol.TypeResult:
		cell += "; `result` replaces the tool"
	case protocol.TypeResponse:
		cell += "; `response` replaces the call"
	}
	return cell
}

func contextCell(s *protocol.Spec) string {
	if s.Context == "" {
		return "dropped"
	}
	return s.Context
}

// describeMembers describes the members of a Go type of data, embedded ones by
// the name of their type.
func describeMembers(t reflect.Type) []string {
	var list []string
	for f := range t.Fields() {
		if f.Anonymous {
			list = append(list, f.Type.Name())
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		text := "`" + name + "`"
		if strings.Contains(options, "omitzero") {
			text += "?"
		}
		text += ": " + shapeName(f.Type)
		if f.Type.Kind() == reflect.Pointer {
			text += "|null"
		}
		if about := f.Tag.Get("jsonschema"); about != "" {
			text += " (" + about + ")"
		}
		list = append(list, text)
	}
	return list
}

// shapeName is a Go type of data in the words of the documentation.
func shapeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeName(t.Elem())
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Slice:
		if t == reflect.TypeFor[protocol.RawMessage]() {
			return "JSON"
		}
		if t == reflect.TypeFor[protocol.Content]() {
			return "[Part] or text"
		}
		return "[" + shapeName(t.Elem()) + "]"
	case reflect.Struct:
		return t.Name()
	}
	return "string"
}

// Answered is the table of who may have answered a question.
func Answered() string {
	var out strings.Builder
	out.WriteString("| `answered.by` | who that is |\n|---|---|\n")
	for _, a := range protocol.Answerers {
		out.WriteString("| `" + string(a.By) + "` | " + a.Meaning + " |\n")
	}
	return out.String()
}
