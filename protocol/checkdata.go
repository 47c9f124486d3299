package protocol

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
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

func typeOfData(spec *Spec) reflect.Type { return reflect.TypeOf(spec.Data) }

// fieldError is what is wrong with a changed field, below the field's path.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return e.path + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

func wrong(path, format string, args ...any) error {
	return &fieldError{path, fmt.Errorf(format, args...)}
}

// checkField checks a changed value against the type of its field. old is what
// it was, nil if it was absent. The error's text begins with the path below the
// field, so that it can be appended to the field's own.
func checkField(t FieldType, old, value RawMessage, by HookInfo, checkArgs func(RawMessage) error) error {
	switch t {
	case TypeString:
		return isKind(value, "", '"')
	case TypeMessages:
		return checkMessages(old, value, by)
	case TypeMessage:
		return checkAnswer(old, value, by, "")
	case TypeTools:
		return checkTools(value)
	case TypeParams:
		return checkParams(value)
	case TypeArgs:
		if err := isKind(value, "", '{'); err != nil {
			return err
		}
		if checkArgs != nil {
			if err := checkArgs(value); err != nil {
				return &fieldError{"", err}
			}
		}
		return nil
	case TypeResult:
		return checkResult(old, value)
	case TypeResponse:
		return checkResponse(value, by)
	}
	return wrong("", "no check for a field of type %q", t)
}

// isKind checks the kind of a value that must be there.
func isKind(value RawMessage, path string, kind byte) error {
	switch {
	case value == nil:
		return wrong(path, "is missing")
	case jsonspan.Kind(value) != kind:
		return wrong(path, "%s where %s is expected", jsonspan.Describe(value), jsonspan.KindName(RawMessage{kind}))
	}
	return nil
}

// isKindIfThere checks the kind of a value that may be absent.
func isKindIfThere(value RawMessage, path string, kind byte) error {
	if value == nil {
		return nil
	}
	return isKind(value, path, kind)
}

func isBoolIfThere(value RawMessage, path string) error {
	if k := jsonspan.Kind(value); value != nil && k != 't' && k != 'f' {
		return wrong(path, "%s where true or false is expected", jsonspan.Describe(value))
	}
	return nil
}

func isWholeIfThere(value RawMessage, path string) error {
	if value == nil {
		return nil
	}
	if _, err := strconv.ParseInt(string(jsonspan.Trim(value)), 10, 64); err != nil {
		return wrong(path, "%s where a whole number is expected", jsonspan.Describe(value))
	}
	return nil
}

func checkTools(value RawMessage) error {
	if err := isKind(value, "", '['); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, e := range jsonspan.Elements(value) {
		tool, path := e, "/"+strconv.Itoa(i)
		if err := isKind(tool, path, '{'); err != nil {
			return err
		}
		name := jsonspan.Get(tool, "name")
		if err := errors.Join(isKind(name, path+"/name", '"'), isKind(jsonspan.Get(tool, "description"), path+"/description", '"'),
			isKind(jsonspan.Get(tool, "schema"), path+"/schema", '{')); err != nil {
			return firstOf(err)
		}
		switch word := jsonspan.Text(name); {
		case word == "":
			return wrong(path+"/name", "is empty")
		case seen[word]:
			return wrong(path+"/name", "%q is the name of two tools", text.Shorten(word, 60))
		default:
			seen[word] = true
		}
	}
	return nil
}

func checkParams(value RawMessage) error {
	if err := isKind(value, "", '{'); err != nil {
		return err
	}
	if err := errors.Join(
		isWholeIfThere(jsonspan.Get(value, "maxTokens"), "/maxTokens"),
		isKindIfThere(jsonspan.Get(value, "temperature"), "/temperature", '0'),
		isKindIfThere(jsonspan.Get(value, "topP"), "/topP", '0'),
		isKindIfThere(jsonspan.Get(value, "stop"), "/stop", '['),
	); err != nil {
		return firstOf(err)
	}
	stop := jsonspan.Get(value, "stop")
	if stop == nil {
		return nil
	}
	for i, e := range jsonspan.Elements(stop) {
		if err := isKind(e, "/stop/"+strconv.Itoa(i), '"'); err != nil {
			return err
		}
	}
	return nil
}

// checkResult checks a tool's result. In a result that replaces the tool isError
// may be absent, which is false; one that changes must keep it.
func checkResult(old, value RawMessage) error {
	if err := isKind(value, "", '{'); err != nil {
		return err
	}
	if old != nil && jsonspan.Get(value, "isError") == nil {
		return wrong("/isError", "is missing")
	}
	content := jsonspan.Get(value, "content")
	if content == nil {
		return wrong("/content", "is missing")
	}
	if err := errors.Join(isBoolIfThere(jsonspan.Get(value, "isError"), "/isError"), isWholeIfThere(jsonspan.Get(value, "exitCode"), "/exitCode")); err != nil {
		return firstOf(err)
	}
	if jsonspan.Kind(content) == '"' {
		return nil
	}
	if err := isKind(content, "/content", '['); err != nil {
		return err
	}
	for i, e := range jsonspan.Elements(content) {
		if err := checkPart(e, "/content/"+strconv.Itoa(i), false); err != nil {
			return err
		}
	}
	return nil
}

var finishReasons = []string{"stop", "tools", "length", "filtered", "error"}

func checkResponse(value RawMessage, by HookInfo) error {
	if err := isKind(value, "", '{'); err != nil {
		return err
	}
	if reason := jsonspan.Get(value, "finishReason"); reason != nil && !slices.Contains(finishReasons, jsonspan.Text(reason)) {
		return wrong("/finishReason", "%s where one of stop tools length filtered error is expected", jsonspan.Describe(reason))
	}
	message := jsonspan.Get(value, "message")
	if message == nil {
		return wrong("/message", "is missing")
	}
	return checkAnswer(nil, message, by, "/message")
}

// firstOf returns the first of several joined errors.
func firstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}
