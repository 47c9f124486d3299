package executor

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/vm/runtime"
)

// meter bounds one evaluation of a condition.
type meter struct {
	ctx   context.Context
	steps int // left
	bytes int // left
}

func newMeter(ctx context.Context) *meter {
	return &meter{ctx: ctx, steps: conditionSteps, bytes: conditionBytes}
}

// step counts n steps and looks at the clock. What follows may take a while.
func (m *meter) step(n int) error {
	if m.steps -= n; m.steps < 0 {
		return errUndecided
	}
	if m.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errUndecided, context.Cause(m.ctx))
	}
	return nil
}

// long counts an operation on n bytes.
func (m *meter) long(n int) error { return m.step(1 + n>>12) }

// make counts n bytes that an operation makes.
func (m *meter) make(n int) error {
	if m.bytes -= n; n < 0 || m.bytes < 0 {
		return errUndecided
	}
	return m.long(n)
}

func (s *steppedText) next() (rune, int, error) {
	if c := s.text[s.at]; c < utf8.RuneSelf {
		s.at++
		return rune(c), 1, nil
	}
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	// What is counted must not be stepped over.
	if s.at>>8 != (s.at+size)>>8 && s.err == nil {
		s.err = s.meter.step(1)
	}
	s.at += size
	return r, size, nil
}

// function is a function that conditions call.
type function = func(arguments ...any) (any, error)

// functions are ours, by the names that conditions call them by.
func (f *facts) functions() map[string]function {
	text := func(arguments []any, i int) (string, error) {
		if i < len(arguments) {
			if s, ok := arguments[i].(string); ok {
				return s, nil
			}
		}
		return "", fmt.Errorf("a text is needed")
	}
	onText := func(do func(string) string) function {
		return func(arguments ...any) (any, error) {
			s, err := text(arguments, 0)
			if err == nil {
				err = f.meter.make(len(s))
			}
			if err != nil {
				return nil, err
			}
			return do(s), nil
		}
	}
	texts := func(most int, do func(a, b string) (any, error)) function {
		return func(arguments ...any) (any, error) {
			a, err := text(arguments, 0)
			if err != nil {
				return nil, err
			}
			b := ""
			if len(arguments) > 1 {
				if b, err = text(arguments, 1); err != nil {
					return nil, err
				}
			}
			if len(b) > most {
				return nil, errUndecided
			}
			if err := f.meter.long(len(a)); err != nil {
				return nil, err
			}
			return do(a, b)
		}
	}
	return map[string]function{
		callStep:    func(...any) (any, error) { return true, f.meter.step(1) },
		callEqual:   func(a ...any) (any, error) { return f.meter.equal(a[0], a[1]) },
		callIn:      func(a ...any) (any, error) { return f.meter.in(a[0], a[1]) },
		callPlus:    func(a ...any) (any, error) { return f.meter.plus(a[0], a[1]) },
		callMatches: func(a ...any) (any, error) { return f.meter.matches(a[0], a[1]) },
		"lower":     onText(strings.ToLower),
		"upper":     onText(strings.ToUpper),
		"trim": texts(longestPattern, func(s, set string) (any, error) {
			if set == "" {
				return strings.TrimSpace(s), nil
			}
			if err := f.meter.step(len(s) >> 12 * len(set)); err != nil {
				return nil, err
			}
			return strings.Trim(s, set), nil
		}),
		"split": texts(1<<30, func(s, by string) (any, error) {
			parts := len(s) + 1
			if by != "" {
				parts = strings.Count(s, by) + 1
			}
			if err := f.meter.make(16 * parts); err != nil {
				return nil, err
			}
			out := make([]any, 0, parts)
			for part := range strings.SplitSeq(s, by) {
				out = append(out, part)
			}
			return out, nil
		}),
		"string": func(arguments ...any) (any, error) {
			switch v := arguments[0].(type) {
			case string:
				return v, nil
			case nil, bool, int, int64, float64:
				return fmt.Sprint(v), nil
			}
			return nil, fmt.Errorf("%T has no text", arguments[0])
		},
		"keys": func(arguments ...any) (any, error) {
			object, ok := asObject(arguments[0])
			if !ok {
				return nil, fmt.Errorf("an object is needed")
			}
			if err := f.meter.make(16 * len(object)); err != nil {
				return nil, err
			}
			out := make([]any, 0, len(object))
			for name := range object {
				out = append(out, name)
			}
			return out, nil
		},
	}
}

// equal compares as the language does, and counts what it looks at: a value may
// hold another one many times over.
func (m *meter) equal(a, b any) (bool, error) {
	if err := m.step(1); err != nil {
		return false, err
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			if same, err := m.equal(x[i], y[i]); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case map[string]any, openObject:
		mine, _ := asObject(a)
		theirs, ok := asObject(b)
		if !ok || len(mine) != len(theirs) {
			return false, nil
		}
		for name, value := range mine {
			other, there := theirs[name]
			if !there {
				return false, nil
			}
			if same, err := m.equal(value, other); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case string:
		if err := m.long(len(x)); err != nil {
			return false, err
		}
	}
	if x, y := reflect.ValueOf(a), reflect.ValueOf(b); isList(x) && isList(y) {
		if x.Len() != y.Len() {
			return false, nil
		}
		for i := range x.Len() {
			if same, err := m.equal(x.Index(i).Interface(), y.Index(i).Interface()); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	}
	if isNested(a) || isNested(b) {
		return false, nil
	}
	return runtime.Equal(a, b), nil
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

func isNested(v any) bool {
	kind := reflect.ValueOf(v).Kind()
	return kind == reflect.Slice || kind == reflect.Array || kind == reflect.Map
}

func (m *meter) in(needle, list any) (bool, error) {
	if v := reflect.ValueOf(list); isList(v) {
		for i := range v.Len() {
			if same, err := m.equal(v.Index(i).Interface(), needle); err != nil || same {
				return same, err
			}
		}
		return false, nil
	}
	if err := m.step(1); err != nil {
		return false, err
	}
	return runtime.In(needle, list), nil
}

func (m *meter) plus(a, b any) (any, error) {
	x, isText := a.(string)
	if y, both := b.(string); isText && both {
		if err := m.make(len(x) + len(y)); err != nil {
			return nil, err
		}
		return x + y, nil
	}
	if err := m.step(1); err != nil {
		return nil, err
	}
	return runtime.Add(a, b), nil
}

func (m *meter) matches(value, pattern any) (bool, error) {
	if value == nil {
		return false, nil // as the language has it
	}
	text, ok := value.(string)
	if !ok {
		return false, fmt.Errorf("matches needs a text, not %T", value)
	}
	var compiled *regexp.Regexp
	switch p := pattern.(type) {
	case *regexp.Regexp:
		compiled = p
	case string:
		if err := m.step(1 + len(p)); err != nil {
			return false, err
		}
		var err error
		if compiled, err = compilePattern(p); err != nil {
			return false, err
		}
	default:
		return false, fmt.Errorf("%T is no regular expression", pattern)
	}
	read := &steppedText{text: text, meter: m}
	hit := compiled.MatchReader(read)
	return hit && read.err == nil, read.err
}
