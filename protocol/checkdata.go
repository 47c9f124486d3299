package protocol

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// CheckData checks an event's data against the Go type of its row: members that
// must be there are there, known ones have the right type, unknown ones are
// tolerated. Which values a string may have is not checked: a host may be newer
// than this table. The error is a [*DecodeError] whose path begins with /data.
func CheckData(spec *Spec, data RawMessage) error {
	if err := fits(data, typeOfData(spec), "/data"); err != nil {
		return err
	}
	return nil
}

// Complete returns data with each member that must be there and is not, as its
// zero value. It is for people and bridges that give only what matters.
func Complete(spec *Spec, data RawMessage) RawMessage {
	if len(jsonspan.Trim(data)) == 0 {
		data = RawMessage("{}")
	}
	if jsonspan.Kind(data) != '{' || !jsonspan.Valid(data) {
		return data
	}
	blank, err := json.Marshal(spec.Data)
	if err != nil {
		return data
	}
	present := map[string]bool{}
	for _, m := range jsonspan.Members(data) {
		present[m.Name] = true
	}
	whole := jsonspan.Trim(data)
	whole = append(RawMessage{}, whole[:len(whole)-1]...)
	empty := len(present) == 0
	for _, m := range jsonspan.Members(blank) {
		if present[m.Name] {
			continue
		}
		if !empty {
			whole = append(whole, ',')
		}
		empty = false
		whole = append(append(whole, jsonspan.Quote(m.Name)...), ':')
		if m.Name == "args" {
			whole = append(whole, "{}"...)
			continue
		}
		whole = append(whole, m.Value...)
	}
	return append(whole, '}')
}

var (
	typeContent = reflect.TypeFor[Content]()
	typeRaw     = reflect.TypeFor[RawMessage]()
)

// fits reports how value fails to have the shape of a Go type.
func fits(value RawMessage, t reflect.Type, path string) *DecodeError {
	wrong := func(want string) *DecodeError {
		return &DecodeError{Path: path, Offset: -1, Err: fmt.Errorf("%s where %s is expected", jsonspan.KindName(value), want)}
	}
	kind := jsonspan.Kind(value)
	switch {
	case t == typeRaw:
		return nil
	case t == typeContent && kind == '"':
		return nil
	case t == typeContent && kind != '[':
		return wrong("a string or a list of parts")
	case t.Kind() == reflect.Pointer:
		if kind == 'n' {
			return nil
		}
		return fits(value, t.Elem(), path)
	}
	switch t.Kind() {
	case reflect.String:
		if kind != '"' {
			return wrong("a string")
		}
	case reflect.Bool:
		if kind != 't' && kind != 'f' {
			return wrong("true or false")
		}
	case reflect.Int, reflect.Int64:
		if kind != '0' {
			return wrong("a whole number")
		}
		if _, err := strconv.ParseInt(string(jsonspan.Trim(value)), 10, 64); err != nil {
			return wrong("a whole number")
		}
	case reflect.Float64:
		if kind != '0' {
			return wrong("a number")
		}
	case reflect.Slice:
		if kind != '[' {
			return wrong("a list")
		}
		for i, e := range jsonspan.Elements(value) {
			if err := fits(e, t.Elem(), path+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if kind != '{' {
			return wrong("an object")
		}
		return fitsStruct(value, t, path)
	}
	return nil
}

func fitsStruct(object RawMessage, t reflect.Type, path string) *DecodeError {
	fields := fieldsOf(t)
	found := 0
	for _, m := range jsonspan.Members(object) {
		f, ok := fields.byName[m.Name]
		if !ok {
			continue
		}
		if f.required {
			found++
		}
		value := m.Value
		if (m.Name == "args" || m.Name == memberOriginal) && jsonspan.Kind(value) != '{' {
			return &DecodeError{Path: path + "/" + m.Name, Offset: -1, Err: fmt.Errorf("%s where an object is expected", jsonspan.KindName(value))}
		}
		if err := fits(value, f.typ, path+jsonspan.PointerToken(m.Name)); err != nil {
			return err
		}
	}
	if found == fields.required {
		return nil
	}
	for _, name := range fields.order {
		if fields.byName[name].required && jsonspan.Get(object, name) == nil {
			return &DecodeError{Path: path, Offset: -1, Err: fmt.Errorf("member %q is missing", name)}
		}
	}
	return nil
}

// dataField is one member of a Go type of data. A member that may be absent is
// omitted when zero, one that may be unknown is a pointer.
type dataField struct {
	typ      reflect.Type
	required bool
}

// dataFields are the members of a Go type of data.
type dataFields struct {
	byName   map[string]dataField
	order    []string // of the source
	required int      // how many
}

var fieldCache sync.Map // reflect.Type to *dataFields

func fieldsOf(t reflect.Type) *dataFields {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(*dataFields)
	}
	fields := &dataFields{byName: map[string]dataField{}}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		field := dataField{
			typ:      f.Type,
			required: f.Type.Kind() != reflect.Pointer && !strings.Contains(options, "omitzero"),
		}
		if field.required {
			fields.required++
		}
		fields.byName[name] = field
		fields.order = append(fields.order, name)
	}
	fieldCache.Store(t, fields)
	return fields
}

// typeName is a Go type in the words of JSON.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "another value"
}

func typeOfData(spec *Spec) reflect.Type { return reflect.TypeOf(spec.Data) }
