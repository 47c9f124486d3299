package protocol

import (
	"fmt"
	"reflect"
	"strings"
)

// TableMarkdown is the events table for the documentation: what each answer does
// at each event.
func TableMarkdown() string {
	var b strings.Builder
	b.WriteString("| event | kind | `block` refuses | `stop` | may change | `ask` | `continue` + messages | `callback` | `context` goes |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for i := range Table {
		s := &Table[i]
		row(&b, string(s.Name), string(s.Kind), s.Blocks, s.Stops, changeable(s), string(s.Ask), string(s.Continue), string(s.Callback), contextCell(s))
	}
	return b.String()
}

// AliasMarkdown lists the names that other systems use for our events.
func AliasMarkdown() string {
	var b strings.Builder
	b.WriteString("| event | also known as |\n|---|---|\n")
	for i := range Table {
		var names []string
		for _, a := range Table[i].Aliases {
			names = append(names, "`"+a.Name+"`")
		}
		if len(names) > 0 {
			row(&b, string(Table[i].Name), strings.Join(names, " "))
		}
	}
	return b.String()
}

// DataMarkdown lists the members of each event's data. A ? marks one that may be
// absent, |null one that may be unknown.
func DataMarkdown() string {
	var b strings.Builder
	b.WriteString("| event | `data` |\n|---|---|\n")
	for i := range Table {
		row(&b, string(Table[i].Name), strings.Join(describeMembers(typeOfData(&Table[i])), " · "))
	}
	return b.String()
}

// ShapeMarkdown lists the members of the types that [DataMarkdown] names.
func ShapeMarkdown() string {
	var b strings.Builder
	b.WriteString("| type | members |\n|---|---|\n")
	for _, t := range []reflect.Type{
		reflect.TypeFor[Part](), reflect.TypeFor[Message](), reflect.TypeFor[Tool](), reflect.TypeFor[Call](), reflect.TypeFor[Touched](), reflect.TypeFor[Result](),
		reflect.TypeFor[CallError](), reflect.TypeFor[CallUsage](), reflect.TypeFor[Params](), reflect.TypeFor[PermissionOption](),
		reflect.TypeFor[StepCall](), reflect.TypeFor[Measures](), reflect.TypeFor[Response](),
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

func changeable(s *Spec) string {
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
	case TypeResult:
		cell += "; `result` replaces the tool"
	case TypeResponse:
		cell += "; `response` replaces the call"
	}
	return cell
}

func contextCell(s *Spec) string {
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
		if t == typeRaw {
			return "JSON"
		}
		if t == typeContent {
			return "[Part] or text"
		}
		return "[" + shapeName(t.Elem()) + "]"
	case reflect.Struct:
		return t.Name()
	}
	return "string"
}
