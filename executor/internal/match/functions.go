package match

import (
	"fmt"
	"strings"
)

// functions are ours, by the names that conditions call them by.
func (in *Input) functions() map[string]function {
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
				err = in.meter.make(len(s))
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
			if err := in.meter.long(len(a)); err != nil {
				return nil, err
			}
			return do(a, b)
		}
	}
	return map[string]function{
		callStep:    func(...any) (any, error) { return true, in.meter.step(1) },
		callEqual:   func(a ...any) (any, error) { return in.meter.equal(a[0], a[1]) },
		callIn:      func(a ...any) (any, error) { return in.meter.in(a[0], a[1]) },
		callPlus:    func(a ...any) (any, error) { return in.meter.plus(a[0], a[1]) },
		callMatches: func(a ...any) (any, error) { return in.meter.matches(a[0], a[1]) },
		"lower":     onText(strings.ToLower),
		"upper":     onText(strings.ToUpper),
		"trim": texts(longestPattern, func(s, set string) (any, error) {
			if set == "" {
				return strings.TrimSpace(s), nil
			}
			if err := in.meter.step(len(s) >> 12 * len(set)); err != nil {
				return nil, err
			}
			return strings.Trim(s, set), nil
		}),
		"split": texts(1<<30, func(s, by string) (any, error) {
			parts := len(s) + 1
			if by != "" {
				parts = strings.Count(s, by) + 1
			}
			if err := in.meter.make(16 * parts); err != nil {
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
			if err := in.meter.make(16 * len(object)); err != nil {
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
