package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema/document"
	"github.com/hookd-dev/hookd/schema/units"
)

// shape says how an object is read.
type shape struct {
	source Source // only fields taken from this source are allowed; "" allows all
	// tolerant makes an unknown key a warning: the object has another owner.
	tolerant bool
}

// object reads an object into a struct by its json tags. It goes on after a
// fault, so that one reading tells everything. faults names the fields that do
// not fit, and fields the place of each one that was written.
func (r *reader) object(n *document.Node, path string, target reflect.Value, s shape) (faults []string, fields map[string]Pos) {
	fields = map[string]Pos{}
	for _, m := range n.Members {
		at := join(path, m.Key)
		pos := Pos{r.file, m.Line, at}
		if r.full() {
			// Too much to find the right words for: nothing of it can be relied on.
			r.unsaid++
			return fieldNames(target), fields
		}
		name, field, known := fieldFor(target, m.Key)
		switch {
		case !known && s.tolerant:
			r.at(pos, SeverityWarning, CodeUnknownKey, fmt.Sprintf("%s is not known to hookd and has no effect", m.Key), "remove it, or leave it for the program that reads it")
		case !known:
			r.at(pos, SeverityError, CodeUnknownKey, fmt.Sprintf("there is no key %q here", clip(m.Key)), didYouMean(name, fieldNames(target)))
			faults = append(faults, name)
		case seen(fields, name):
			r.at(pos, SeverityError, CodeDuplicateKey, fmt.Sprintf("the key %s is here twice", m.Key), "keep one of them")
			faults = append(faults, name)
		case !taken(field, s.source):
			r.at(pos, SeverityError, CodeWrongSource, fmt.Sprintf("%s is not taken from %s", m.Key, sourceName(s.source)), "write it in "+allowedSources(field))
			faults = append(faults, name)
		default:
			fields[name] = pos
			if !r.value(m.Value, at, target.Field(field.index), s) {
				faults = append(faults, name)
			}
		}
	}
	return faults, fields
}

func seen(fields map[string]Pos, name string) bool {
	_, found := fields[name]
	return found
}

// value reads one value into a field of its type.
func (r *reader) value(n *document.Node, path string, v reflect.Value, s shape) bool {
	switch field := v.Addr().Interface().(type) {
	case *units.Duration:
		d, ok := r.duration(n, path)
		*field = units.Duration(d)
		return ok
	case *Events:
		events, ok := r.events(n, path)
		*field = events
		return ok
	case *OneOrMany:
		if n.Kind == document.String {
			text, ok := r.text(n, path)
			*field = OneOrMany{text}
			return ok
		}
		list, ok := r.list(n, path)
		*field = list
		return ok
	case *CommandLine:
		if n.Kind == document.String && r.foreign != nil {
			line, ok := r.text(n, path)
			*field = foreignhooks.ShellLine(line)
			return ok
		}
		if n.Kind == document.String {
			r.fault(n, path, CodeWrongType, fmt.Sprintf("%s is the string %s, not a list: no shell reads it", lastKey(path), describe(n)), "write program and arguments as a list: "+quoted(strings.Fields(n.Text)))
			return false
		}
		list, ok := r.list(n, path)
		*field = list
		return ok
	case *[]string:
		list, ok := r.list(n, path)
		*field = list
		return ok
	case **Tests:
		*field = &Tests{File: r.file, Path: path, List: n}
		return true
	case *map[string]string:
		texts, ok := r.texts(n, path)
		*field = texts
		return ok
	}
	return r.basic(n, path, v, s)
}

func (r *reader) basic(n *document.Node, path string, v reflect.Value, s shape) bool {
	switch v.Kind() {
	case reflect.Pointer:
		pointee := reflect.New(v.Type().Elem())
		ok := r.value(n, path, pointee.Elem(), s)
		if ok {
			v.Set(pointee)
		}
		return ok
	case reflect.Bool:
		b, ok := r.bool(n, path)
		v.SetBool(b)
		return ok
	case reflect.Int, reflect.Int64:
		i, ok := r.int(n, path)
		v.SetInt(i)
		return ok
	case reflect.Float64:
		f, ok := r.share(n, path)
		v.SetFloat(f)
		return ok
	case reflect.String:
		text, ok := r.text(n, path)
		v.SetString(text)
		return ok
	case reflect.Struct:
		if n.Kind != document.Object {
			r.wrongType(n, path, "an object", "an object with keys: "+strings.Join(fieldNames(v), ", "))
			return false
		}
		faults, _ := r.object(n, path, v, shape{tolerant: s.tolerant})
		return len(faults) == 0
	}
	panic("schema: no reading for a field of type " + v.Type().String())
}

// texts reads an object whose values are strings.
func (r *reader) texts(n *document.Node, path string) (map[string]string, bool) {
	if n.Kind != document.Object {
		if n.Kind == document.String { // such as a header of a server, with its key
			n = &document.Node{Kind: n.Kind, Line: n.Line, Text: "…"}
		}
		r.wrongType(n, path, "an object", `an object of strings: {"KEY": "…"}`)
		return nil, false
	}
	texts, ok := map[string]string{}, true
	for _, m := range n.Members {
		text, fits := r.text(m.Value, join(path, m.Key))
		if _, twice := texts[m.Key]; twice {
			r.fault(m.Value, join(path, m.Key), CodeDuplicateKey, fmt.Sprintf("the key %s is here twice", m.Key), "keep one of them")
			fits = false
		}
		texts[m.Key] = text
		ok = ok && fits
	}
	return texts, ok
}

// fieldFor finds a struct's field by its exact key. For an unknown key, name is
// the one that was probably meant, or the key itself.
func fieldFor(target reflect.Value, key string) (name string, f *field, known bool) {
	fields := fieldsOf(target.Type())
	for i := range fields {
		if fields[i].name == key && key != "" {
			return key, &fields[i], true
		}
	}
	if meant := text.Nearest(key, fieldNames(target)); meant != "" {
		return meant, nil, false
	}
	return key, nil, false
}

func fieldNames(target reflect.Value) []string {
	var names []string
	for _, f := range fieldsOf(target.Type()) {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// jsonName returns the key of a field, or "" for one that is not written.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

func didYouMean(name string, known []string) string {
	if slices.Contains(known, name) {
		return fmt.Sprintf("did you mean %q?", name)
	}
	return "the keys here are " + strings.Join(known, ", ")
}

// taken reports whether a field is taken from a source.
func taken(f *field, source Source) bool {
	for _, s := range sources {
		if s.source == source {
			return f.from == "" || strings.Contains(f.from, s.letter)
		}
	}
	return true
}

func sourceName(source Source) string {
	for _, s := range sources {
		if s.source == source {
			return s.name
		}
	}
	return string(source)
}

func allowedSources(f *field) string {
	var names []string
	for _, s := range sources {
		if strings.Contains(f.from, s.letter) {
			names = append(names, s.name)
		}
	}
	return strings.Join(names, " or ")
}

// field is what reading and merging must know of a struct's field. The tags are
// looked at once per type, not once per hook.
type field struct {
	name  string // the key, "" for a field that is not written
	index int
	from  string // letters of the sources it is taken from, "" for all
}

var fieldsByType sync.Map // reflect.Type → []field

func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		f := t.Field(i)
		fields[i] = field{jsonName(f), i, f.Tag.Get("from")}
	}
	fieldsByType.Store(t, fields)
	return fields
}
