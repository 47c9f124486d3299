package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/schema/document"
)

// violation is a check that a value does not pass.
type violation struct {
	path   string // key path below the struct: match.tool, args[2]
	failed check
	checks []check // all of the value
	value  reflect.Value
}

// violations runs the checks of a struct's fields, and of the structs in them.
// Of each value the first check that fails counts, and the items of a list that
// fails are not looked at.
func violations(v reflect.Value, at string) (all []violation) {
	for _, f := range fieldsOf(v.Type()) {
		value, path := v.Field(f.index), f.name
		if (value.Kind() == reflect.Pointer || value.Kind() == reflect.Slice) && value.IsNil() {
			continue
		}
		if at != "" {
			path = at + "." + path
		}
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		before := len(all)
		all = appendFailed(all, path, value, f.checks)
		switch {
		case len(all) > before:
		case value.Kind() == reflect.Struct:
			all = append(all, violations(value, path)...)
		case len(f.each) > 0:
			for i := range value.Len() {
				all = appendFailed(all, index(path, i), value.Index(i), f.each)
			}
		}
	}
	return all
}

func appendFailed(all []violation, path string, value reflect.Value, checks []check) []violation {
	for _, c := range checks {
		if !c.holds(value) {
			return append(all, violation{path, c, checks, value})
		}
	}
	return all
}

func (c *check) holds(v reflect.Value) bool {
	switch c.name {
	case "min":
		return measure(v) >= c.bound
	case "max":
		return measure(v) <= c.bound
	case "oneof":
		return slices.Contains(c.words, v.String())
	case "required":
		return !v.IsZero()
	}
	return forms[c.name].holds(v.String())
}

// measure is what a bound is compared with.
func measure(v reflect.Value) float64 {
	switch v.Kind() {
	case reflect.String:
		return float64(utf8.RuneCountInString(v.String()))
	case reflect.Slice:
		return float64(v.Len())
	case reflect.Float64:
		return v.Float()
	}
	return float64(v.Int())
}

// checkStruct runs the checks of a struct's tags and returns the fields that do
// not hold.
func (r *reader) checkStruct(n *document.Node, at string, value any) (faults []string) {
	for _, v := range violations(reflect.ValueOf(value).Elem(), "") {
		node := locate(n, v.path)
		keyPath := v.path
		if at != "" {
			keyPath = at + "." + v.path
		}
		r.fault(node, keyPath, codeFor(v.failed.name), lastKey(keyPath)+" "+v.problem(), "write "+v.remedy())
		field, _, _ := strings.Cut(v.path, ".")
		field, _, _ = strings.Cut(field, "[")
		faults = append(faults, field)
	}
	return faults
}

// locate follows a key path below a node as far as it leads.
func locate(n *document.Node, keyPath string) *document.Node {
	for _, key := range strings.FieldsFunc(keyPath, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		next := n.Get(key)
		var i int
		if _, err := fmt.Sscanf(key, "%d", &i); err == nil && next == nil && i < len(n.Items) {
			next = n.Items[i]
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func codeFor(check string) Code {
	if check == "min" || check == "max" {
		return CodeOutOfRange
	}
	return CodeBadValue
}

func (v *violation) outOfRange() bool { return v.failed.name == "min" || v.failed.name == "max" }

// problem says in words what a value is.
func (v *violation) problem() string {
	switch {
	case v.outOfRange() && v.value.Kind() == reflect.String:
		return fmt.Sprintf("has %d characters", utf8.RuneCountInString(v.value.String()))
	case v.outOfRange() && v.value.Kind() == reflect.Slice:
		if v.value.Len() == 0 {
			return "is an empty list"
		}
		return fmt.Sprintf("has %d items", v.value.Len())
	}
	return "is " + shown(v.value.Interface())
}

// bound finds a bound among the checks of a value, as its tag writes it.
func bound(checks []check, name string) string {
	for _, c := range checks {
		if c.name == name {
			return c.text
		}
	}
	return ""
}

// remedy says in words what a value should be.
func (v *violation) remedy() string {
	unit := ""
	switch v.value.Kind() {
	case reflect.String:
		unit = " characters"
	case reflect.Slice:
		unit = " items"
	}
	low, high := bound(v.checks, "min"), bound(v.checks, "max")
	switch {
	case v.outOfRange() && low != "" && high != "":
		return low + " to " + high + unit
	case v.failed.name == "min":
		return "at least " + low + unit
	case v.failed.name == "max":
		return "at most " + high + unit
	case v.failed.name == "oneof":
		return oneOf(v.failed.words)
	case v.failed.name == "required":
		return "a value"
	}
	return forms[v.failed.name].want
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// shown writes a value the way settings write it.
func shown(value any) string {
	switch v := value.(type) {
	case Duration:
		return v.String()
	case time.Duration:
		return FormatDuration(v)
	case string:
		return fmt.Sprintf("%q", clip(v))
	}
	return fmt.Sprint(value)
}
