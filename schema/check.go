package schema

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/go-playground/validator/v10"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// validate holds every check of a single value: ranges, words, forms.
var validate = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(jsonName)
	v.RegisterCustomTypeFunc(func(field reflect.Value) any { return time.Duration(field.Int()) }, Duration(0))
	v.RegisterCustomTypeFunc(func(field reflect.Value) any { return field.Int() }, Size(0))
	for name, form := range forms {
		err := v.RegisterValidation(name, func(field validator.FieldLevel) bool { return form.holds(field.Field().String()) })
		if err != nil {
			panic("schema: " + err.Error())
		}
	}
	return v
})

// forms are the checks that validator does not bring along.
var forms = map[string]struct {
	holds func(string) bool
	want  string
}{
	"hookname":     {isHookName, "the name of a file in the hooks folder, without a path"},
	"envname":      {isEnvName, "the name of a variable: letters, digits and _, no value"},
	"below":        {isBelow, "a path below the hook's folder: relative, without .."},
	"dialect":      {func(s string) bool { return slices.Contains(Dialects, s) }, "a protocol this version speaks: " + strings.Join(Dialects, ", ")},
	"folder":       {isFolder, "an absolute path, or one that begins with ~/"},
	"pathdir":      {isPathFolder, "a folder: an absolute path, or one that begins with ~/"},
	"header":       {isHTTPHeader, "a header line: Name: value"},
	"hash":         {hashForm.MatchString, "a SHA-256 as `hookd trust --print` shows it: 64 hexadecimal digits, sha256: before them or not"},
	"namepattern":  {isPattern, "a name, a glob (small-*), or a regular expression between slashes (/small-.*/)"},
	"shellpattern": {func(s string) bool { return isPattern(s) }, "a command, a glob (git push *), or a regular expression between slashes (/rm .*/)"},
	"weburl":       {isWebURL, "a URL that begins with http:// or https://"},
}

var hashForm = regexp.MustCompile(`^(sha256:)?[0-9a-f]{64}$`)

func isHookName(s string) bool {
	return s != "." && s != ".." && !strings.ContainsAny(s, "/\x00") && strings.IndexFunc(s, unicode.IsControl) < 0
}

func isEnvName(s string) bool {
	for i, c := range s {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func isPattern(s string) bool {
	_, err := protocol.ParsePattern(s)
	return err == nil
}

func isBelow(s string) bool {
	return s != "" && !path.IsAbs(s) && !strings.ContainsAny(s, "\\\x00") && !slices.Contains(strings.Split(s, "/"), "..")
}

func isFolder(s string) bool {
	return path.IsAbs(s) || filepath.IsAbs(s) || strings.HasPrefix(s, "~/")
}

// isPathFolder refuses relative folders: a program found through one would be
// another one in the next project.
func isPathFolder(s string) bool {
	return isFolder(s) && !strings.ContainsRune(s, filepath.ListSeparator)
}

func isHTTPHeader(s string) bool {
	name, _, found := strings.Cut(s, ":")
	return found && name != "" && !strings.ContainsAny(name, " \t\r\n\"") && !strings.ContainsAny(s, "\r\n")
}

func isWebURL(s string) bool {
	rest, plain := strings.CutPrefix(s, "http://")
	secure, tls := strings.CutPrefix(s, "https://")
	return plain && rest != "" || tls && secure != ""
}

// checkStruct runs the checks of a struct's tags and returns the fields that do
// not hold.
func (r *reader) checkStruct(n *document.Node, at string, value any) (faults []string) {
	err := validate().Struct(value)
	if err == nil {
		return nil
	}
	for _, e := range err.(validator.ValidationErrors) {
		// The namespace begins with the struct's own name.
		_, below, _ := strings.Cut(e.Namespace(), ".")
		node := locate(n, below)
		keyPath := below
		if at != "" {
			keyPath = at + "." + below
		}
		r.fault(node, keyPath, codeFor(e.Tag()), lastKey(keyPath)+" "+problem(e), "write "+remedy(e, tagOf(value, e.StructNamespace())))
		field, _, _ := strings.Cut(below, ".")
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

func codeFor(tag string) Code {
	if tag == "min" || tag == "max" {
		return CodeOutOfRange
	}
	return CodeBadValue
}

// problem says in words what a value is.
func problem(e validator.FieldError) string {
	v := reflect.ValueOf(e.Value())
	switch {
	case (e.Tag() == "min" || e.Tag() == "max") && v.Kind() == reflect.String:
		return fmt.Sprintf("has %d characters", len([]rune(v.String())))
	case (e.Tag() == "min" || e.Tag() == "max") && v.Kind() == reflect.Slice:
		if v.Len() == 0 {
			return "is an empty list"
		}
		return fmt.Sprintf("has %d items", v.Len())
	}
	return "is " + shown(e.Value())
}

// tagOf returns the checks of the field that a namespace leads to.
func tagOf(value any, namespace string) string {
	t, tag := reflect.TypeOf(value), ""
	for _, name := range strings.Split(namespace, ".")[1:] {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		name, _, item := strings.Cut(name, "[")
		field, found := t.FieldByName(name)
		if !found {
			return ""
		}
		t, tag = field.Type, field.Tag.Get("validate")
		before, behind, _ := strings.Cut(tag, "dive,")
		if tag = before; item {
			tag = behind
		}
	}
	return tag
}

// bound finds a bound among the checks of a tag.
func bound(tag, name string) string {
	for _, check := range strings.Split(tag, ",") {
		if value, found := strings.CutPrefix(check, name+"="); found {
			return value
		}
	}
	return ""
}

// remedy says in words what a value should be; tag holds all checks of it.
func remedy(e validator.FieldError, tag string) string {
	if form, ok := forms[e.Tag()]; ok {
		return form.want
	}
	v := reflect.ValueOf(e.Value())
	unit := ""
	switch v.Kind() {
	case reflect.String:
		unit = " characters"
	case reflect.Slice:
		unit = " items"
	}
	low, high := bound(tag, "min"), bound(tag, "max")
	switch {
	case (e.Tag() == "min" || e.Tag() == "max") && low != "" && high != "":
		return low + " to " + high + unit
	case e.Tag() == "min":
		return "at least " + e.Param() + unit
	case e.Tag() == "max":
		return "at most " + e.Param() + unit
	case e.Tag() == "oneof":
		words := strings.Fields(e.Param())
		if len(words) == 1 {
			return words[0]
		}
		return "one of " + strings.Join(words, ", ")
	case e.Tag() == "required":
		return "a value"
	}
	return strings.TrimSpace(e.Tag() + " " + e.Param())
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
