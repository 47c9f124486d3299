package schema

import (
	"reflect"
	"sync"
)

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
