package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"unicode/utf8"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/hookd-dev/hookd/protocol/patterns"
)

// Bounds of one evaluation.
const (
	conditionSteps  = 1_000_000 // rounds of loops and operations
	conditionBytes  = 128 << 20 // of texts and lists that it makes
	longestPattern  = 4 << 10   // bytes of a regular expression, and of a set of characters
	conditionValues = 2_000_000 // values of the event, about
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

// steppedText is a text that a regular expression reads. It ends early when the
// bounds are used up.
type steppedText struct {
	text  string
	at    int
	meter *meter
	err   error
}

func (s *steppedText) ReadRune() (rune, int, error) {
	if s.at&0xff == 0 || s.at >= len(s.text) {
		if s.err == nil && s.at < len(s.text) {
			s.err = s.meter.step(1)
		}
		if s.err != nil || s.at >= len(s.text) {
			return 0, 0, io.EOF
		}
	}
	return s.next()
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

func compilePattern(text string) (*regexp.Regexp, error) {
	if len(text) > longestPattern {
		return nil, fmt.Errorf("a regular expression has %d bytes, the most is %d", len(text), longestPattern)
	}
	return patterns.Compile(text)
}

// errUndecided ends a condition that is not decided in time.
var errUndecided = errors.New("it is not decided within its bounds of time, steps and memory")
