package schema

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// field is what reading, merging and checking must know of a struct's field.
// The tags are looked at once per type, not once per hook.
type field struct {
	name   string // the key, "" for a field that is not written
	index  int
	from   string  // letters of the sources it is taken from, "" for all
	checks []check // of the value
	each   []check // of each item of a list
}

var fieldsByType sync.Map // reflect.Type → []field

func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		f := t.Field(i)
		checks, each, _ := strings.Cut(f.Tag.Get("validate"), ",dive,")
		fields[i] = field{jsonName(f), i, f.Tag.Get("from"), parseChecks(checks), parseChecks(each)}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// check is one condition of a value: a bound, a choice or a form.
type check struct {
	name  string  // min, max, oneof, required, or one of forms
	text  string  // what the tag says behind =
	bound float64 // of min and max: a number, nanoseconds, characters or items
	words []string
}

// parseChecks reads a tag such as omitnil,min=1,max=255,hookname. A value that
// was not written is never checked, so that omitnil says nothing here.
func parseChecks(tag string) (checks []check) {
	for part := range strings.SplitSeq(tag, ",") {
		name, text, _ := strings.Cut(part, "=")
		c := check{name: name, text: text}
		switch name {
		case "", "omitnil":
			continue
		case "min", "max":
			d, err := time.ParseDuration(text)
			if c.bound = float64(d); err != nil {
				c.bound, err = strconv.ParseFloat(text, 64)
			}
			if err != nil {
				panic("schema: no bound: " + part)
			}
		case "oneof":
			c.words = strings.Fields(text)
		case "required":
		default:
			if _, known := forms[name]; !known {
				panic("schema: no such check: " + part)
			}
		}
		checks = append(checks, c)
	}
	return checks
}
