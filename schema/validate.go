package schema

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-playground/validator/v10"

	"github.com/hookd-dev/hookd/protocol/patterns"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema/document"
	"github.com/hookd-dev/hookd/schema/units"
)

// checks is the library that checks values: those of structs by their tag
// validate, those of settings by the rule of their row. It knows our forms as
// checks of their own.
var checks = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(jsonName)
	v.RegisterCustomTypeFunc(func(d reflect.Value) any { return time.Duration(d.Int()) }, units.Duration(0))
	for name, form := range forms {
		if err := v.RegisterValidation(name, func(f validator.FieldLevel) bool { return form.holds(f.Field().String()) }); err != nil {
			panic("schema: " + err.Error()) // a form with the name of a check that the library has
		}
	}
	return v
})

// violation is a check that a value does not pass.
type violation struct {
	path  string // key path below the struct: match.tool, args[2]
	check string // min, max, oneof, required, or one of forms
	rule  string // all checks of the value, as its tag writes them
	value any
}

// violations runs the checks of a struct's tags. Of each value the first check
// that fails counts, and the items of a list that fails are not looked at.
func violations(target any) (all []violation) {
	var failed validator.ValidationErrors
	if !errors.As(checks().Struct(target), &failed) {
		return nil
	}
	for _, f := range failed {
		_, path, _ := strings.Cut(f.Namespace(), ".")
		_, goPath, _ := strings.Cut(f.StructNamespace(), ".")
		all = append(all, violation{path, f.Tag(), ruleOf(reflect.TypeOf(target), goPath), f.Value()})
	}
	return all
}

// ruleOf is the part of a field's tag that rules the value at a path of Go names:
// Match.Tool, Args[2].
func ruleOf(t reflect.Type, goPath string) (rule string) {
	for part := range strings.SplitSeq(goPath, ".") {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		name, _, isItem := strings.Cut(part, "[")
		f, _ := t.FieldByName(name)
		list, each, _ := strings.Cut(f.Tag.Get("validate"), ",dive,")
		if rule = list; isItem {
			rule = each
		}
		t = f.Type
	}
	return rule
}

// param is what a rule says after the name of a check, "" without that check.
func param(rule, check string) string {
	for part := range strings.SplitSeq(rule, ",") {
		if value, found := strings.CutPrefix(part, check+"="); found {
			return value
		}
	}
	return ""
}

// checkStruct runs the checks of a struct's tags and returns the fields that do
// not hold.
func (r *reader) checkStruct(n *document.Node, at string, target any) (faults []string) {
	for _, v := range violations(target) {
		node := locate(n, v.path)
		keyPath := v.path
		if at != "" {
			keyPath = at + "." + v.path
		}
		r.fault(node, keyPath, codeFor(v.check), lastKey(keyPath)+" "+v.problem(), "write "+v.remedy())
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

func (v *violation) outOfRange() bool { return v.check == "min" || v.check == "max" }

// problem says in words what a value is.
func (v *violation) problem() string {
	switch value := reflect.ValueOf(v.value); {
	case v.outOfRange() && value.Kind() == reflect.String:
		return fmt.Sprintf("has %d characters", utf8.RuneCountInString(value.String()))
	case v.outOfRange() && value.Kind() == reflect.Slice && value.Len() == 0:
		return "is an empty list"
	case v.outOfRange() && value.Kind() == reflect.Slice:
		return fmt.Sprintf("has %d items", value.Len())
	}
	return "is " + shown(v.value)
}

// remedy says in words what a value should be.
func (v *violation) remedy() string {
	unit := ""
	switch reflect.ValueOf(v.value).Kind() {
	case reflect.String:
		unit = " characters"
	case reflect.Slice:
		unit = " items"
	}
	low, high := param(v.rule, "min"), param(v.rule, "max")
	switch {
	case v.outOfRange() && low != "" && high != "":
		return low + " to " + high + unit
	case v.check == "min":
		return "at least " + low + unit
	case v.check == "max":
		return "at most " + high + unit
	case v.check == "oneof":
		return oneOf(strings.Fields(param(v.rule, "oneof")))
	case v.check == "required":
		return "a value"
	}
	return forms[v.check].want
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
	case units.Duration:
		return v.String()
	case time.Duration:
		return units.FormatDuration(v)
	case string:
		return fmt.Sprintf("%q", clip(v))
	}
	return fmt.Sprint(value)
}

// forms are the checks of a text that have a name of their own.
var forms = map[string]struct {
	holds func(string) bool
	want  string
}{
	"hookname":     {isHookName, "the name of a file in the hooks folder, without a path"},
	"envname":      {isEnvName, "the name of a variable: letters, digits and _, no value"},
	"below":        {isBelow, "a path below the hook's folder: relative, without .."},
	"dialect":      {func(s string) bool { return slices.Contains(Dialects, s) }, "a protocol this version speaks: " + strings.Join(Dialects, ", ")},
	"folder":       {isFolder, "an absolute path, or one that begins with ~/"},
	"owner":        {isOwner, "the name or the number of a user"},
	"pathdir":      {isPathFolder, "a folder: an absolute path, or one that begins with ~/"},
	"header":       {isHTTPHeader, "a header line: Name: value"},
	"hash":         {isHash, "a SHA-256 as `hookd trust --print` shows it: 64 hexadecimal digits, sha256: before them or not"},
	"namepattern":  {isPattern, "a name, a glob (small-*), or a regular expression between slashes (/small-.*/)"},
	"pathpattern":  {isPathPattern, "a glob for paths: .env, *.pem, config/**, /etc/**, ~/.ssh/**"},
	"shellpattern": {func(s string) bool { return isPattern(s) }, "a command, a glob (git push *), or a regular expression between slashes (/rm .*/)"},
	"allowedtool":  {func(s string) bool { _, err := toolname.ParseAllowed(s); return err == nil }, "a tool's name (bash, write_file), a kind (shell, write, mcp, net, other), a glob (mcp__github__*), or a regular expression between slashes"},
	"weburl":       {isWebURL, "a URL that begins with http:// or https://"},
}

func isHash(s string) bool {
	digits := strings.TrimPrefix(s, "sha256:")
	return len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

func isOwner(s string) bool {
	return s != "" && !strings.ContainsAny(s, ":/ \t") && strings.IndexFunc(s, unicode.IsControl) < 0
}

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
	_, err := patterns.Parse(s)
	return err == nil
}

// isPathPattern reports whether a text is a glob for paths that can be compared.
func isPathPattern(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.ContainsRune(s, 0) && doublestar.ValidatePattern(s) && !patterns.TooWide(s)
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
